"""Operations of several steps, ended before each of their system calls: the next start leaves all or nothing (I2)."""

import shutil
from pathlib import Path

import pytest

from bead.conversations import Block, BlockKind
from bead.errors import Tombstoned
from bead.facts import Trust
from bead.home import Home
from bead.turns import Role
from bead.wire.store import (
    AppendTurn,
    CommitBlocks,
    ConfirmForget,
    FindConversation,
    ForgetKeys,
    Rekey,
    WriteFact,
)  # fmt: skip
from bead_store.app import Store
from bead_store.intents import Intent, Operation
from bead_store.layout import version_number
from tests.bytescan import traces
from tests.contract.store.crashes import end_at, living

KEY, OTHER, NEW = "user/quetzalcoatlus-deploys", "user/editor", "project/shop/deploy-day"
VALUE = 'Deploys with Xylophonist-Ämter "go" out on Thursdays.'
OLD_VALUE = "Deploys with Wolfsrachen go out on Mondays."
WORDS = ("Xylophonist-Ämter", "Wolfsrachen")
TURNS = [f"we said: {VALUE.upper()}", "the weather is fine", f'[tool x]\n{{"t": "{OLD_VALUE}"}}\n[end of tool text]']
KEPT = Block("p2", BlockKind.RECALL, "kept ✓", ("other",))


@pytest.fixture
async def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home in which the two values are wherever a value can be."""
    home = Home(tmp_path / "filled")
    async with living(home, monkeypatch) as store:
        for number, text in enumerate(TURNS):
            append(store, text, f"t{number}")
        for key, body in ((KEY, OLD_VALUE), (KEY, VALUE), (OTHER, "helix")):
            written = store.facts.write(WriteFact(body=body, key=key, trust=Trust.USER_STATED))
            if key == KEY:
                uid = written.uid
        for key, body in ((KEY, "wait"), (OTHER, f"about {VALUE}"), (OTHER, "emacs")):
            store.facts.write(WriteFact(body=body, key=key))
        gone = Block("p1", BlockKind.PINNED, f"- {VALUE}", (uid,))
        store.conversations.commit(
            CommitBlocks(conversation="s-t", generation=0, owner="me", project="shop", blocks=(gone, KEPT))
        )
        (home.facts / KEY / "v2 2.md").write_text(f"a sync tool's copy: {VALUE}")
        store.disk.sync_appended()
    return home


def append(store: Store, text: str, turn_id: str) -> None:
    store.raw.append(AppendTurn(session="s", turn_id=turn_id, role=Role.USER, text=text, at="2026-11-05T09:12:00Z"))


def copy_of(home: Home, number: int) -> Home:
    shutil.copytree(home.root, home.root.with_name(f"home-{number}"), symlinks=True)
    return Home(home.root.with_name(f"home-{number}"))


def all_marked(home: Home) -> bool:
    """Whether every version but the newest says that it is superseded."""
    folders = {path.parent for path in home.facts.rglob("v*.md")}
    old = [
        path
        for folder in folders
        for path in sorted(path for path in folder.glob("v*.md") if version_number(path.name))[:-1]
    ]
    return all("status: superseded" in path.read_text() for path in old)


async def forget(store: Store) -> None:
    preview = await store.forgetting.preview(ForgetKeys(keys=(KEY,)))
    await store.forgetting.forget(ConfirmForget(keys=(KEY,), confirm=preview.confirm or ""))


def all_traces(home: Home) -> list[str]:
    return [trace for word in WORDS for trace in traces(home.root, word)] + traces(home.root, "quetzalcoatlus")


async def assert_forgotten(home: Home, store: Store) -> None:
    assert all_traces(home) == []
    assert store.catalogue.refresh(KEY) is None
    assert store.intents.open == {}
    assert sorted(path.name for path in home.intents.rglob("*")) == []
    for value in (VALUE, OLD_VALUE):
        with pytest.raises(Tombstoned):
            store.facts.write(WriteFact(body=value, key="user/again"))
    assert [turn.text for turn in store.raw.read("s").turns] == ["[forgotten]", TURNS[1], "[forgotten]"]
    asked = FindConversation(owner="me", project="shop", session="s", thread="t", positions=("p1", "p2"))
    found = store.conversations.find(asked)
    assert (found.blocks, found.generation) == ((KEPT,), 2)
    assert [item.body for item in store.review.items()] == ["emacs"]
    assert store.review.damage() == []
    assert (store.catalogue.current(OTHER).body, store.catalogue.current(OTHER).version) == ("helix", 1)


def assert_untouched(store: Store) -> None:
    assert (store.catalogue.current(KEY).body, store.catalogue.current(KEY).version) == (VALUE, 2)
    assert len(store.catalogue.history(KEY)) == 2
    assert [turn.text for turn in store.raw.read("s").turns] == TURNS
    assert len(store.review.items()) == 3
    store.facts.write(WriteFact(body=VALUE, key="user/again"))


async def test_forget_ended_at_any_call_is_finished_by_the_next_start(
    filled: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    total = await end_at(None, copy_of(filled, 0), forget, monkeypatch)
    finished = 0
    for last in range(total):
        home = copy_of(filled, last + 1)
        assert await end_at(last, home, forget, monkeypatch) == last
        has_begun = bool(list(home.intents.glob("*.json")))
        async with living(home, monkeypatch) as store:
            if has_begun or all_traces(home) == []:
                await assert_forgotten(home, store)
                finished += 1
            else:
                assert_untouched(store)
        shutil.rmtree(home.root)
    assert total > 60
    assert finished > total - 10, "only what comes before the intent may leave it as it was"


async def test_start_that_finishes_a_forget_may_be_ended_at_any_call_too(
    filled: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ended once in the middle, then again in the start that repairs, as on a machine that keeps losing power."""
    total = await end_at(None, copy_of(filled, 0), forget, monkeypatch)
    for first in range(10, total, 7):
        home = copy_of(filled, first)
        await end_at(first, home, forget, monkeypatch)
        for again in range(0, total, 5):
            with monkeypatch.context() as patch:
                await start_and_end_at(again, home, patch)
        async with living(home, monkeypatch) as store:
            await assert_forgotten(home, store)
        shutil.rmtree(home.root)


