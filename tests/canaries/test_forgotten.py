"""Texts that came in by every way into a bead that runs, forgotten: no byte of the home holds one, and none comes back.

Ten ways here; BEAD_CANARIES=all (`make canaries`) goes every one. That each text is found before, in every way, is the
control of the scan (I5, I6; field cases B16 and B24).
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from bead_cli.verifying import verify
from tests.canaries.ways import WAYS, canary, words
from tests.canaries.world import World, world
from tests.unit.proxy.protocols.talk import SPOKEN, Answered, Said, Talk

pytestmark = pytest.mark.e2e

_QUICK = (
    "said through the proxy, openai_chat", "wished", "input of a tool", "named by its own words", "injected", "queued",
    "draft", "by hand", "episode", "exported",
)  # fmt: skip
_CHOSEN = tuple(WAYS) if os.environ.get("BEAD_CANARIES") == "all" else _QUICK
TEXTS = {name: canary(number) for number, name in enumerate(WAYS) if name in _CHOSEN}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as found:
        found.up()
        yield found


def traces(place: World, texts: Mapping[str, str] = TEXTS) -> dict[str, list[str]]:
    """By way: every file of the home and of the repository beside it that holds its text or a made-up word of it."""
    found: dict[str, list[str]] = {}
    for name, value in texts.items():
        for folder in (place.machine.home, place.project, place.temporary):
            for word in (value, *words(value)):
                seen = verify(folder, word, lambda done, total: None)
                found.setdefault(name, []).extend(each.path for each in (*seen.traces, *seen.hints))
    return {name: sorted(set(paths)) for name, paths in found.items() if paths}


_KEYS = {"written": "user/written", "superseded": "user/superseded", "by hand": "user/by-hand"}
_SESSIONS = {"input of a tool": "tool-input"}


def forget(place: World, name: str, value: str) -> None:
    """By key, by session, or by text, as a person does."""
    if name in _KEYS:
        receipt = place.json("forget", _KEYS[name], "--yes")
    elif name in _SESSIONS:
        receipt = place.json("forget", "--from-session", _SESSIONS[name], "--yes")
    else:
        preview = place.store("POST", "/v1/forget/select/preview", {"match": value})
        assert preview.get("hits"), f"{name}: {preview}"
        receipt = place.store("POST", "/v1/forget/select", {"match": value, "confirm": preview["confirm"]})
    assert receipt["index"] == "applied", f"{name}: {receipt}"
    assert [left for each in receipt["places"] for left in each["left"]] == [], name


def held_open(place: World) -> list[str]:
    """Files that are gone by name and still open in bead."""
    folder = Path("/proc") / str(place.machine.started[-1].pid) / "fd"
    names = [os.readlink(each) for each in folder.iterdir() if each.is_symlink()]
    return [name for name in names if name.endswith(" (deleted)") and name.startswith(str(place.machine.root))]


def resend(place: World, value: str) -> None:
    """An old conversation goes on, as its agent tells it: in the same session and in one that forks off."""
    for number, spoken in enumerate(SPOKEN):
        talk = Talk((Said(f"the spare part number is {value}"), Answered(f"noted: {value}"), Said("is it raining?")))
        place.send(talk, f"say-{spoken.name}" if number % 2 else f"fork-{spoken.name}", protocol=spoken.name)


def test_no_byte_is_left_of_what_came_in_by_any_way_and_none_comes_back(place: World) -> None:
    for name, value in TEXTS.items():
        WAYS[name](place, value)
    place.json("search", "part")  # returns once the index has all
    assert traces(place).keys() == TEXTS.keys(), "the scan finds what is there"

    for name, value in TEXTS.items():
        forget(place, name, value)
    assert traces(place) == {}
    assert held_open(place) == []

    resend(place, TEXTS[_CHOSEN[0]])
    place.json("dream", "run")
    place.machine.started[-1].kill()
    place.machine.started[-1].wait(30)
    place.up()
    place.json("index", "rebuild")
    place.json("search", "part")
    assert traces(place) == {}
