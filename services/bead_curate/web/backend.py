"""What the pages ask the services, and what they make of an answer that does not come.

A part of a page that cannot be had (the index is being built, dream is down, a route of another version) is left out
and said so; the page itself comes. Only what the page is about may fail it.
"""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from pydantic import BaseModel

from bead.bus.transport import DEFAULT_TIMEOUT_S, Answer, Transport, call
from bead.clients.health import health
from bead.clients.index import IndexClient
from bead.clients.store import StoreClient
from bead.clients.vault import VaultClient
from bead.clients.views import ViewClient
from bead.errors import BeadError, NotFound, ServiceDown
from bead.wire.health import Health
from bead.wire.traces import KeptTrace, TurnTrace

T = TypeVar("T")
ModelT = TypeVar("ModelT", bound=BaseModel)

TRACES_LOOKED_AT = 1_000


class Fact(NamedTuple):
    """A fact that an id stands for."""

    key: str
    version: int


class Backend:
    """The services behind curate, by the names of their buses."""

    def __init__(self, buses: Mapping[str, Transport], home_id: str) -> None:
        absent = _Absent()
        self._buses = buses
        self.home_id = home_id
        self.store = StoreClient(buses.get("store", absent))
        self.views = ViewClient(buses.get("store", absent))
        self.vault = VaultClient(buses.get("store", absent))
        self.index = IndexClient(buses.get("index", absent))

    def bus(self, service: str) -> Transport | None:
        """The way to a service, None when this process has none."""
        return self._buses.get(service)

    async def healths(self) -> list[Health]:
        """The health of every service behind curate, and its own."""
        names = ("store", "index", "dream")
        found = await asyncio.gather(*(self._health(name) for name in names))
        return [*found, Health(name="curate", version=found[0].version, ready=True, home_id=self.home_id)]

    async def names(self, uids: Iterable[str]) -> dict[str, Fact]:
        """The facts that these uids stand for; a forgotten one is not among them."""
        wanted = tuple(dict.fromkeys(uids))
        if not wanted:
            return {}
        found = await self.views.names(wanted)
        return {fact.uid: Fact(fact.key, fact.version) for fact in found.facts}

    async def traces(self) -> list[KeptTrace]:
        """The newest traces, newest first; none when they cannot be had."""
        page = await optional(self.store.traces(limit=TRACES_LOOKED_AT))
        return list(page.traces)[::-1] if page else []

    async def get(self, service: str, path: str, kind: type[ModelT], **query: str | int | None) -> ModelT | None:
        """An answer that a page can do without: None when the service or the route is not there."""
        bus = self._buses.get(service)
        if bus is None:
            return None
        try:
            return kind.model_validate_json(await call(bus, "GET", path, query=query, timeout_s=5.0))
        except (BeadError, ValueError):
            return None

    async def post(self, service: str, path: str, body: bytes, timeout_s: float = 600.0) -> bytes:
        """A call whose refusal the person must see.

        Raises:
            BeadError: the class that the service raised.
        """
        return await call(self._buses.get(service, _Absent()), "POST", path, body, timeout_s=timeout_s)

    async def _health(self, name: str) -> Health:
        try:
            return await health(self._buses.get(name, _Absent()))
        except BeadError as error:
            return Health(name=name, version="", ready=False, home_id="", degraded=(error.message,))


class _Absent:
    """The bus of a service that this process does not have."""

    async def send(self, method: str, path: str, body: bytes = b"", *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Answer:
        raise ServiceDown("this service does not run here")


async def optional(answer: Awaitable[T]) -> T | None:
    """`answer`, or None when it is refused or does not come."""
    try:
        return await answer
    except BeadError:
        return None


async def there(answer: Awaitable[T]) -> T | None:
    """`answer`, or None when nothing is stored there; other trouble is raised."""
    try:
        return await answer
    except NotFound:
        return None


def uids_of(traces: Iterable[TurnTrace]) -> set[str]:
    """Every id that the traces speak of."""
    return set().union(*(trace.names() for trace in traces))
