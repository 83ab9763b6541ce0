"""Traces of model requests: kept in order, followed, found by turn, silent about what was forgotten, bounded."""

import asyncio
from pathlib import Path

import pytest

from bead.clients.store import StoreClient
from bead.errors import BadRequest, NotAllowed, NotFound
from bead.home import Home
from bead.wire.store import ConfirmForget, ForgetKeys
from bead.wire.traces import Chosen, Rival, TurnTrace
from bead_store.home import prepare
from tests.contract.store.opening import Open, on_socket, opened


def trace(turn: str = "s1/turn-1", **said: object) -> TurnTrace:
    return TurnTrace(turn=turn, at="2026-11-30T09:00:00+00:00", session=turn.partition("/")[0], **said)  # type: ignore[arg-type]


async def turns(store: Open, after: int | None = None, limit: int = 100) -> list[str]:
    return [kept.trace.turn for kept in (await store.client.traces(after, limit)).traces]


async def test_trace_comes_back_as_it_was_told(store: Open) -> None:
    told = trace(
        project="shop",
        pinned=("u1",),
        selected=(Chosen("u2", 3, 0.75, "say", 20),),
        rejected=(Rival("u3", 0.1, "threshold"),),
        cues={"person": 12},
        added_ms={"recall": 0.5},
        input_tokens=3,
    )

    seq = await store.client.keep_trace(told)

    assert (await store.client.trace("s1/turn-1")).trace == told
    assert [(kept.seq, kept.trace) for kept in (await store.client.traces()).traces] == [(seq, told)]


async def test_traces_come_oldest_first_after_a_number_and_the_newest_without_one(store: Open) -> None:
    for number in range(1, 6):
        await store.client.keep_trace(trace(f"s1/turn-{number}"))

    assert await turns(store, after=1, limit=2) == ["s1/turn-2", "s1/turn-3"]
    assert await turns(store, limit=2) == ["s1/turn-4", "s1/turn-5"]
    assert await turns(store, after=5) == []


async def test_reader_who_waits_is_told_of_the_next_trace(store: Open) -> None:
    await store.client.keep_trace(trace("s1/turn-1"))
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        reading = group.create_task(store.client.traces(after=1, wait_s=30))
        await asyncio.sleep(0)
        await store.client.keep_trace(trace("s1/turn-2"))

    assert [kept.trace.turn for kept in reading.result().traces] == ["s1/turn-2"]


async def test_reader_who_knows_more_than_there_is_is_told_so_at_once(store: Open) -> None:
    await store.client.keep_trace(trace())

    async with asyncio.timeout(5):
        page = await store.client.traces(after=7, wait_s=30)

    assert (page.seq, page.traces) == (1, ())


async def test_newest_trace_of_a_turn_is_the_one_that_is_found(store: Open) -> None:
    await store.client.keep_trace(trace(status=500))
    await store.client.keep_trace(trace(status=200))

    assert (await store.client.trace("s1/turn-1")).trace.status == 200
    with pytest.raises(NotFound):
        await store.client.trace("s1/turn-2")


@pytest.mark.parametrize("turn", ["", "s1", "s1/turn-", "s1/words of mine", "/turn-1"])
async def test_turn_that_is_no_id_is_refused(store: Open, turn: str) -> None:
    with pytest.raises(BadRequest):
        await store.client.keep_trace(trace(turn))


async def test_forget_takes_out_what_names_the_fact_and_leaves_the_rest(store: Open) -> None:
    uid = (await store.write("helix")).uid
    told: tuple[dict[str, object], ...] = (
        {"pinned": (uid,)},
        {"selected": (Chosen(uid),)},
        {"rejected": (Rival(uid),)},
        {"pinned": ("other",)},
    )
    for number, said in enumerate(told, 1):
        await store.client.keep_trace(trace(f"s1/turn-{number}", **said))

    preview = await store.client.preview_forget(ForgetKeys(keys=("user/editor",)))
    receipt = await store.client.forget(ConfirmForget(keys=("user/editor",), confirm=preview.confirm or ""))

    assert await turns(store, after=0) == ["s1/turn-4"]
    assert [place.removed for place in receipt.places if place.place == "traces"] == [3]


async def test_trace_that_comes_late_does_not_bring_a_forgotten_id_back(store: Open) -> None:
    uid = (await store.write("helix")).uid
    preview = await store.client.preview_forget(ForgetKeys(keys=("user/editor",)))
    await store.client.forget(ConfirmForget(keys=("user/editor",), confirm=preview.confirm or ""))

    await store.client.keep_trace(trace(pinned=(uid, "other"), selected=(Chosen(uid),)))

    (kept,) = (await store.client.traces()).traces
    assert kept.trace.names() == {"other"}


async def test_numbers_go_on_after_a_restart_and_a_torn_line_is_passed_over(home: Home) -> None:
    async with opened(home) as store:
        await store.client.keep_trace(trace("s1/turn-1"))
    (path,) = home.traces.iterdir()
    with path.open("a") as file:
        file.write('{"seq":2,"tra\n')
    async with opened(home) as store:
        assert await store.client.keep_trace(trace("s1/turn-2")) == 2
        assert await turns(store, after=0) == ["s1/turn-1", "s1/turn-2"]
        assert (await store.client.trace("s1/turn-1")).seq == 1


async def test_forgotten_fact_is_in_no_trace_file(home: Home) -> None:
    async with opened(home) as store:
        uid = (await store.write("helix")).uid
        await store.client.keep_trace(trace(pinned=(uid,)))
        assert any(uid in path.read_text() for path in home.traces.iterdir())
        preview = await store.client.preview_forget(ForgetKeys(keys=("user/editor",)))
        await store.client.forget(ConfirmForget(keys=("user/editor",), confirm=preview.confirm or ""))
        assert not any(uid in path.read_text() for path in home.traces.iterdir())


async def test_proxy_may_tell_traces_and_read_none(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    async with opened(home) as store:
        async with on_socket(store.service, prepare(home).bus_secret, "proxy") as bus:
            await StoreClient(bus).keep_trace(trace())
            with pytest.raises(NotAllowed):
                await StoreClient(bus).traces()
        async with on_socket(store.service, prepare(home).bus_secret, "curate") as bus:
            assert len((await StoreClient(bus).traces()).traces) == 1
