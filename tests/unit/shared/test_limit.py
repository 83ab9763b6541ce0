"""A request has an end, whether it says its length or not."""

import asyncio

import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry
from starlette.types import Message, Scope

from bead.bus.limit import bounded
from bead.bus.serve import listen, serving
from bead.bus.service import Access, Service
from bead.errors import TooLarge


def asking(length: int | None) -> Scope:
    headers = [] if length is None else [(b"Content-Length", str(length).encode())]
    return {"type": "http", "headers": headers}


async def piece() -> Message:
    return {"type": "http.request", "body": b"x" * 6, "more_body": True}


@pytest.mark.parametrize("length", [11, 2**30])
def test_what_says_it_is_longer_is_refused_unread(length: int) -> None:
    with pytest.raises(TooLarge):
        bounded(asking(length), piece, 10)


async def test_what_turns_out_longer_is_refused_while_it_comes() -> None:
    receive = bounded(asking(None), piece, 10)
    assert (await receive())["body"] == b"x" * 6
    with pytest.raises(TooLarge):
        await receive()


async def test_a_listener_answers_413_and_never_asks_for_the_body() -> None:
    async def route(body: bytes) -> bytes:
        raise AssertionError("it was read")

    listener = listen("127.0.0.1", 0)
    port = int(listener.getsockname()[1])
    service = Service("test", FastAPI(), {"/v1/hot": route}, registry=CollectorRegistry())
    async with serving(service.guarded(Access("s", port)), listener, "test"):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            f"POST /v1/hot HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer s\r\n"
            f"Content-Length: {2**30}\r\n\r\n".encode()
        )
        async with asyncio.timeout(10):
            answer = await reader.readuntil(b"\r\n")
        writer.close()
    assert answer.split()[1] == b"413"
