"""The index beside a store, asked inside the process and over a socket."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from bead.bus.guard import scoped_token
from bead.bus.serve import listen, serving
from bead.bus.service import Access
from bead.bus.transport import HttpTransport, InProcessTransport
from bead.clients.index import IndexClient
from bead.home import Home
from bead.settings import IndexSettings
from bead_index.access import SCOPES
from bead_index.app import create_service
from tests.fakes.store import FakeStore

SECRET = "-".join(("bus", "secret", "of", "this", "test"))


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture(params=["in process", "loopback"])
async def index(request: pytest.FixtureRequest, tmp_path: Path, store: FakeStore) -> AsyncIterator[IndexClient]:
    service = create_service(IndexSettings(), Home(tmp_path), store.client, "home-1")
    async with service.running():
        if request.param == "in process":
            yield IndexClient(InProcessTransport("index", service.app))
            return
        listener = listen("127.0.0.1", 0)
        port = listener.getsockname()[1]
        app = service.guarded(Access(SECRET, port, SCOPES))
        async with serving(app, listener, "index"), aiohttp.ClientSession() as session:
            token = scoped_token(SECRET, "curate")
            yield IndexClient(HttpTransport(session, f"http://127.0.0.1:{port}", token))
