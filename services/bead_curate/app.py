"""curate for the CLI: `/api/<service>/…` brings a call to that service's bus and its answer back, byte for byte.

Who may come in is decided before (`bead.bus.service.Access` with the admin token, at the listener).
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from prometheus_client import CollectorRegistry

from bead import __version__
from bead.bus.service import Service, create_api
from bead.bus.transport import Transport
from bead.errors import BadRequest, NotFound
from bead.settings import CurateSettings
from bead.wire.health import Health

_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_JSON = "application/json"
_PROBLEM = "application/problem+json"

FORWARD_LIMIT_S = 600.0
"""Longest answer waited for: an index rebuild. The caller has its own, shorter limit for everything else."""


def create_service(settings: CurateSettings, home_id: str, buses: Mapping[str, Transport]) -> Service:
    """Wire curate over the `buses` it may call, by service name."""
    registry = CollectorRegistry()

    def health() -> Health:
        return Health(name="curate", version=__version__, ready=True, home_id=home_id)

    api = create_api("curate", _no_resources, health, registry)

    @api.api_route("/api/{service}/{rest:path}", methods=_METHODS)
    async def forward(service: str, request: Request) -> Response:
        return await _forward(buses, service, request)

    return Service("curate", api, registry=registry)


@asynccontextmanager
async def _no_resources(api: FastAPI) -> AsyncIterator[None]:
    yield


async def _forward(buses: Mapping[str, Transport], service: str, request: Request) -> Response:
    """The service's own answer to the same method, path, query and body.

    Raises:
        NotFound: there is no such service behind this door.
        BadRequest: a body that is not JSON; a web form could send one without asking first (T2).
    """
    bus = buses.get(service)
    if bus is None:
        raise NotFound(f"curate has no service '{service}' behind it; it has {', '.join(sorted(buses))}")
    body = await request.body()
    if body and request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        raise BadRequest(f"a body must be sent as {_JSON}")
    answer = await bus.send(request.method, _target(request), body, timeout_s=FORWARD_LIMIT_S)
    return Response(answer.body, answer.status, media_type=_JSON if answer.status < 400 else _PROBLEM)


def _target(request: Request) -> str:
    """Path and query as they were sent, below `/api/<service>`: a key inside the path keeps its `%2F`."""
    path = "/" + request.scope["raw_path"].decode("latin-1").split("/", 3)[3]
    query = request.scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path
