"""What a drain makes of a home: every memory handed over, files emptied whole or not at all, a crash loses nothing."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from bead.errors import Refused, ServiceDown
from bead.wire.drafts import CLIS
from bead_cli.drain import places, safely
from bead_cli.drain.draining import State
from tests.unit.cli.drain.world import CRLF, GEMINI, ROLE, World

EVERYTHING = {
    "one \U0001f680\n- below",
    "## Build\n```\n- no bullet\n```",
    ROLE.strip(),
    "tabs",
    "codex says",
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path).fill()


def texts(world: World) -> dict[str, str]:
    return {
        path.relative_to(world.root).as_posix(): path.read_bytes().decode()
        for path in world.root.rglob("*")
        if path.is_file()
    }


def test_every_memory_of_every_agent_is_handed_over_and_no_file_changes(world: World) -> None:
    before = texts(world)

    report = world.drain()

    assert world.kept.bodies == EVERYTHING
    assert {each.state for each in report.files} == {State.READ}
    assert texts(world) == before


def test_tags_say_who_and_the_project_is_known_where_it_is_certain(world: World) -> None:
    world.drain()

    said = {new.body.split("\n")[0]: (new.project, set(new.tags)) for new in world.kept.drafts.values()}
    assert said["one \U0001f680"] == ("shop", {"cli-memory", "agent:claude", "cli:claude"})
    assert said["codex says"] == (None, {"cli-memory", "agent:codex", "cli:codex"})
    (tabs,) = [hash for hash, new in world.kept.drafts.items() if new.body == "tabs"]
    assert {"agent:gemini", "agent:qwen"} <= world.kept.tags[tabs]


def test_truncate_empties_what_is_settled_and_keeps_the_persons_text(world: World) -> None:
    report = world.drain(truncate=True)

    assert {each.state for each in report.files} == {State.EMPTIED}
    left = texts(world)
    assert left[".gemini/GEMINI.md"] == "# Mine\n- rule\n\n## Later\n- keep\n"
    assert left[".codex/memories/raw_memories.md"] == "raw\n"
    memory = (world.claude / "MEMORY.md").relative_to(world.root).as_posix()
    assert {path: text for path, text in left.items() if text} == {
        ".gemini/GEMINI.md": left[".gemini/GEMINI.md"],
        ".codex/memories/raw_memories.md": "raw\n",
    }
    assert left[memory] == ""
    assert not (world.claude / "role.md").exists()
    assert world.drain(truncate=True).counts() == {}


def test_one_refused_memory_keeps_its_file_and_the_line_that_leads_to_it(world: World) -> None:
    world.kept.trouble = {3: Refused("no")}

    report = world.drain("claude", truncate=True)

    assert [(Path(each.path).name, each.state) for each in report.files] == [
        ("MEMORY.md", State.EMPTIED),
        ("role.md", State.KEPT),
    ]
    assert (world.claude / "role.md").read_text() == ROLE
    assert (world.claude / "MEMORY.md").read_bytes().decode() == "- [Role](role.md) — who\r\n"
    world.kept.trouble = {}
    assert {each.state for each in world.drain("claude", truncate=True).files} == {State.EMPTIED}
    assert (world.claude / "MEMORY.md").read_bytes() == b""


def test_an_index_that_stays_keeps_what_it_leads_to(world: World) -> None:
    world.kept.trouble = {1: Refused("no")}

    report = world.drain("claude", truncate=True)

    assert [each.state for each in report.files] == [State.KEPT, State.KEPT]
    assert (world.claude / "role.md").read_text() == ROLE
    assert (world.claude / "MEMORY.md").read_bytes() == CRLF.encode()


@pytest.mark.parametrize("number", range(1, 8))
def test_a_store_that_goes_away_leaves_every_file_of_which_a_memory_is_missing(world: World, number: int) -> None:
    world.kept.trouble = {each: ServiceDown("gone") for each in range(number, 100)}

    report = world.drain(truncate=True)

    assert report.trouble == "gone"
    world.kept.trouble = {}
    assert world.drain(truncate=True).trouble == ""
    assert world.kept.bodies == EVERYTHING


def test_a_memory_of_ten_kilobytes_keeps_its_file(world: World) -> None:
    world.put(world.claude / "MEMORY.md", "- " + "x" * 10_000 + "\n")

    report = world.drain("claude", truncate=True)

    assert [each.state for each in report.files] == [State.KEPT, State.KEPT]
    assert (world.claude / "MEMORY.md").stat().st_size == 10_003


def test_a_dry_run_asks_nobody(world: World) -> None:
    report = world.drain(dry_run=True, truncate=True)

    assert world.kept.calls == 0
    assert sum(each.memories for each in report.files) == 7


def test_a_gemini_file_without_the_section_is_told_and_left(world: World) -> None:
    path = world.put(".gemini/GEMINI.md", "# Global memory\n- short answers\n")

    report = world.drain("gemini", truncate=True)

    assert [(note.cli, "no section" in note.reason) for note in report.notes] == [("gemini", True)]
    assert (report.files, path.read_text()) == ((), "# Global memory\n- short answers\n")


def test_agents_without_memories_on_disk_are_told(world: World) -> None:
    report = world.drain("opencode", "copilot")
    assert [note.cli for note in report.notes] == ["opencode", "copilot"]


def test_places_that_settings_name_are_drained_too(world: World) -> None:
    world.put(".claude/settings.json", '{"autoMemoryDirectory": "~/elsewhere"}')
    world.put("elsewhere/MEMORY.md", "- from elsewhere\n")
    assert "from elsewhere" in {new.body for new in world.drain("claude") and world.kept.drafts.values()}

    world.put("other/projects/-x/memory/MEMORY.md", "- from another folder\n")
    world.environ = {"CLAUDE_CONFIG_DIR": str(world.root / "other")}
    world.kept.drafts.clear()
    world.drain("claude")
    assert world.kept.bodies == {"from another folder"}
    world.kept.drafts.clear()
    world.drain("claude", usual=True, agent="shared")
    assert "from another folder" not in world.kept.bodies
    assert all("agent:shared" in new.tags for new in world.kept.drafts.values())


def test_a_slug_that_two_directories_have_is_nobodys(world: World) -> None:
    (world.root / "a-b").mkdir()
    (world.root / "a" / "b").mkdir(parents=True)
    slug = places.slug_of(str(world.root / "a-b"))
    world.put(f".claude/projects/{slug}/memory/MEMORY.md", "- whose?\n")
    world.drain("claude")
    assert [new.project for new in world.kept.drafts.values() if new.body == "whose?"] == [None]

    world.put(f".claude/projects/{slug}/s.jsonl", '{"cwd":' + f'"{world.root / "a" / "b"}"' + "}\n")
    world.kept.drafts.clear()
    world.drain("claude")
    assert [new.project for new in world.kept.drafts.values() if new.body == "whose?"] == ["b"]


def test_a_store_that_is_linked_in_is_not_drained(world: World, tmp_path: Path) -> None:
    other = World(tmp_path / "other")
    other.put("memory/MEMORY.md", "- somebody's\n")
    (world.root / ".claude" / "projects" / "-linked").symlink_to(other.root)
    (world.root / ".claude" / "projects" / "-x").mkdir()
    (world.root / ".claude" / "projects" / "-x" / "memory").symlink_to(other.root / "memory")

    report = world.drain("claude", truncate=True)

    assert "somebody's" not in world.kept.bodies
    assert (other.root / "memory" / "MEMORY.md").read_text() == "- somebody's\n"
    assert any("link" in note.reason for note in report.notes)


class Ended(BaseException):
    """The process is gone."""


class EndingOs:
    """`os` until the n-th call that changes something; then the process is gone, and touches nothing any more."""

    def __init__(self, last: int | None) -> None:
        self.last, self.calls = last, 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(os, name)
        if name not in ("ftruncate", "rename", "unlink", "link", "fsync", "fchmod"):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            if self.last is not None and self.calls >= self.last:
                raise Ended
            self.calls += 1
            return found(*args, **kwargs)

        return call


def test_a_drain_ended_at_any_call_loses_no_memory_and_no_line_of_the_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end_at(last: int | None, world: World) -> int:
        ending = EndingOs(last)
        with monkeypatch.context() as patch:
            patch.setattr(safely, "os", ending)
            try:
                world.drain(truncate=True)
            except Ended:
                pass
        return ending.calls

    for number in range(end_at(None, World(tmp_path / "whole").fill())):
        world = World(tmp_path / str(number)).fill()
        end_at(number, world)
        assert world.drain(truncate=True).trouble == ""
        assert world.kept.bodies == EVERYTHING, number
        text = (world.root / ".gemini" / "GEMINI.md").read_text()
        assert text == "# Mine\n- rule\n\n## Later\n- keep\n", number
        assert (world.claude / "MEMORY.md").read_bytes() == b""


def test_two_drains_at_once_lose_nothing(world: World) -> None:
    gate = threading.Barrier(2)

    def run() -> None:
        gate.wait(5)
        world.drain(truncate=True)

    both = [threading.Thread(target=run) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join(10)
    world.drain(truncate=True)
    assert world.kept.bodies == EVERYTHING
    assert (world.root / ".gemini" / "GEMINI.md").read_text() == GEMINI.replace(
        "## Gemini Added Memories\n- tabs\n- tabs\n\n", ""
    )


def test_every_agent_of_the_contract_has_a_place() -> None:
    assert set(CLIS) == set(places._FINDERS)
