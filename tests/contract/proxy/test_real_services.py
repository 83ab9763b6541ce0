"""The proxy with the real store and the real index of one home, and what survives when they start again."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bead.bus.serve import listen
from bead.bus.transport import InProcessTransport
from bead.clients.index import IndexClient
from bead.clients.store import StoreClient
from bead.facts import Trust
from bead.git import identify
from bead.home import Home
from bead.settings import IndexSettings, ProxySettings, StoreSettings, Upstreams
from bead.wire.store import Mark, WriteFact
from bead_index.app import create_service as create_index
from bead_proxy.app import create_app
from bead_proxy.listening import serving
from bead_store.app import create_service as create_store
from tests.contract.proxy.conftest import TOKEN, Served
from tests.contract.proxy.test_injection import blocks_of, body, conversation, user
from tests.fakes.upstream import FakeUpstream


@asynccontextmanager
async def bead(home: Path, upstream: FakeUpstream) -> AsyncIterator[tuple[Served, StoreClient, IndexClient]]:
    """Store, index and proxy of `home` in this process."""
    store_service = create_store(StoreSettings(), Home(home), "me")
    async with store_service.running():
        store = StoreClient(InProcessTransport("store", store_service.app))
        index_service = create_index(IndexSettings(), Home(home), store, "home-1")
        async with index_service.running():
            index = IndexClient(InProcessTransport("index", index_service.app))
            await index.applied((await store.manifest()).seq)
            app = create_app(
                ProxySettings(upstream=Upstreams(anthropic=upstream.url)),
                owner="me",
                home_id=lambda: "home-1",
                store=store,
                index=index,
                token=TOKEN,
                identify=identify,
            )
            listener = listen("127.0.0.1", 0)
            async with serving(app, listener):
                yield Served(listener.getsockname()[1]), store, index


async def remember(store: StoreClient, index: IndexClient, key: str, words: str, *, pinned: bool = False) -> None:
    await store.write_fact(WriteFact(key=key, body=words, trust=Trust.USER_STATED))
    if pinned:
        await store.mark(Mark(key=key, pinned=True))
    assert await index.applied((await store.manifest()).seq)


async def test_a_written_fact_reaches_the_model_and_stays_there_through_a_restart(tmp_path: Path) -> None:
    async with FakeUpstream() as upstream:
        async with bead(tmp_path / "home", upstream) as (proxy, store, index):
            await remember(store, index, "user/editor", "The editor is helix, never vim.", pinned=True)
            await remember(store, index, "project/shop/staging-port", "The staging database listens on port 5433.")
            await proxy.ask(body(user("Which port does the staging database use?")))
            await proxy.ask(conversation(2))
            await remember(store, index, "user/late", "A fact written later.", pinned=True)
        async with bead(tmp_path / "home", upstream) as (proxy, _, _):
            await proxy.ask(body(user("Which port does the staging database use?")))
            await proxy.ask(conversation(2))

        before, other_before, after, other_after = [request.body for request in upstream.model_requests()]
    told = "".join(blocks_of(before))
    assert "helix" in told and "5433" in told
    assert (after, other_after) == (before, other_before)


async def test_a_wish_in_one_conversation_is_known_in_the_next(tmp_path: Path) -> None:
    async with FakeUpstream() as upstream, bead(tmp_path / "home", upstream) as (proxy, store, index):
        await proxy.ask(body(user("Remember that the staging database listens on port 5433.")))
        changes = await store.changes("", 0, wait_s=5)
        while not (await store.list_facts()).facts:
            changes = await store.changes(changes.epoch, changes.seq, wait_s=5)
        await index.applied((await store.manifest()).seq)

        await proxy.ask(body(user("Which port does the staging database use?")), "X-Bead-Session: s2")

        told = "".join(blocks_of(upstream.model_requests()[1].body))
    assert "5433" in told


async def test_a_directory_names_the_project(tmp_path: Path) -> None:
    place = tmp_path / "work" / "tidepool"
    place.mkdir(parents=True)
    system = [{"type": "text", "text": f"You help.\n - Primary working directory: {place}\n"}]
    asked = json.dumps(body(user("hello"), system=system)).encode()
    async with FakeUpstream() as upstream, bead(tmp_path / "home", upstream) as (proxy, store, _):
        about = ("Content-Type: application/json", "X-Claude-Code-Session-Id: s7")
        await proxy.send("POST /v1/messages", *about, body=asked)
        await proxy.send("POST /v1/messages", *about, body=asked)

        [turn] = [turn for turn in (await store.session("s7")).turns if turn.role == "user"]

    assert turn.project == "tidepool"
