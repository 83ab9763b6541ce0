"""Listeners: one ASGI app on one address, with errors that name the port instead of a stack trace (B53)."""

import asyncio
import contextlib
import ipaddress
import json
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bead.errors import Refused, ServiceDown, Unavailable, to_problem
from bead.tasks import Tasks

_END_GRACE_S = 0.5
_STOP_GRACE_S = 1


class _Server(uvicorn.Server):
    """uvicorn without its own signal handling: the process that composes services decides when to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def listen(host: str, port: int, *, in_container: bool = False) -> socket.socket:
    """A bound, listening socket on a loopback address.

    Raises:
        Refused: `host` is not loopback, and this is not a container that says so.
        Unavailable: the port is taken.
    """
    if not in_container and not _is_loopback(host):
        raise Refused(f"{host} is not a loopback address; bead listens on 127.0.0.1 or ::1 only")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named TCP, for asyncio turns Nagle's delay off only then: without it every answer takes 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise Unavailable(
            f"port {port} on {host} cannot be used ({error.strerror}); stop what holds it or set another port"
        ) from None
    listener.setblocking(False)
    return listener


class _Ending:
    """Passes requests on; at the end it answers those that wait (a long poll), and ends streams."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        has_started = is_stream = False

        async def watched(message: Message) -> None:
            nonlocal has_started, is_stream
            if message["type"] == "http.response.start":
                has_started, is_stream = True, not _has_length(message)
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            if has_started and not is_stream:
                raise
            task.uncancel()
            await (_end_stream(send) if is_stream else _answer_stopping(send))
        finally:
            self._open.discard(task)

    async def end(self, grace_s: float) -> None:
        """Give open requests `grace_s` to end by themselves, then answer them."""
        if self._open:
            _, late = await asyncio.wait(self._open, timeout=grace_s)
            for task in late:
                task.cancel()


def _has_length(start: Message) -> bool:
    return any(name.lower() == b"content-length" for name, _ in start.get("headers", ()))


async def _end_stream(send: Send) -> None:
    """An event stream has no end of its own: it is ended in good form, and its reader asks again."""
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _answer_stopping(send: Send) -> None:
    problem = ServiceDown("the service is stopping; ask again")
    body = json.dumps(to_problem(problem)).encode()
    headers = [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@contextlib.asynccontextmanager
async def serving(app: ASGIApp, listener: socket.socket, name: str) -> AsyncIterator[None]:
    """`app` answers on `listener` while the block runs; open requests get half a second to end, then a 503."""
    ending = _Ending(app)
    config = uvicorn.Config(
        ending, lifespan="off", log_config=None, access_log=False, timeout_graceful_shutdown=_STOP_GRACE_S, ws="none"
    )
    server = _Server(config)
    async with Tasks() as tasks:
        task = tasks.start(server.serve(sockets=[listener]), name=f"serve {name}")
        try:
            yield
        finally:
            server.should_exit = True
            await ending.end(_END_GRACE_S)
            await task


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
