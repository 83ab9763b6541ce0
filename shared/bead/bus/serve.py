"""Listeners: one ASGI app on one address, with errors that name the port instead of a stack trace (B53)."""

import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn
from starlette.types import ASGIApp

from bead.errors import Refused, Unavailable
from bead.tasks import Tasks

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


@contextlib.asynccontextmanager
async def serving(app: ASGIApp, listener: socket.socket, name: str) -> AsyncIterator[None]:
    """`app` answers on `listener` while the block runs; open requests get one second to end."""
    config = uvicorn.Config(
        app, lifespan="off", log_config=None, access_log=False, timeout_graceful_shutdown=_STOP_GRACE_S, ws="none"
    )
    server = _Server(config)
    async with Tasks() as tasks:
        task = tasks.start(server.serve(sockets=[listener]), name=f"serve {name}")
        try:
            yield
        finally:
            server.should_exit = True
            await task


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
