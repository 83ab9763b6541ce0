"""The index beside the store that writes files."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bead.bus.transport import InProcessTransport
from bead.clients.index import IndexClient
from bead.facts import Trust
from bead.home import Home
from bead.recall import Cue, CueSource
from bead.settings import IndexSettings
from bead.turns import Role
from bead.wire.index import RecallRequest
from bead.wire.store import AppendTurn
from bead_index.app import create_service
from tests.contract.store.opening import Open, opened


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
async def store(home: Home) -> AsyncIterator[Open]:
    async with opened(home) as running:
        yield running


@pytest.fixture
async def index(home: Home, store: Open) -> AsyncIterator[IndexClient]:
    service = create_service(IndexSettings(), home, store.client, "home-1")
    async with service.running():
        client = IndexClient(InProcessTransport("index", service.app))
        assert await client.applied(0)
        yield client


async def caught_up(store: Open, index: IndexClient) -> None:
    assert await index.applied((await store.client.manifest()).seq)


async def test_a_written_fact_is_recalled(store: Open, index: IndexClient) -> None:
    await store.write("Parcels travel with Flamingo Express.", key="project/shop/carrier")
    await caught_up(store, index)
    cue = Cue(CueSource.PERSON, "send it with flamingo express")

    answer = await index.recall(RecallRequest(owner="me", project="shop", session="s", cues=(cue,)))

    assert [fact.body for fact in answer.facts] == ["Parcels travel with Flamingo Express."]


async def test_a_turn_is_found_under_the_source_that_the_store_gave(store: Open, index: IndexClient) -> None:
    sources = []
    for turn_id, at in (("t1", "2026-11-05T23:59:59Z"), ("t2", "2026-11-06T00:00:01Z")):
        turn = AppendTurn(session="s1", turn_id=turn_id, role=Role.USER, text=f"herons {turn_id}", at=at)
        sources.append((await store.client.append_turn(turn)).source)
    await caught_up(store, index)

    assert sorted(hit.id for hit in (await index.search("herons")).hits) == sources


async def test_a_write_is_searchable_within_fifty_milliseconds(store: Open, index: IndexClient) -> None:
    async def once(number: int) -> float:
        await store.write(f"flamingo number {number}", key=f"user/n{number}")
        began = time.perf_counter()
        await caught_up(store, index)
        return time.perf_counter() - began

    assert min([await once(number) for number in range(5)]) < 0.05


async def test_a_restart_of_the_store_changes_nothing_that_is_found(home: Home) -> None:
    for life in (1, 2):
        async with opened(home) as store:
            service = create_service(IndexSettings(), home, store.client, "home-1")
            async with service.running():
                index = IndexClient(InProcessTransport("index", service.app))
                await store.write(f"The heron was seen {life} times.", key="user/heron", trust=Trust.USER_STATED)
                await caught_up(store, index)
                hits = (await index.search("heron")).hits
                assert [(hit.id, hit.version) for hit in hits] == [("user/heron", life)]
