"""Both MCP servers over streamable HTTP, at curate's own listener; who may come in was decided there.

`/mcp` has the tools of every agent and takes the token made for it, or the admin token; `/api/mcp` has the admin's.
Nothing is kept between requests but confirm words, so each says in `X-Bead-Project` where its agent works, if it can.
The SDK is loaded by the first request.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from bead.bus.transport import Transport
from bead.tasks import Tasks
from bead_curate.mcp.services import BusServices

AGENT_PATH = "/mcp"
ADMIN_PATH = "/api/mcp"
TOKEN_SCOPE = "mcp"
SCOPES: Mapping[str, tuple[str, ...]] = {TOKEN_SCOPE: ("POST /mcp", "GET /mcp", "DELETE /mcp")}
"""What the token for agents may do on curate: nothing but their own tools."""

_PROJECT_HEADER = b"x-bead-project"
_LONGEST_PROJECT = 4_096
_START_S = 30.0

_named: ContextVar[str | None] = ContextVar("project of the request that is answered", default=None)


class HttpServers:
    """Started when first asked, ended with `running`."""

    def __init__(self, buses: Mapping[str, Transport]) -> None:
        self._buses = buses
        self._tasks: Tasks | None = None
        self._started: dict[str, asyncio.Future[ASGIApp]] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Holds what runs."""
        async with Tasks() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks, self._started = None, {}

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request of either path."""
        path = scope["path"]
        assert self._tasks is not None, "requests come only while the service runs"
        if path not in self._started:
            self._started[path] = asyncio.get_running_loop().create_future()
            self._tasks.start(self._run(path), name=f"mcp {path}")
        async with asyncio.timeout(_START_S):
            app = await asyncio.shield(self._started[path])
        _named.set(_project_of(scope))
        await app(scope, receive, send)

    async def _run(self, path: str) -> None:
        """A session manager must be left by the task that entered it, so it has one of its own."""
        try:
            manager = await asyncio.to_thread(self._manager, path)
        except BaseException as error:
            self._started.pop(path).set_exception(error)
            raise
        async with manager.run():
            self._started[path].set_result(manager.handle_request)
            await asyncio.Event().wait()

    def _manager(self, path: str) -> Any:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from bead_curate.mcp.server import create_server

        server = create_server(BusServices(self._buses, _named.get), is_admin=path == ADMIN_PATH)
        return StreamableHTTPSessionManager(server, json_response=True, stateless=True)


def _project_of(scope: Scope) -> str | None:
    told = next((value for name, value in scope["headers"] if name == _PROJECT_HEADER), b"")
    return told.decode("utf-8", "replace")[:_LONGEST_PROJECT].strip() or None


def is_mcp(path: str) -> bool:
    """Whether a path is one of the two."""
    return path in (AGENT_PATH, ADMIN_PATH)
