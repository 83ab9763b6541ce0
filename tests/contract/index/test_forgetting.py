"""A forget reaches the index's file: told at once, or finished when the index comes back (I6)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bead.bus.transport import InProcessTransport
from bead.clients.index import IndexClient
from bead.errors import Unavailable
from bead.home import Home
from bead.recall import Cue, CueSource
from bead.settings import IndexSettings
from bead.turns import Role
from bead.wire.index import RecallRequest
from bead.wire.store import AppendTurn, ConfirmForget, ForgetKeys, ForgetReceipt, IndexState
from bead_index.app import create_service
from tests.bytescan import traces
from tests.contract.store.opening import Open, opened

KEY = "user/quetzalcoatlus-deploys"
VALUE = "Parcels travel with Xylophonist-Wolfsrachen Express."
WORDS = ("xylophonist", "wolfsrachen", "quetzalcoatlus", VALUE)
LIMIT_S = 10.0


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@asynccontextmanager
async def indexed(home: Home, store: Open) -> AsyncIterator[IndexClient]:
    service = create_service(IndexSettings(), home, store.client, "home-1")
    async with service.running():
        index = IndexClient(InProcessTransport("index", service.app))
        assert await index.applied((await store.client.manifest()).seq)
        yield index


async def fill(store: Open, *, with_turn: bool = True) -> None:
    turn = AppendTurn(session="s", turn_id="t", role=Role.USER, text=f"note: {VALUE}", at="2026-11-05T09:12:00Z")
    if with_turn:
        await store.client.append_turn(turn)
    await store.write("Parcels travel with Wolfsrachen.", KEY)
    await store.write(VALUE, KEY)
    for number in range(40):  # neighbours, so that pages and full-text segments are shared
        await store.write(f"Heron number {number} sleeps standing.", f"user/heron-{number}")


async def forget(store: Open) -> ForgetReceipt:
    preview = await store.client.preview_forget(ForgetKeys(keys=(KEY,)))
    return await store.client.forget(ConfirmForget(keys=(KEY,), confirm=preview.confirm or ""))


async def no_intent(home: Home) -> None:
    while list(home.intents.glob("*.json")):  # noqa: ASYNC110 -- a file has no event of its own here
        await asyncio.sleep(0.01)


def all_traces(home: Home) -> list[str]:
    return [trace for word in WORDS for trace in traces(home.root, word)]


async def test_forget_says_applied_when_no_byte_is_left_in_the_index(home: Home) -> None:
    async with opened(home) as store, indexed(home, store) as index:
        await fill(store)
        assert await index.applied((await store.client.manifest()).seq)
        assert any("index.db" in trace for trace in all_traces(home)), "the scan finds what is there"

        receipt = await forget(store)

        assert receipt.index is IndexState.APPLIED
        assert all_traces(home) == []
        assert (await index.search("xylophonist")).hits == ()


async def test_index_that_comes_back_purges_before_it_answers_and_closes_the_intent(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bead_store.forget.INDEX_WAIT_S", 0.1)
    async with opened(home) as store:
        async with indexed(home, store):
            await fill(store)
        receipt = await forget(store)
        assert receipt.index is IndexState.PENDING
        assert all("index.db" in trace for trace in all_traces(home)), "everything else is gone already"
        assert len(list(home.intents.glob("*.json"))) == 1
    async with opened(home) as store:
        assert len(list(home.intents.glob("*.json"))) == 1, "a restart of the store alone finishes nothing"
        service = create_service(IndexSettings(), home, store.client, "home-1")
        async with service.running():
            index = IndexClient(InProcessTransport("index", service.app))
            cue = Cue(CueSource.PERSON, "send it with xylophonist wolfsrachen express")
            asked = RecallRequest(owner="me", project="", session="s", cues=(cue,))
            async with asyncio.timeout(LIMIT_S):
                with contextlib.suppress(Unavailable):  # nothing is answered before it is purged
                    assert (await index.recall(asked)).facts == ()
                await no_intent(home)
                while not (await index.health()).ready:  # noqa: ASYNC110 -- health is what is looked at
                    await asyncio.sleep(0.01)
                assert (await index.recall(asked)).facts == ()
            assert all_traces(home) == []


async def test_index_file_that_was_deleted_is_not_waited_for(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bead_store.forget.INDEX_WAIT_S", 0.1)
    async with opened(home) as store:
        async with indexed(home, store):
            await fill(store)
        assert (await forget(store)).index is IndexState.PENDING
    for path in home.root.glob("index.db*"):
        path.unlink()
    async with opened(home):
        assert list(home.intents.glob("*.json")) == []


async def test_value_that_is_stated_again_before_the_index_looks_leaves_nothing_of_the_old_one(home: Home) -> None:
    """The feed keeps only the newest change of a key: the index sees another fact in the old one's place."""
    async with opened(home) as store:
        async with indexed(home, store):
            await fill(store, with_turn=False)
        preview = await store.client.preview_forget(ForgetKeys(keys=(KEY,)))
        start = await store.client.manifest()
        task = asyncio.ensure_future(store.client.forget(ConfirmForget(keys=(KEY,), confirm=preview.confirm or "")))
        assert (await store.client.changes(start.epoch, start.seq, LIMIT_S)).changes[0].gone
        await store.write("Parcels travel by bicycle.", KEY)
        async with indexed(home, store) as index:
            assert (await task).index is IndexState.APPLIED
            assert [hit.id for hit in (await index.search("bicycle")).hits] == [KEY]
        assert [trace for word in ("xylophonist", "wolfsrachen") for trace in traces(home.root, word)] == []
