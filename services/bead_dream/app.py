"""The dream service: so far its health alone, so that what composes services already counts on it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from bead import __version__
from bead.bus.service import Service, create_api
from bead.settings import DreamSettings
from bead.wire.health import Health


def create_service(settings: DreamSettings, home_id: str) -> Service:
    """Wire the service from its settings alone."""
    registry = CollectorRegistry()

    def health() -> Health:
        return Health(name="dream", version=__version__, ready=True, home_id=home_id)

    return Service("dream", create_api("dream", _no_resources, health, registry), registry=registry)


@asynccontextmanager
async def _no_resources(api: FastAPI) -> AsyncIterator[None]:
    yield
