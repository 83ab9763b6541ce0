"""Group fsync: a turn is synced soon after it was acknowledged, and a disk that loses data stops the writing (D12)."""

import asyncio
import errno
import os

import pytest

from bead.errors import WritesStopped
from bead.home import Home
from bead.turns import Role
from bead.wire.store import AppendTurn
from tests.contract.store.opening import Open, opened


def turn(turn_id: str) -> AppendTurn:
    return AppendTurn(session="s", turn_id=turn_id, role=Role.USER, text="hello", at="2026-11-05T09:12:00Z")


async def test_turn_and_the_folder_that_names_it_are_synced_after_the_answer(
    local: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, synced, real = asyncio.get_running_loop(), asyncio.Event(), os.fsync
    wanted = {"s.md", "05"}

    def recording(descriptor: int) -> None:
        real(descriptor)
        wanted.discard(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        if not wanted:
            loop.call_soon_threadsafe(synced.set)

    monkeypatch.setattr(os, "fsync", recording)
    await local.client.append_turn(turn("t1"))
    async with asyncio.timeout(5):
        await synced.wait()


async def test_failed_group_sync_stops_writing_and_is_told_by_health(
    local: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed, loop = asyncio.Event(), asyncio.get_running_loop()

    def failing(descriptor: int) -> None:
        loop.call_soon_threadsafe(failed.set)
        raise OSError(errno.EIO, "Input/output error")

    await local.write("before")
    await local.client.append_turn(turn("t1"))
    monkeypatch.setattr(os, "fsync", failing)
    await local.client.append_turn(turn("t2"))
    async with asyncio.timeout(5):
        await failed.wait()
        while (await local.client.health()).ready:  # noqa: ASYNC110 -- health is what is looked at, and has no event
            await asyncio.sleep(0)
    monkeypatch.undo()

    for refused in (local.client.append_turn(turn("t3")), local.write("after")):
        with pytest.raises(WritesStopped):
            await refused
    assert "start bead again" in (await local.client.health()).degraded[0]
    assert (await local.client.current_fact("user/editor")).body == "before"


async def test_store_that_stopped_writing_writes_again_after_a_restart(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    async with opened(home) as store:
        await store.write("before")
        monkeypatch.setattr(os, "fsync", failing)
        with pytest.raises(WritesStopped):
            await store.write("not acknowledged")
        monkeypatch.undo()
        with pytest.raises(WritesStopped):
            await store.write("refused")
    async with opened(home) as store:
        assert (await store.client.current_fact("user/editor")).body == "before"
        assert (await store.write("after")).version == 2
