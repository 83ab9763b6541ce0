"""A running index beside a fake store."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

import pytest

from bead.bus.transport import InProcessTransport
from bead.clients.index import IndexClient
from bead.home import Home
from bead.settings import IndexSettings
from bead_index.app import create_service
from tests.fakes.store import FakeStore


class StartIndex(Protocol):
    """Starts an index on the test's home; it stops when the block ends."""

    def __call__(self) -> AbstractAsyncContextManager[IndexClient]: ...


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def start_index(home: Home, store: FakeStore) -> StartIndex:
    @asynccontextmanager
    async def start() -> AsyncIterator[IndexClient]:
        service = create_service(IndexSettings(), home, store.client, "home-1")
        async with service.running():
            yield IndexClient(InProcessTransport("index", service.app))

    return start


@pytest.fixture
async def index(start_index: StartIndex, store: FakeStore) -> AsyncIterator[IndexClient]:
    async with start_index() as client:
        assert await client.applied(store.seq)
        yield client
