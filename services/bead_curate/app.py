"""curate: the JSON door for the CLI, the admin page for people, and the tools for models (`mcp`), on one port.

`/api/<service>/…` brings a call to that service's bus and its answer back, byte for byte. Who may come in there is
decided before (`bead.bus.service.Access` with the admin token, at the listener); the page has a door of its own
(`bead_curate.web`), for browsers refuse themselves at the first one.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request, Response
from prometheus_client import CollectorRegistry
from pydantic import BaseModel
from starlette.types import ASGIApp, Receive, Scope, Send

from bead import __version__
from bead.bus.service import Access, Service, create_api
from bead.bus.transport import Transport
from bead.errors import BadRequest, NotFound
from bead.settings import CurateSettings, Effective
from bead.wire.health import Health
from bead_curate.mcp.http import SCOPES, HttpServers, is_mcp
from bead_curate.memories import SCOPES as MEMORY_SCOPES
from bead_curate.memories import add_memory_routes

if TYPE_CHECKING:
    from bead_curate.web.app import Web

_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_JSON = "application/json"
_PROBLEM = "application/problem+json"

FORWARD_LIMIT_S = 600.0
"""Longest answer waited for: an index rebuild. The caller has its own, shorter limit for everything else."""


LAUNCH_S = 60
_NO_PAGES = ("/api/", "/mcp", "/v0/")
_MACHINES = frozenset({"/health", "/metrics", "/mcp"})


class LaunchLink(BaseModel):
    """`POST /api/curate/v1/launch`: a path of the admin page that opens it once."""

    path: str
    expires_s: int


@dataclass(frozen=True)
class Curate(Service):
    """curate with its page: programs come in by the admin token, people by a launch link."""

    web: "Callable[[], Web] | None" = None
    """Made when a listener opens: a command that uses curate in its own process needs no page."""
    tools: HttpServers | None = None
    """The tools for models over HTTP."""

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See `Service.app`; the paths of the tools are not FastAPI's."""
        if self.tools is not None and scope["type"] == "http" and is_mcp(scope["path"]):
            await self.tools.answer(scope, receive, send)
        else:
            await super().app(scope, receive, send)

    def guarded(self, access: Access) -> ASGIApp:
        """See `Service.guarded`; the page's paths have checks of their own."""
        programs = super().guarded(replace(access, allowed={**access.allowed, **SCOPES, **MEMORY_SCOPES}))
        if self.web is None:
            return programs
        people = self.web().guarded(access.port, access.extra_hosts)

        async def parted(scope: Scope, receive: Receive, send: Send) -> None:
            path = scope.get("path", "")
            is_page = scope["type"] == "http" and path not in _MACHINES and not path.startswith(_NO_PAGES)
            await (people if is_page else programs)(scope, receive, send)

        return parted


def create_service(
    settings: CurateSettings, home_id: str, buses: Mapping[str, Transport], effective: Sequence[Effective] = ()
) -> Service:
    """Wire curate over the `buses` it may call, by service name; `effective` is what its settings page shows."""
    registry = CollectorRegistry()

    def health() -> Health:
        return Health(name="curate", version=__version__, ready=True, home_id=home_id)

    tools = HttpServers(buses)

    @asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncIterator[None]:
        async with tools.running():
            yield

    api = create_api("curate", lifespan, health, registry)

    @cache
    def web() -> "Web":
        from bead_curate.web.app import Web
        from bead_curate.web.backend import Backend

        return Web(Backend(buses, home_id), effective)

    add_memory_routes(api, buses["store"])

    @api.post("/api/curate/v1/launch")
    async def launch() -> LaunchLink:
        return LaunchLink(path=f"/login/{web().door.launch()}", expires_s=LAUNCH_S)

    @api.api_route("/api/{service}/{rest:path}", methods=_METHODS)
    async def forward(service: str, request: Request) -> Response:
        return await _forward(buses, service, request)

    return Curate("curate", api, registry=registry, web=web, tools=tools)


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
