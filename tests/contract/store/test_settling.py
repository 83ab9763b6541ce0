"""What a store finds of another process it makes durable before it says that it is there (I2, I3)."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bead.errors import WritesStopped
from bead.facts import Trust
from bead.home import Home
from bead.turns import Role
from bead.wire.store import AppendTurn, Mark, Verb
from bead_store import disk, settling
from bead_store.settling import settle
from tests.contract.store.opening import Open, opened
from tests.syscalls import Recorded, recorded

KEY = "user/editor"
TURN = AppendTurn(session="s", turn_id="t1", role=Role.USER, text="hello", at="2026-11-05T09:12:00Z")


async def fill(home: Home) -> None:
    async with opened(home) as store:
        await store.write("helix", KEY)
        await store.write("emacs", KEY, trust=Trust.AGENT_OBSERVED)
        await store.client.append_turn(TURN)


def as_after_a_kill(home: Home) -> None:
    """A killed process leaves its number in the lock."""
    home.lock.write_text("4711\n")


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The homes that were made durable."""
    homes: list[Path] = []

    def noting(root: Path) -> None:
        homes.append(root)
        settle(root)

    monkeypatch.setattr("bead_store.app.settle", noting)
    return homes


async def test_start_after_a_killed_process_makes_durable_what_it_left(home: Home, settled: list[Path]) -> None:
    await fill(home)
    as_after_a_kill(home)
    settled.clear()

    async with opened(home):
        assert settled == [home.root]


async def test_start_after_a_clean_end_costs_nothing(home: Home, settled: list[Path]) -> None:
    await fill(home)
    settled.clear()

    async with opened(home):
        pass
    assert settled == []


async def test_store_that_lost_something_is_followed_by_one_that_looks(home: Home, settled: list[Path]) -> None:
    async with opened(home) as store:
        await store.write("helix", KEY)
        with recorded(disk, fail={"fsync": OSError(5, "Input/output error")}), pytest.raises(WritesStopped):
            await store.write("emacs", KEY)
    settled.clear()

    async with opened(home):
        assert settled == [home.root]


async def test_disk_that_cannot_keep_what_was_left_lets_memory_be_read_and_nothing_be_promised(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(home)
    as_after_a_kill(home)

    def failing(root: Path) -> None:
        raise WritesStopped("the disk failed to keep it")

    monkeypatch.setattr("bead_store.app.settle", failing)
    async with opened(home) as store:
        assert (await store.client.current_fact(KEY)).body == "helix"
        assert not (await store.client.health()).ready
        with pytest.raises(WritesStopped):
            await store.write("helix", KEY)
        with pytest.raises(WritesStopped):
            await store.write("emacs", KEY, trust=Trust.AGENT_OBSERVED)
        with pytest.raises(WritesStopped):
            await store.client.append_turn(TURN)
    monkeypatch.undo()
    assert not home.lock.read_bytes().startswith(b"settled")


async def say_again(store: Open) -> None:
    assert (await store.write("helix", KEY)).verb is Verb.UNCHANGED


async def mark_again(store: Open) -> None:
    await store.client.mark(Mark(key=KEY, pinned=False))


@pytest.mark.parametrize("again", [say_again, mark_again])
async def test_file_that_somebody_else_wrote_is_synced_once_before_it_is_called_unchanged(
    home: Home, again: Callable[[Open], object]
) -> None:
    """A sync tool's file, say: nobody knows whether it ever fsyncs."""
    await fill(home)
    async with opened(home) as store:
        path = store.file(KEY, 1)
        with recorded(disk) as calls:
            await again(store)  # type: ignore[misc]  # a coroutine function
        assert {path, path.parent} <= set(calls.synced)
        with recorded(disk) as calls:
            await again(store)  # type: ignore[misc]  # as above
        assert calls.synced == []


async def test_item_that_waits_already_is_synced_before_it_is_called_queued(home: Home) -> None:
    await fill(home)
    async with opened(home) as store:
        with recorded(disk) as calls:
            answer = await store.write("emacs", KEY, trust=Trust.AGENT_OBSERVED)
        path = home.queue / f"{answer.review_id}.md"
        assert {path, path.parent} <= set(calls.synced)


async def test_name_that_could_not_be_synced_is_synced_before_the_fact_is_called_unchanged(home: Home) -> None:
    """The file is there and whole, only its folder could not be opened any more: too many open files."""
    async with opened(home) as store:
        await store.write("helix", KEY)
        folder = store.file(KEY, 1).parent
        with recorded(disk, fail_open_of=folder) as calls:
            with pytest.raises(Exception, match="Too many open files"):
                await store.write("emacs", KEY)
            assert store.file(KEY, 2).exists()
        assert folder not in calls.synced

        with recorded(disk) as calls:
            assert (await store.write("emacs", KEY)).verb is Verb.UNCHANGED
        assert folder in calls.synced


def filled(root: Path) -> list[Path]:
    (root / "store/facts").mkdir(parents=True)
    (root / "store/facts/v1.md").write_text("one")
    (root / "link").symlink_to("nowhere")
    os.mkfifo(root / "pipe")
    return [root, root / "store", root / "store/facts", root / "store/facts/v1.md"]


def test_settle_asks_for_every_file_system_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    asked: list[int] = []
    monkeypatch.setattr(settling, "_syncfs", lambda descriptor: asked.append(os.fstat(descriptor).st_dev))

    settle(tmp_path)

    assert asked == [tmp_path.stat().st_dev]


@pytest.mark.parametrize("call", [None, lambda descriptor: -1], ids=["no such call", "it fails"])
def test_where_the_file_system_cannot_be_asked_every_file_and_folder_is(
    tmp_path: Path, call: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = filled(tmp_path)
    monkeypatch.setattr(settling, "_syncfs", call)

    with recorded(settling) as calls:
        settle(tmp_path)

    assert sorted(calls.synced) == sorted(wanted)


def test_file_that_the_disk_does_not_keep_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    monkeypatch.setattr(settling, "_syncfs", None)
    failing: Recorded

    with recorded(settling, fail={"fsync": OSError(5, "Input/output error")}) as failing:
        with pytest.raises(WritesStopped, match=r"failed to keep .*Input/output error"):
            settle(tmp_path)
    assert len(failing.synced) == 1, "nothing is asked again"
