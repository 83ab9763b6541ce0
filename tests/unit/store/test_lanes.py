"""Lanes: one thing after the other, and a caller who gives up leaves nothing half done."""

import asyncio
import threading

import pytest

from bead.errors import Unavailable
from bead_store.lanes import Lane


async def test_work_in_a_lane_never_overlaps() -> None:
    lane = Lane("test")
    inside = 0
    most = 0

    def work() -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        inside -= 1

    await asyncio.gather(*(lane.run(work) for _ in range(200)))
    lane.close()

    assert most == 1


async def test_work_whose_caller_gave_up_still_ends_and_the_next_waits_for_it() -> None:
    lane = Lane("test")
    started, go_on = threading.Event(), threading.Event()
    done: list[str] = []

    def slow() -> None:
        started.set()
        assert go_on.wait(5)
        done.append("slow")

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await lane.run(slow)
    assert started.is_set()
    following = asyncio.ensure_future(lane.run(done.append, "next"))
    go_on.set()
    await following
    lane.close()

    assert done == ["slow", "next"]


async def test_what_work_raises_reaches_its_caller_and_the_lane_goes_on() -> None:
    lane = Lane("test")

    with pytest.raises(ZeroDivisionError):
        await lane.run(divmod, 1, 0)
    assert await lane.run(divmod, 7, 2) == (3, 1)
    lane.close()


async def test_closed_lane_says_that_the_store_is_stopping() -> None:
    lane = Lane("test")
    lane.close()

    with pytest.raises(Unavailable, match="stopping"):
        await lane.run(print)
