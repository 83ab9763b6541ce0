"""Lanes: one thing after the other, and a caller who gives up leaves nothing half done."""

import asyncio
import threading

import pytest

from bead.errors import Unavailable
from bead_store.lanes import MOST_JOBS, Lane


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


async def test_what_is_behind_waits_for_a_pause_and_is_done_before_the_lane_ends() -> None:
    done = await _row(50)

    assert done == ["job"] * 50 + ["behind"]


async def test_what_is_behind_is_done_though_the_row_never_pauses() -> None:
    done = await _row(MOST_JOBS + 50)

    assert done == ["job"] * MOST_JOBS + ["behind"] + ["job"] * 50 + ["behind"]


async def _row(jobs: int) -> list[str]:
    """What a lane does when so many jobs wait for it at once, and is then closed."""
    lane = Lane("test")
    done: list[str] = []
    lane.behind = lambda: done.append("behind")
    all_wait = threading.Event()

    def first() -> None:
        assert all_wait.wait(5)
        done.append("job")

    row = [asyncio.ensure_future(lane.run(first))]
    row += [asyncio.ensure_future(lane.run(done.append, "job")) for _ in range(jobs - 1)]
    asyncio.get_running_loop().call_soon(all_wait.set)  # behind the first step of each of them
    await asyncio.gather(*row)
    lane.close()
    return done
