"""A listener that stops answers those who still wait: no broken connection, no traceback in the log."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator

import aiohttp
import pytest
from starlette.types import Receive, Scope, Send

from bead.bus.serve import listen, serving
from bead.bus.transport import HttpTransport, call
from bead.errors import ServiceDown


class Waiting:
    """An app whose answers take as long as its path says: `/forever`, or `/short` until the stop is under way."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.go = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked.set()
        await (self.go.wait() if scope["path"] == "/short" else asyncio.Event().wait())
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"null"})


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def test_a_long_poll_is_answered_when_the_service_stops(
    session: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    app, listener = Waiting(), listen("127.0.0.1", 0)
    bus = HttpTransport(session, f"http://127.0.0.1:{listener.getsockname()[1]}", "token")
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        async with serving(app, listener, "waiting"):
            asked = group.create_task(bus.send("GET", "/forever"))
            await app.asked.wait()
            started = time.monotonic()
        took_s = time.monotonic() - started
    assert asked.result().status == ServiceDown.status
    assert took_s < 0.95
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_request_that_ends_in_time_gets_its_own_answer(session: aiohttp.ClientSession) -> None:
    app, listener = Waiting(), listen("127.0.0.1", 0)
    bus = HttpTransport(session, f"http://127.0.0.1:{listener.getsockname()[1]}", "token")
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        async with serving(app, listener, "waiting"):
            asked = group.create_task(call(bus, "GET", "/short"))
            await app.asked.wait()
            asyncio.get_running_loop().call_later(0.05, app.go.set)
    assert asked.result() == b"null"
