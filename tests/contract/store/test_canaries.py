"""Canaries through every way in, forgotten by a process that is killed on the way: no byte is left, none comes back.

Ten of them here; BEAD_CANARIES asks for more. The positive control is the last test: what a left-out step leaves is
seen by the same scan (I5, I6, I7; field cases B16 and B24).
"""

import json
import os
import random
import shutil
from pathlib import Path

import pytest

from bead.bus.transport import InProcessTransport
from bead.clients.index import IndexClient
from bead.conversations import Block, BlockKind
from bead.errors import Tombstoned
from bead.facts import Trust
from bead.home import Home
from bead.settings import IndexSettings
from bead.turns import Role
from bead.wire.forget import ConfirmSelected, SelectForget
from bead.wire.store import AppendTurn, CommitBlocks, ConfirmForget, ForgetKeys, WriteFact
from bead_cli.verifying import verify
from bead_index.app import create_service
from bead_store.app import Store
from bead_store.copies import Copies
from bead_store.disk import Disk
from tests.contract.store.crashes import end_at, living
from tests.contract.store.opening import opened

CANARIES = int(os.environ.get("BEAD_CANARIES", "10"))
KEY, NEIGHBOUR = "user/secret-place", "user/secret-place/spare"
AT = "2026-11-05T09:12:00Z"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def canary(number: int) -> str:
    dice = random.Random(number)
    word = "".join(dice.choices(_LETTERS, k=12))
    return f'{word} größe "{dice.randrange(10**6):06}" {"".join(dice.choices(_LETTERS, k=11))}'


def say(store: Store, text: str, turn_id: str, role: Role = Role.USER, session: str = "s") -> str:
    return store.raw.append(AppendTurn(session=session, turn_id=turn_id, role=role, text=text, at=AT)).source


