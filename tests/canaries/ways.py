"""Every way in which a text comes into a home, as an agent, a person or another program goes it."""

import json
import random
from collections.abc import Callable, Mapping
from functools import partial

from tests.canaries.world import World
from tests.unit.proxy.protocols.talk import SPOKEN, Called, Said, Talk

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
Way = Callable[[World, str], object]


def canary(number: int) -> str:
    """A text whose first and last words appear nowhere else, with what software spells in many ways."""
    dice = random.Random(f"canary {number}")
    first, last = ("".join(dice.choices(_LETTERS, k=count)) for count in (12, 11))
    return f'{first} größe "{dice.randrange(10**6):06}" {last}'


def words(value: str) -> tuple[str, str]:
    """The made-up ones."""
    first, *_, last = value.split()
    return first, last


def _slug(value: str) -> str:
    return words(value)[1]


def _said(protocol: str, place: World, value: str) -> None:
    place.say(f"the spare part number is {value}", f"say-{protocol}", protocol=protocol)


def _wished(place: World, value: str) -> None:
    place.say(f"remember that the wished part is {value}", "wished")


def _tool_result(place: World, value: str) -> None:
    steps = (Said("look it up"), Called("c1", "look", {"path": "a.txt"}, json.dumps({"out": f"line\n{value}"})))
    place.send(Talk(steps), "tool-result")


def _tool_input(place: World, value: str) -> None:
    """The model calls a tool with it."""
    call = f"[[call! note {json.dumps({'text': value}, ensure_ascii=False)}]]"
    place.say(f"TURN:call {call} note it", "tool-input")


def _written(place: World, value: str) -> None:
    place.json("write", "user/written", f"It is {value}")


def _superseded(place: World, value: str) -> None:
    place.json("write", "user/superseded", f"It was {value}")
    place.json("write", "user/superseded", "It is something else.")


def _named_by_itself(place: World, value: str) -> None:
    place.json("remember", value)


def _injected(place: World, value: str) -> None:
    """In a conversation's blocks, in the note of its use, and in what a hook told."""
    place.json("write", "user/injected", f"They want it {value}")
    place.json("pin", "user/injected")
    place.json("search", words(value)[0])
    place.say("what do they want?", "injected")
    place.hook("session-start", {"session_id": "injected-hook"})


def _queued(place: World, value: str) -> None:
    place.json("write", "user/queued", "It is mine.")
    place.bead("write", "user/queued", f"No, it is {value}", CLAUDECODE="1")


def _imported(place: World, value: str) -> None:
    file = place.project / "facts.jsonl"
    file.write_text(json.dumps({"_type": "memory", "key": "user/imported", "value": f"It says {value}"}) + "\n")
    place.json("import", str(file))
    file.unlink()


def _imported_notes(place: World, value: str) -> None:
    file = place.project / "CLAUDE.md"
    file.write_text(f"# Notes\n\n- always call it {value}\n")
    place.json("import", "--from", "claude-md", str(file), "--yes")
    file.unlink()


def _drained(approve: bool, place: World, value: str) -> None:
    folder = place.machine.root / ".claude" / "projects" / "-shop" / "memory"
    folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    for each in (folder, *list(folder.parents)[:3]):
        each.chmod(0o700)
    (folder / "MEMORY.md").write_text(f"- the drained part is {value}\n")
    place.json("drain", "--cli", "claude")
    (folder / "MEMORY.md").unlink()
    if approve:
        (draft,) = (each for each in place.json("drafts")["drafts"] if value in each["body"])
        place.json("drafts", "approve", draft["id"])


def _by_hand(place: World, value: str) -> None:
    place.json("write", "user/by-hand", "It is a typo.")
    file = place.machine.home / "store" / "facts" / "user" / "by-hand" / "v1.md"
    edited = file.read_text().replace("It is a typo.", f"It is right: {value}")
    file.write_text(edited)
    place.until(lambda: place.json("recall", "user/by-hand")["body"].startswith("It is right"))


def _episode(place: World, value: str) -> None:
    place.store("POST", "/v1/episodes", {"session": "past", "situation": "a riddle", "lesson": f"it was {value}"})


def _refused(place: World, value: str) -> None:
    """On the way of errors: wrong key, unknown routes, odd bodies; and in a fact, for the control."""
    place.json("write", "user/refused", value)
    place.machine.run("write", f"nowhere//{value}", value)
    place.store("POST", f"/v1/{words(value)[0]}", {"x": value})
    place.store("POST", "/v1/facts", {"body": value, "key": 7, value: value})
    place.raw_request(json.dumps({"model": value, "messages": value}).encode(), target=f"/v1/{words(value)[0]}")


def _exported(place: World, value: str) -> None:
    place.json("write", "user/exported", f"It goes out: {value}")
    place.json("export", str(place.project / "out.jsonl"))
    place.json("export", "--okf", str(place.project / "okf"))
    (place.project / "AGENTS.md").write_text("# Mine\n")
    place.json("export", "--claude-md", str(place.project / "AGENTS.md"))


def _dreamt(place: World, value: str) -> None:
    """The night finds it in what the person has said."""
    place.say(f"I always use {value} for parts. We never use anything else.", "dreamt")
    place.json("dream", "run")


def _prompted(place: World, value: str) -> None:
    place.json("write", "user/prompted", f"The way in is {value}")
    place.hook("user-prompt", {"session_id": "prompted", "prompt": f"where is {value}?"})


def _looked_for(place: World, value: str) -> None:
    place.json("write", "user/looked-for", f"Here is {value}")
    place.json("search", value)
    place.mcp_http("recall", {"query": value})


WAYS: Mapping[str, Way] = {
    **{f"said through the proxy, {spoken.name}": partial(_said, spoken.name) for spoken in SPOKEN},
    "wished": _wished,
    "result of a tool": _tool_result,
    "input of a tool": _tool_input,
    "written": _written,
    "superseded": _superseded,
    "named by its own words": _named_by_itself,
    "injected": _injected,
    "tool": lambda place, value: place.mcp("remember", {"text": f"The tool keeps {value}", "key": "user/tool"}),
    "tool over HTTP": lambda place, value: place.mcp_http("remember", {"text": f"HTTP: {value}", "key": "user/http"}),
    "tool for curating": lambda place, value: place.mcp_http(
        "remember", {"text": f"I say {value}", "key": "user/curated"}, is_admin=True
    ),
    "memories API": lambda place, value: place.curate(
        "POST", "/v0/beads/memories", {"value": f"The API keeps {value}", "key": "user/api"}, "memories"
    ),
    "queued": _queued,
    "imported": _imported,
    "imported notes": _imported_notes,
    "draft": partial(_drained, False),
    "approved draft": partial(_drained, True),
    "by hand": _by_hand,
    "episode": _episode,
    "errors": _refused,
    "exported": _exported,
    "dreamt": _dreamt,
    "prompted": _prompted,
    "looked for": _looked_for,
    "card": lambda place, value: place.mcp_http(
        "remember", {"text": "It has a card.", "key": "user/card", "when": {"say": [f"what about {value}"]}}
    ),
    "name of a project": lambda place, value: place.json("write", f"project/{_slug(value)}/part", f"It is {value}"),
}  # fmt: skip
