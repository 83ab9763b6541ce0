"""A draft is a person's to decide: nothing that a model hears knows it before."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.canaries.world import AGENTS, World, world
from tests.unit.proxy.protocols.talk import SPOKEN

pytestmark = pytest.mark.e2e

DRAFT = "the zanzibar cluster is reached through port 48151"
KNOWN = "the madagascar cluster is reached through port 16234"
ASKED = "how is the zanzibar cluster reached, and the madagascar cluster? through which port?"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as found:
        folder = found.machine.root / ".claude" / "projects" / "-shop" / "memory"
        folder.mkdir(parents=True, mode=0o700)
        for each in (folder, *list(folder.parents)[:3]):
            each.chmod(0o700)
        (folder / "MEMORY.md").write_text(f"- {DRAFT}\n")
        yield found


def ways(place: World) -> dict[str, Callable[[], str]]:
    """Everything that a model or its agent may ask."""
    query = {"query": ASKED, "limit": 50}
    found: dict[str, Callable[[], str]] = {}
    for spoken in SPOKEN:
        found[f"proxy, {spoken.name}"] = partial(place.say, ASKED, f"s-{spoken.name}", protocol=spoken.name)
    found["tool, recall"] = lambda: place.mcp("recall", query)
    found["tool over HTTP, recall"] = lambda: place.mcp_http("recall", query)
    found["tool for curating, search"] = lambda: place.mcp("search", query, is_admin=True)
    found["tool for curating over HTTP, search"] = lambda: place.mcp_http("search", query, is_admin=True)
    found["bead prime"] = lambda: place.bead("prime")
    for cli in AGENTS:
        found[f"session start, {cli}"] = partial(place.hook, "session-start", {"session_id": f"h-{cli}"}, cli)
    prompt = {"session_id": "hooked", "prompt": ASKED}
    found["prompt hook"] = lambda: place.hook("user-prompt", prompt)
    found["prompt hook, Gemini"] = lambda: place.hook("before-agent", {**prompt, "session_id": "g"}, "gemini")
    found["memories API"] = lambda: place.curate("GET", "/v0/beads/memories", None, "memories")
    found["export"] = lambda: place.bead("export")
    found["bead search, typed by an agent"] = lambda: place.bead("search", ASKED, "--json", CLAUDECODE="1")
    found["bead memories, typed by an agent"] = lambda: place.bead("memories", "--all", CLAUDECODE="1")
    return found


def silent(place: World) -> dict[str, Callable[[], str]]:
    """What says nothing of facts at all: nor of drafts."""
    return {
        "review queue": lambda: place.mcp("review_queue", {}, is_admin=True),
        "summary": lambda: place.mcp("summary", {}, is_admin=True),
        "session end": lambda: place.hook("session-end", {"session_id": "hooked"}),
        "tool hook": lambda: place.hook("post-tool-use", {"tool_input": {"file_path": "/x/MEMORY.md"}}),
        "drafts, typed by an agent": lambda: place.machine.run("drafts", CLAUDECODE="1").stdout,
        "memories API with the wrong key": lambda: place.curate("GET", "/v1/drafts", None, "memories"),
    }


def test_no_answer_to_a_model_knows_a_draft(
    place: World,
) -> None:
    place.up()
    place.json("remember", KNOWN, "--key", "user/madagascar")
    assert place.json("drain")["counts"] == {"created": 1}
    (draft,) = place.json("drafts")["drafts"]
    assert draft["body"] == DRAFT
    place.json("search", "madagascar")  # returns once the index has all

    said = {name: ask() for name, ask in (ways(place) | silent(place)).items()}
    assert [name for name, text in said.items() if "zanzibar cluster is" in text or "48151" in text] == []
    assert [name for name in ways(place) if "16234" not in said[name]] == [], "the control: each of them tells facts"