async def fill(home: Home, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The value goes in by every way there is."""
    async with living(home, monkeypatch) as store:
        source = say(store, f"remember that it lies behind {value}", "user")
        say(store, f"The tool said: {value.upper()}", "reply", Role.ASSISTANT)
        say(store, "[tool x]\n" + json.dumps({"out": f"a\n{value}"}) + "\n[end of tool text]", "tool")
        say(store, "the weather is fine", "other")
        store.facts.write(WriteFact(body="It lies somewhere.", key=KEY, trust=Trust.USER_STATED))
        written = store.facts.write(
            WriteFact(body=f"It lies behind {value}", key=KEY, trust=Trust.USER_STATED, sources=(source,))
        )
        store.facts.write(WriteFact(body="The spare one lies elsewhere.", key=NEIGHBOUR, trust=Trust.USER_STATED))
        store.facts.write(WriteFact(body=f"An agent says: {value}", key=KEY))
        block = Block("p1", BlockKind.PINNED, f"- {value}", (written.uid,))
        store.conversations.commit(
            CommitBlocks(conversation="s-t", generation=0, owner="me", project="shop", blocks=(block,))
        )
        store.disk.sync_appended()
    for name, text in (
        ("drafts/d.md", f"---\nid: d\n---\n{value}\n"),
        ("episodes/2026/11/05/e.md", f"---\nid: e\nsources: [{source}]\n---\nabout {value}\n"),
        ("reports/2026-11-30.md", f"- 1 fact\n- {value}\n"),
        ("spool/failed.jsonl", json.dumps({"error": f"cannot file {value}", "n": 1}) + "\n"),
        ("dream/state.json", json.dumps({"last": value, "offset": 7})),
    ):
        path = home.root / "store" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (home.root / "serve.log").write_text(f"error: {value}\n")
    export = home.root.parent / f"{home.root.name}-export.jsonl"
    export.write_text(json.dumps({"body": value}) + "\n")
    Copies(home.copies, Disk()).note("export", export)


async def by_text(store: Store, value: str) -> None:
    preview = await store.forgetting.preview_selected(SelectForget(match=value))
    await store.forgetting.forget_selected(ConfirmSelected(match=value, confirm=preview.confirm or ""))


def found(home: Home, value: str) -> list[str]:
    """Every file, of the home and of its export, that holds the value or one of its made-up words."""
    words = (value, value.split()[0], value.split()[-1])
    seen = [verify(home.root, word, lambda done, total: None) for word in words]
    export = home.root.parent / f"{home.root.name}-export.jsonl"
    left = [str(export)] if value.split()[0] in export.read_text() else []
    return sorted({trace.path for each in seen for trace in each.traces} | set(left))


async def index_it(home: Home, resent: str = "") -> None:
    """Index the home anew, and let a harness send its old history once more."""
    async with opened(home) as store:
        service = create_service(IndexSettings(), home, store.client, "home-1")
        async with service.running():
            index = IndexClient(InProcessTransport("index", service.app))
            for number, session in enumerate(("s", "fork") if resent else ()):
                turn = AppendTurn(session=session, turn_id=f"again-{number}", role=Role.USER, text=resent, at=AT)
                await store.client.append_turn(turn)
            assert await index.applied((await store.client.manifest()).seq, 10.0)
            await index.rebuild()


@pytest.mark.parametrize("number", range(CANARIES))
async def test_canary_is_gone_after_a_kill_a_restart_a_rebuild_and_old_history(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, value = Home(tmp_path / "home"), canary(number)
    await fill(home, value, monkeypatch)
    await index_it(home)
    assert len(found(home, value)) >= 9, "the scan finds what is there"
    steps = 90 * number // max(1, CANARIES - 1) + 3

    await end_at(steps, home, lambda store: by_text(store, value), monkeypatch)
    async with living(home, monkeypatch) as store:
        if store.catalogue.refresh(KEY):  # killed before it was written down
            await by_text(store, value)
        with pytest.raises(Tombstoned):
            store.facts.write(WriteFact(body=value, key="user/again"))
        assert store.catalogue.current(NEIGHBOUR).body == "The spare one lies elsewhere."
        assert store.raw.read("s").turns[3].text == "the weather is fine"
    await index_it(home, f"remember that it lies behind {value}")

    assert found(home, value) == []


async def test_forget_by_text_ended_at_any_call_is_finished_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value, filled = canary(99), Home(tmp_path / "filled")
    await fill(filled, value, monkeypatch)

    def copy(number: int) -> Home:
        shutil.copytree(filled.root, tmp_path / f"home-{number}")
        shutil.copy(tmp_path / "filled-export.jsonl", tmp_path / f"home-{number}-export.jsonl")
        (tmp_path / f"home-{number}" / "store" / "copies.json").unlink()
        Copies(Home(tmp_path / f"home-{number}").copies, Disk()).note(
            "export", tmp_path / f"home-{number}-export.jsonl"
        )
        return Home(tmp_path / f"home-{number}")

    total = await end_at(None, copy(0), lambda store: by_text(store, value), monkeypatch)
    assert total > 60
    for last in range(0, total, 3):
        home = copy(last + 1)
        await end_at(last, home, lambda store: by_text(store, value), monkeypatch)
        has_begun = bool(list(home.intents.glob("*.json")))
        async with living(home, monkeypatch) as store:
            is_there = store.catalogue.refresh(KEY) is not None
            assert store.intents.open == {}
            assert list(home.intents.rglob("*")) == []
        if has_begun or not is_there:
            assert found(home, value) == []
        shutil.rmtree(home.root)


async def test_forget_by_key_leaves_nothing_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, value = Home(tmp_path / "home"), canary(7)
    async with living(home, monkeypatch) as store:
        say(store, f"note: {value}", "user")
        store.facts.write(WriteFact(body=value, key=KEY, trust=Trust.USER_STATED))
        preview = await store.forgetting.preview(ForgetKeys(keys=(KEY,)))
        await store.forgetting.forget(ConfirmForget(keys=(KEY,), confirm=preview.confirm or ""))
        say(store, f"note: {value}", "user", session="fork")
        store.disk.sync_appended()
        assert store.raw.read("fork").turns[0].text == "[forgotten]"

    (home.root.parent / "home-export.jsonl").write_text("")
    assert found(home, value) == []


@pytest.mark.parametrize(
    "left_out",
    ["_redact_turns", "_drop_blocks", "_drop_documents", "_drop_elsewhere", "_drop_copies", "_destroy", "_take_files"],
)
async def test_scan_sees_what_a_left_out_step_leaves(
    left_out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, value = Home(tmp_path / "home"), canary(50)
    await fill(home, value, monkeypatch)
    async with living(home, monkeypatch) as store:

        async def nothing(*_: object) -> None:
            return None

        is_async = left_out in ("_redact_turns", "_drop_blocks", "_drop_elsewhere")
        monkeypatch.setattr(store.forgetting.steps, left_out, nothing if is_async else lambda *_: None)
        await by_text(store, value)

    assert found(home, value) != []
