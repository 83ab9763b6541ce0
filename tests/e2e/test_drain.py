"""The real Claude Code keeps memories of its own: they become drafts, and only what a person approves comes back."""

import json
import time
from pathlib import Path

import pytest

from bead_cli.drain.places import slug_of
from bead_cli.drain.seeding import drain_hooks, seeded
from tests.e2e.conftest import BEAD, Desk, sent_blocks

pytestmark = [pytest.mark.e2e, pytest.mark.harness]

APPROVED = "we ship with `make walrus-ship` and never from a laptop"
DISCARDED = "the quokka server is rebooted at noon"
ROLE = "---\nname: role\ndescription: who the user is\nmetadata:\n  type: user\n---\n\nThe user breeds axolotls.\n"
INDEX = f"- [Role](role.md) — who the user is\n- {APPROVED}\n- {DISCARDED}\n  - nested, with emoji \U0001f980\n"
LIMIT_S = 20.0


def memory_folder(desk: Desk) -> Path:
    return desk.seat.home / ".claude" / "projects" / slug_of(str(desk.seat.project)) / "memory"


def let_claude_write(desk: Desk, turn: str, **files: str) -> None:
    """Claude Code writes its memory files, with its own tool, because its model says so."""
    memory_folder(desk).mkdir(parents=True, exist_ok=True, mode=0o700)
    calls = [
        f"[[call Write {json.dumps({'file_path': str(memory_folder(desk) / f'{name}.md'), 'content': text})}]]"
        for name, text in files.items()
    ]
    desk.ask(
        f"TURN:{turn} note it {' '.join(calls)}", "--allowedTools", "Write,Read", "--permission-mode", "acceptEdits"
    )


def drafts(desk: Desk) -> list[str]:
    return sorted(draft["body"] for draft in desk.bead("drafts")["drafts"])


def wait_for_drafts(desk: Desk, count: int) -> None:
    until = time.monotonic() + LIMIT_S
    while len(drafts(desk)) != count:
        assert time.monotonic() < until, "the hook's note was not followed"


def test_memories_of_claude_code_become_drafts_and_only_the_approved_one_comes_back(desk: Desk) -> None:
    settings = desk.seat.home / ".claude" / "settings.json"
    settings.parent.mkdir(mode=0o700)
    settings.write_text(json.dumps(seeded({}, drain_hooks(str(BEAD), on_write=False))))
    desk.start_bead(BEAD_DRAIN__ENABLED="true")

    let_claude_write(desk, "write", MEMORY=INDEX, role=ROLE)

    assert (memory_folder(desk) / "MEMORY.md").read_text() == INDEX, "the harness wrote it"
    wait_for_drafts(desk, 3)  # its SessionEnd hook was enough
    assert [body.split("\n")[0] for body in drafts(desk)] == ["The user breeds axolotls.", DISCARDED, APPROVED]

    report = desk.bead("drain", "--truncate")
    assert report["counts"] == {"unchanged": 3}
    assert {each["state"] for each in report["files"]} == {"emptied"}
    assert [path.name for path in memory_folder(desk).iterdir()] == ["MEMORY.md"]
    assert (memory_folder(desk) / "MEMORY.md").read_bytes() == b""

    # Nothing that a model hears knows a draft: a new session, what the command tells an agent, the index.
    before = len(desk.provider.model_requests())
    desk.ask("TURN:ask how do I ship with walrus, the quokka server, and axolotls?")
    sent = b"".join(request.body for request in desk.provider.model_requests()[before:])
    for words in (b"make walrus-ship", b"rebooted at noon", b"breeds axolotls"):
        assert words not in sent
    for command in (("memories", "--all"), ("drafts",)):
        said = desk.run_bead(*command, CLAUDECODE="1")
        assert "make walrus-ship" not in said.stdout + said.stderr

    listed = {draft["body"].split("\n")[0]: draft for draft in desk.bead("drafts")["drafts"]}
    assert {draft["project"] for draft in listed.values()} == {"shop"}
    assert desk.bead("drafts", "approve", listed[APPROVED]["id"])["written"]["verb"] == "created"
    desk.bead("drafts", "discard", listed[DISCARDED]["id"])

    desk.ask("TURN:again how do we ship this?")
    assert any(APPROVED in block.text for block in sent_blocks(desk.provider.model_requests()[-1].json()))

    let_claude_write(desk, "rewrite", MEMORY=INDEX)
    desk.ask("TURN:twice how do we ship this, with walrus?")
    assert desk.provider.model_requests()[-1].body.count(b"make walrus-ship") == 1, (
        "it stands in the harness's own memory, and is told no second time"
    )
    assert desk.bead("drain", "--truncate")["counts"]["decided"] == 2
    assert [body.split("\n")[0] for body in drafts(desk)] == [
        "The user breeds axolotls.",
        "[Role](role.md) — who the user is",
    ]
    facts = {fact["body"] for fact in desk.bead("memories", "--all")["facts"]}
    assert facts == {APPROVED}
