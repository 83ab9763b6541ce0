"""`bead drain` and `bead drafts` for a person; inside an agent nothing is shown, decided or emptied."""

import socket
from pathlib import Path

import pytest

from tests.unit.cli.desk import Desk, write_runtime
from tests.unit.cli.drain.world import World

AGENT = {"CLAUDECODE": "1"}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path).fill()


def environ(world: World, **more: str) -> dict[str, str]:
    return {"HOME": str(world.root), **more}


def test_drain_says_what_became_of_every_file(desk: Desk, world: World) -> None:
    document = desk.json("drain", environ=environ(world))

    assert document["counts"] == {"created": 5, "tagged": 1, "unchanged": 1}
    assert {each["state"] for each in document["files"]} == {"read"}
    assert {note["cli"] for note in document["notes"]} >= {"opencode", "copilot"}
    assert "7 memories: 7 unchanged\n" in desk.bead("drain", "--truncate", environ=environ(world)).out
    assert (world.claude / "MEMORY.md").read_bytes() == b""


def test_one_agent_and_a_dry_run(desk: Desk, world: World) -> None:
    document = desk.json("drain", "--cli", "gemini", "--dry-run", environ=environ(world))
    assert [(each["cli"], each["memories"]) for each in document["files"]] == [("gemini", 2)]
    assert desk.json("drafts")["drafts"] == []


def test_legacy_drafts_are_nobodys_own(desk: Desk, world: World) -> None:
    desk.json("drain", "--legacy", "--cli", "claude", environ=environ(world, CLAUDE_CONFIG_DIR="/nowhere"))
    drafts = desk.json("drafts")["drafts"]
    assert len(drafts) == 3
    assert {draft["agent"] for draft in drafts} == {"shared"}


def test_a_store_that_does_not_answer_is_exit_code_three(desk: Desk, world: World) -> None:
    write_runtime(desk.home, dict.fromkeys(("curate", "store", "proxy"), free_port()))
    assert desk.bead("drain", "--truncate", environ=environ(world)).code == 3
    assert (world.claude / "MEMORY.md").read_bytes() != b""


@pytest.mark.parametrize("options", [(), ("--truncate",), ("--legacy",), ("--cli", "claude")])
def test_an_agent_drains_nothing_that_is_not_turned_on(desk: Desk, world: World, options: tuple[str, ...]) -> None:
    assert desk.bead("drain", *options, environ=environ(world, **AGENT)).code == 1
    assert desk.json("drafts")["drafts"] == []


def test_an_agent_may_drain_what_is_turned_on_and_empty_nothing(desk: Desk, world: World) -> None:
    on = environ(world, BEAD_DRAIN__ENABLED__CLAUDE="true", **AGENT)
    assert desk.bead("drain", "--truncate", environ=on).code == 1
    assert {each["cli"] for each in desk.json("drain", environ=on)["files"]} == {"claude"}


@pytest.mark.parametrize("action", [(), ("list",), ("approve", "0"), ("edit", "0", "--text", "x"), ("discard", "0")])
def test_inside_an_agent_no_draft_is_shown_or_decided(desk: Desk, world: World, action: tuple[str, ...]) -> None:
    desk.json("drain", environ=environ(world))
    done = desk.bead("drafts", *action, environ=AGENT)
    assert (done.code, "engineer" in done.out + done.err) == (1, False)


def test_a_person_lists_edits_approves_and_discards(desk: Desk, world: World) -> None:
    desk.json("drain", environ=environ(world))
    listed = desk.bead("drafts").out
    assert listed.index("user/tabs") < listed.index("codex"), "what two agents wrote comes first"
    by_body = {draft["body"]: draft["id"] for draft in desk.json("drafts")["drafts"]}

    assert desk.json("drafts", "edit", by_body["codex says"], "--text", "Codex says hello.")["decision"] == "edited"
    approved = desk.json("drafts", "approve", by_body["codex says"][:20])
    assert desk.json("recall", approved["key"])["body"] == "Codex says hello."
    assert desk.json("drafts", "discard", by_body["tabs"])["decision"] == "discarded"
    assert desk.bead("drafts", "discard", by_body["tabs"]).code == 1
    assert desk.json("drain", environ=environ(world))["counts"]["decided"] == 4


@pytest.mark.parametrize("argv", [("approve",), ("edit", "a", "b"), ("list", "a"), ("discard", "a", "--text", "x")])
def test_what_makes_no_sense_is_a_usage_error(desk: Desk, argv: tuple[str, ...]) -> None:
    assert desk.bead("drafts", *argv).code == 2


def test_edit_takes_what_the_persons_editor_leaves(desk: Desk, world: World, tmp_path: Path) -> None:
    desk.json("drain", "--cli", "codex", environ=environ(world))
    (draft,) = desk.json("drafts")["drafts"]
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/says/shouts/ "$1"\n')
    editor.chmod(0o700)
    assert desk.bead("drafts", "edit", draft["id"], environ={"EDITOR": str(editor)}).code == 0
    assert [each["body"] for each in desk.json("drafts")["drafts"]] == ["codex shouts"]
    assert desk.bead("drafts", "edit", draft["id"]).code == 2
