"""A provider, a store and an index, and proxies between them, all on loopback."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bead.bus.serve import listen
from bead.bus.transport import InProcessTransport, Transport
from bead.clients.index import IndexClient
from bead.clients.store import StoreClient
from bead.home import Home
from bead.settings import ProxySettings, StoreSettings, Upstreams
from bead.wire.store import TurnView
from bead.wire.traces import TurnTrace
from bead_proxy.app import create_app
from bead_proxy.listening import serving
from bead_proxy.memory import Explain
from bead_proxy.tracing import OnTrace
from bead_store.app import create_service as create_store
from tests.contract.proxy.bus import FakeIndex, FakeStore, Switch
from tests.contract.proxy.http import RawAnswer, exchange, request_bytes
from tests.fakes.upstream import FakeUpstream

TOKEN = "capability-" + "0" * 32
MESSAGES = "/v1/messages?beta=true"


@dataclass
class World:
    """What a proxy stands between."""

    upstream: FakeUpstream
    index: FakeIndex
    store_bus: Switch
    index_bus: Switch
    service: Transport
    """The store itself, past its switch."""

    async def turns(self) -> list[TurnView]:
        """What was captured, session by session."""
        store = StoreClient(self.service)
        sessions = (await store.sessions()).sessions
        return [turn for session in sorted(sessions) for turn in (await store.session(session)).turns]

    async def facts(self) -> list[str]:
        """Bodies of the facts that were written."""
        return [fact.body for fact in (await StoreClient(self.service).list_facts()).facts]

    async def traces(self, count: int) -> list[TurnTrace]:
        """The first `count` traces, once they are kept."""
        await self.store_bus.answered("/v1/traces", count)
        return [kept.trace for kept in (await StoreClient(self.service).traces()).traces]

    def forwarded(self) -> list[bytes]:
        """Bodies of the model requests that reached the provider."""
        return [request.body for request in self.upstream.model_requests()]


@dataclass
class Served:
    """A running proxy."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/t/{TOKEN}"

    async def send(self, line: str, *headers: str, body: bytes = b"", is_head: bool = False) -> RawAnswer:
        """One request with the capability in its path."""
        method, _, target = line.partition(" ")
        data = request_bytes(f"{method} /t/{TOKEN}{target}", *headers, body=body, port=self.port)
        return await exchange(self.port, data, is_head=is_head)

    async def ask(self, body: bytes | dict[str, Any], *headers: str) -> RawAnswer:
        """One request for a model's answer, as session s1 of project shop."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        session = () if any(header.startswith("X-Bead-Session") for header in headers) else ("X-Bead-Session: s1",)
        about = (*session, "X-Bead-Project: shop", "Content-Type: application/json")
        return await self.send(f"POST {MESSAGES}", *about, *headers, body=data)


Serve = Callable[..., AbstractAsyncContextManager[Served]]


@asynccontextmanager
async def real_store(home: Path) -> AsyncIterator[Transport]:
    """The store of `home`, in this process."""
    service = create_store(StoreSettings(), Home(home), "me")
    async with service.running():
        yield InProcessTransport("store", service.app)


@pytest.fixture(params=["fake store", "real store"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Transport]:
    if request.param == "fake store":
        yield FakeStore()
    else:
        async with real_store(tmp_path / "home") as service:
            yield service


@pytest.fixture
async def world(store: Transport) -> AsyncIterator[World]:
    index = FakeIndex()
    async with FakeUpstream() as upstream:
        yield World(upstream, index, Switch(store), Switch(index), store)


@pytest.fixture
def serve(world: World) -> Serve:
    """Makes a proxy on a free port; settings of the proxy by name."""

    @asynccontextmanager
    async def serve(
        explain: Explain | None = None,
        on_trace: OnTrace | None = None,
        environ: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> AsyncIterator[Served]:
        url = world.upstream.url
        settings.setdefault("upstream", Upstreams(anthropic=url, openai=url, gemini=url))
        app = create_app(
            ProxySettings(**settings),
            owner="me",
            home_id=lambda: "home-1",
            store=StoreClient(world.store_bus),
            index=IndexClient(world.index_bus),
            token=TOKEN,
            identify=None,
            explain=explain,
            on_trace=on_trace,
            environ=environ or {},
        )
        listener = listen("127.0.0.1", 0)
        port = listener.getsockname()[1]
        async with serving(app, listener):
            yield Served(port)

    return serve


@pytest.fixture
async def proxy(serve: Serve) -> AsyncIterator[Served]:
    async with serve() as served:
        yield served
