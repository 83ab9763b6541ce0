"""Opens a real store on a folder, reached in process or over a loopback socket with a token."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import aiohttp

from bead.bus.guard import scoped_token
from bead.bus.serve import listen, serving
from bead.bus.service import Access, Service
from bead.bus.transport import HttpTransport, InProcessTransport, Transport
from bead.clients.store import StoreClient
from bead.facts import FactVersion, Trust
from bead.home import Home
from bead.settings import ScanSettings, StoreSettings
from bead.wire.store import WriteAnswer, WriteFact
from bead_store.access import SCOPES
from bead_store.app import create_service
from bead_store.home import prepare
from bead_store.scan import NO_EXCEPTIONS

WAYS = ("in-process", "socket")


@dataclass
class Open:
    """A running store and the ways to it."""

    home: Home
    client: StoreClient
    bus: Transport
    service: Service

    async def write(self, body: str, key: str | None = "user/editor", **fields: object) -> WriteAnswer:
        """Write a fact, stated by the person unless told otherwise."""
        request = {"body": body, "key": key, "trust": Trust.USER_STATED, **fields}
        return await self.client.write_fact(WriteFact.model_validate(request))

    def file(self, key: str, version: int) -> Path:
        """The file of one version."""
        return self.home.facts / key / f"v{version}.md"


@asynccontextmanager
async def opened(
    home: Home,
    way: str = "in-process",
    *,
    lock_wait_s: float = 0.0,
    watch: Literal["events", "sweep", "off"] = "off",
    scan: ScanSettings = NO_EXCEPTIONS,
) -> AsyncIterator[Open]:
    """The store of `home`, running while the block runs."""
    settings = StoreSettings(lock_wait_s=lock_wait_s, watch=watch, sweep_s=0.2)
    service = create_service(settings, home, "me", scan)
    async with service.running():
        if way == "in-process":
            bus = InProcessTransport("store", service.app)
            yield Open(home, StoreClient(bus), bus, service)
        else:
            async with on_socket(service, prepare(home).bus_secret) as transport:
                yield Open(home, StoreClient(transport), transport, service)


@asynccontextmanager
async def on_socket(
    service: Service, secret: str, scope: str | None = None, token: str | None = None
) -> AsyncIterator[Transport]:
    """The service behind its guard on a free port, with the token of `scope`, of everything, or a stranger's."""
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    app = service.guarded(Access(secret, port, SCOPES))
    async with serving(app, listener, "store"), aiohttp.ClientSession() as session:
        own = scoped_token(secret, scope) if scope else secret
        yield HttpTransport(session, f"http://127.0.0.1:{port}", token or own)


def write_by_hand(home: Home, key: str, version: int, text: str) -> Path:
    """Put a file where a person with an editor would."""
    path = home.facts / key / f"v{version}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@contextmanager
def bytes_unchanged(*paths: Path) -> Iterator[None]:
    """Assert that none of the files is another one afterwards."""
    before = [path.read_bytes() for path in paths]
    yield
    assert [path.read_bytes() for path in paths] == before


def values(facts: tuple[FactVersion, ...]) -> list[tuple[int, str]]:
    """Version and text of each."""
    return [(fact.version, fact.body) for fact in facts]
