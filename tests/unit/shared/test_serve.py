"""A listener answers at once."""

import statistics
import time

import aiohttp
from starlette.types import Receive, Scope, Send

from bead.bus.serve import listen, serving


async def test_an_answer_in_two_parts_does_not_wait_for_an_acknowledgement() -> None:
    """With Nagle's delay on, every call on a kept connection takes 40 ms."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    async def one_call_s() -> float:
        began = time.perf_counter()
        async with session.post(url, data=b"x") as response:
            await response.read()
        return time.perf_counter() - began

    listener = listen("127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    async with serving(app, listener, "test"), aiohttp.ClientSession() as session:
        assert statistics.median([await one_call_s() for _ in range(11)]) < 0.03
