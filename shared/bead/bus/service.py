"""What every service has in common: health, metrics, problem answers, the guard, and hot routes beside FastAPI."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.types import ASGIApp, Receive, Scope, Send

from bead import __version__
from bead.bus.guard import check_host, check_not_browser, scope_of, scope_of_known
from bead.bus.limit import bounded
from bead.errors import BadRequest, BeadError, NotAllowed, to_problem
from bead.wire.health import Health

OPEN_PATHS = frozenset({"/health"})

HotRoute = Callable[[bytes], Awaitable[bytes]]
"""A hot route: JSON bytes in, JSON bytes out; raises `BeadError`. No framework in between (DESIGN section 2)."""


@dataclass(frozen=True)
class Access:
    """Who may call a service: the bus secret, and for each scope the `METHOD /path` prefixes it may use."""

    secret: str
    port: int
    allowed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extra_hosts: frozenset[str] = frozenset()
    known: Mapping[str, str] | None = None
    """Fingerprints of the callers' tokens, by scope, for a service that does not know the secret."""

    def check(self, scope: Scope) -> None:
        """Raise unless this request may go on."""
        headers = scope["headers"]
        check_host(headers, self.port, self.extra_hosts)
        check_not_browser(headers)
        if scope["path"] in OPEN_PATHS:
            return
        if self.known is None:
            caller = scope_of(headers, self.secret, self.allowed)
        else:
            caller = scope_of_known(headers, self.known, self.allowed)
        call = f"{scope['method']} {scope['path']}"
        if caller != "all" and not call.startswith(self.allowed[caller]):
            raise NotAllowed(f"the token of '{caller}' does not cover {scope['method']} on this route")


@dataclass(frozen=True)
class Service:
    """A service ready to run: `app` for in-process callers, `guarded(access)` for a socket."""

    name: str
    api: FastAPI
    hot: Mapping[str, HotRoute] = field(default_factory=dict)
    registry: CollectorRegistry = field(default_factory=CollectorRegistry)

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI entry without a guard: the caller is this process."""
        route = self.hot.get(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if route is None:
            await self.api(scope, receive, send)
        else:
            await _answer_hot(route, receive, send)

    def guarded(self, access: Access) -> ASGIApp:
        """ASGI entry for a listener: nothing is read or answered before `access` agrees."""

        async def guarded_app(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                try:
                    access.check(scope)
                    receive = bounded(scope, receive)
                except BeadError as refusal:
                    await _send(send, refusal.status, _problem_bytes(refusal), b"application/problem+json")
                    return
            await self.app(scope, receive, send)

        return guarded_app

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The service's own resources, opened by its lifespan."""
        async with self.api.router.lifespan_context(self.api):
            yield


Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def create_api(name: str, lifespan: Lifespan, health: Callable[[], Health], registry: CollectorRegistry) -> FastAPI:
    """A FastAPI app with `/health`, `/metrics` and bead's errors answered as problem documents."""
    api = FastAPI(title=f"bead {name}", version=__version__, lifespan=lifespan, openapi_url=None)

    @api.get("/health")
    async def get_health() -> Health:
        return health()

    @api.get("/metrics")
    async def get_metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    @api.exception_handler(BeadError)
    async def answer_bead_error(request: Request, error: BeadError) -> Response:
        return Response(_problem_bytes(error), error.status, media_type="application/problem+json")

    @api.exception_handler(RequestValidationError)
    async def answer_bad_request(request: Request, error: RequestValidationError) -> Response:
        # Places and rules only: a validation error's input is what somebody sent.
        wrong = "; ".join(f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}" for item in error.errors())
        problem = BadRequest(f"the request is not well formed: {wrong}")
        return Response(_problem_bytes(problem), problem.status, media_type="application/problem+json")

    return api


async def _answer_hot(route: HotRoute, receive: Receive, send: Send) -> None:
    try:
        status, body, kind = 200, await route(await _body(receive)), b"application/json"
    except BeadError as error:
        status, body, kind = error.status, _problem_bytes(error), b"application/problem+json"
    await _send(send, status, body, kind)


async def _body(receive: Receive) -> bytes:
    message = await receive()
    body: bytes = message.get("body", b"")
    if not message.get("more_body"):
        return body
    parts = [body]
    while message.get("more_body"):
        message = await receive()
        parts.append(message.get("body", b""))
    return b"".join(parts)


async def _send(send: Send, status: int, body: bytes, kind: bytes) -> None:
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _problem_bytes(error: BeadError) -> bytes:
    return json.dumps(to_problem(error)).encode()
