"""The dream service: wires the runner to its routes, opened and closed in one place."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from fastapi import FastAPI
from prometheus_client import CollectorRegistry, Counter

from bead import __version__
from bead.bus.service import Service, create_api
from bead.bus.transport import Transport
from bead.clients.night import NightClient
from bead.clients.store import StoreClient
from bead.errors import BeadError, Unavailable
from bead.settings import DreamSettings
from bead.tasks import Tasks
from bead.wire.health import Health
from bead_dream.providers import provider_of
from bead_dream.routes import add_routes
from bead_dream.runner import Runner

_END_S = 5.0


def now() -> datetime:
    """The service's clock."""
    return datetime.now(UTC)


def create_service(
    settings: DreamSettings,
    home_id: str,
    store: Transport,
    environ: Mapping[str, str],
    clock: Callable[[], datetime] = now,
) -> Service:
    """Wire the service; `environ` holds API keys by the names that the settings give."""
    registry = CollectorRegistry()
    opened: list[Runner] = []
    tokens = Counter(
        "bead_dream_tokens", "Tokens that models read and wrote for the nights.", ["kind"], registry=registry
    )
    dollars = Counter("bead_dream_usd", "What they cost, where the price is known.", registry=registry)

    def spent(read: int, written: int, usd: float) -> None:
        tokens.labels("read").inc(read)
        tokens.labels("written").inc(written)
        dollars.inc(usd)

    def runner() -> Runner:
        if not opened:
            raise Unavailable("the dream service is not running yet, or not any more")
        return opened[0]

    def health() -> Health:
        try:
            provider_of(settings, environ)
            degraded: tuple[str, ...] = ()
        except BeadError as error:
            degraded = (error.message,)
        return Health(name="dream", version=__version__, ready=bool(opened), home_id=home_id, degraded=degraded)

    @asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncIterator[None]:
        async with Tasks() as tasks:
            opened.append(
                Runner(
                    settings,
                    store=StoreClient(store),
                    nights=NightClient(store),
                    tasks=tasks,
                    environ=environ,
                    now=clock,
                    on_spend=spent,
                )
            )
            try:
                yield
            finally:
                current = opened.pop()
                try:
                    async with asyncio.timeout(_END_S):
                        await current.cancel()
                except (BeadError, TimeoutError):
                    pass  # none is at work, or the store finds it open when the next one begins

    api = create_api("dream", lifespan, health, registry)
    add_routes(api, runner)
    return Service("dream", api, registry=registry)