async def start_and_end_at(last: int, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    from bead_store import disk
    from tests.contract.store.crashes import CrashingOs, Ended

    monkeypatch.setattr(disk, "os", CrashingOs(last))
    try:
        async with living(home, monkeypatch):
            pass
    except (Ended, BaseExceptionGroup):
        pass


async def rekey(store: Store) -> None:
    await store.fact_lane.run(store.rekeying.rekey, Rekey(old=KEY, new=NEW))


async def test_rekey_ended_at_any_call_leaves_the_whole_fact_under_one_of_both_keys(
    filled: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    (filled.facts / KEY / "v2 2.md").unlink()
    total = await end_at(None, copy_of(filled, 0), rekey, monkeypatch)
    keys: list[str] = []
    for last in range(total):
        home = copy_of(filled, last + 1)
        await end_at(last, home, rekey, monkeypatch)
        async with living(home, monkeypatch) as store:
            [key] = [entry.key for entry in store.catalogue.entries() if entry.key != OTHER]
            assert [fact.body for fact in store.catalogue.history(key)] == [OLD_VALUE, VALUE]
            assert sorted({item.key for item in store.review.items()}) == sorted({key, OTHER})
            assert len(store.review.items()) == 3
            assert store.review.damage() == []
            assert store.intents.open == {}
            assert (home.facts / (NEW if key == KEY else KEY)).exists() is False
        keys.append(key)
        shutil.rmtree(home.root)
    assert {KEY, NEW} == set(keys)
    assert keys == sorted(keys, key=(KEY, NEW).index), "once it has moved it stays moved"


@pytest.mark.parametrize("operation", [Operation.ACCEPT, Operation.REJECT])
async def test_decision_ended_at_any_call_is_carried_out_or_still_to_be_made(
    filled: Home, operation: Operation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with living(filled, monkeypatch) as store:
        item = next(item.id for item in store.review.items() if item.body == "emacs")

    async def decide(store: Store) -> None:
        await store.fact_lane.run(store.verdicts.decide, operation, item)

    total = await end_at(None, copy_of(filled, 0), decide, monkeypatch)
    done: list[bool] = []
    for last in range(total):
        home = copy_of(filled, last + 1)
        await end_at(last, home, decide, monkeypatch)
        async with living(home, monkeypatch) as store:
            assert all_marked(home), "a start has nothing left to do when it answers"
            done.append(item not in {each.id for each in store.review.items()})
            accepted = store.catalogue.current(OTHER).body == "emacs"
            rejected = store.tombstones.refuses(OTHER, "emacs")
            assert (accepted, rejected) == (done[-1] and operation is Operation.ACCEPT, done[-1] and not accepted)
            assert store.review.damage() == []
            assert store.intents.open == {}
        shutil.rmtree(home.root)
    assert done == sorted(done) and {True, False} == set(done)


@pytest.mark.parametrize("operation", [Operation.ACCEPT, Operation.REJECT])
@pytest.mark.parametrize("part", [slice(None), slice(0, 40), slice(-3, None), slice(30, 45)])
async def test_item_that_a_power_cut_has_erased_in_part_is_taken_away_and_not_decided_again(
    filled: Home, operation: Operation, part: slice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of a file become zeros in any order."""
    async with living(filled, monkeypatch) as store:
        item = next(item.id for item in store.review.items() if item.body == "emacs")
        store.intents.begin(Intent(operation, item=item))
    path = filled.queue / f"{item}.md"
    data = bytearray(path.read_bytes())
    data[part] = bytes(len(data[part]))
    path.write_bytes(data)

    async with living(filled, monkeypatch) as store:
        assert not path.exists()
        assert (store.review.damage(), store.intents.open) == ([], {})
        assert (store.catalogue.current(OTHER).body, store.catalogue.current(OTHER).version) == ("helix", 1)


@pytest.mark.parametrize("left_out", ["_redact_turns", "_drop_blocks", "_drop_documents", "_destroy", "_take_files"])
async def test_scan_finds_what_a_forget_that_leaves_out_a_step_leaves_behind(
    filled: Home, left_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The positive control: a scan that finds nothing anywhere would let every test above pass."""
    async with living(filled, monkeypatch) as store:
        steps = store.forgetting.steps
        whole = getattr(steps, left_out)

        async def nothing(*_: object) -> None:
            return None

        is_async = left_out in ("_redact_turns", "_drop_blocks")
        monkeypatch.setattr(steps, left_out, nothing if is_async else lambda *_: None)
        assert whole is not getattr(steps, left_out)
        await forget(store)

    assert all_traces(filled) != []
