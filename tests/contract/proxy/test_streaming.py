"""Answers arrive event by event, and whoever leaves is noticed: field case B15 on real sockets."""

import asyncio
import json
import time

import aiohttp
import pytest

from bead.settings import Upstreams
from tests.contract.proxy.conftest import MESSAGES, TOKEN, Serve, Served, World
from tests.contract.proxy.http import request_bytes
from tests.fakes.replies import Answer, Gate, Held, Raw

ASK = json.dumps({"model": "a", "stream": True, "messages": [{"role": "user", "content": "hi"}]}).encode()
ABOUT = {"Content-Type": "application/json", "X-Bead-Session": "s1", "X-Bead-Project": "shop"}
EVENT_STREAM = (("Content-Type", "text/event-stream"),)


def event(text: str) -> bytes:
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    return b"event: content_block_delta\ndata: " + json.dumps(delta).encode() + b"\n\n"


async def test_each_event_arrives_before_the_next_is_sent(world: World, proxy: Served) -> None:
    """The provider goes on only after the client has the event, so one that is held back would end in the timeout."""
    gates = [Gate() for _ in range(5)]
    pieces = [piece for number, gate in enumerate(gates) for piece in (event(f"word {number}"), gate)]
    world.upstream.enqueue(Raw(200, EVENT_STREAM, (*pieces, b": ping\n\n")))

    async with (
        asyncio.timeout(10),
        aiohttp.ClientSession() as client,
        client.post(proxy.url + MESSAGES, data=ASK, headers=ABOUT) as response,
    ):
        for number, gate in enumerate(gates):
            await gate.reached.wait()
            assert await response.content.readany() == event(f"word {number}")
            gate.open()
        assert await response.content.read() == b": ping\n\n"


async def test_the_head_arrives_before_the_first_event(world: World, proxy: Served) -> None:
    gate = Gate()
    world.upstream.enqueue(Raw(200, EVENT_STREAM, (gate, event("late"))))

    async with (
        asyncio.timeout(10),
        aiohttp.ClientSession() as client,
        client.post(proxy.url + MESSAGES, data=ASK, headers=ABOUT) as response,
    ):
        assert response.status == 200
        gate.open()
        assert await response.content.read() == event("late")


async def test_a_packed_stream_is_flushed_event_by_event(world: World, proxy: Served) -> None:
    gate = Gate()
    world.upstream.enqueue(Answer("one two three", compression="gzip", breaks={4: gate}))

    async with (
        asyncio.timeout(10),
        aiohttp.ClientSession() as client,
        client.post(proxy.url + MESSAGES, data=ASK, headers=ABOUT) as response,
    ):
        await gate.reached.wait()
        assert b"content_block_start" in await response.content.readany()
        gate.open()
        assert b"message_stop" in await response.content.read()


@pytest.mark.parametrize("when", ["before the answer", "in the middle"])
async def test_a_client_that_leaves_takes_the_request_along(world: World, proxy: Served, when: str) -> None:
    gate = Gate()
    answer = Raw(200, EVENT_STREAM, (event("first"), gate))
    world.upstream.enqueue(Held(gate, answer) if when == "before the answer" else answer)

    async with aiohttp.ClientSession() as client:
        task = asyncio.ensure_future(client.post(proxy.url + MESSAGES, data=ASK, headers=ABOUT))
        async with asyncio.timeout(5):
            await gate.reached.wait()
        if when == "before the answer":
            task.cancel()
        else:
            (await task).close()
    left_at = time.monotonic()

    async with asyncio.timeout(5):
        await world.upstream.requests[0].closed.wait()
    assert world.upstream.requests[0].outcome == "client gone"
    assert time.monotonic() - left_at < 1


async def test_what_was_said_until_the_client_left_is_captured_as_cut(world: World, serve: Serve) -> None:
    gate = Gate()
    world.upstream.enqueue(Answer("half an answer", breaks={5: gate}))

    async with serve() as proxy, aiohttp.ClientSession() as client:
        async with asyncio.timeout(5), client.post(proxy.url + MESSAGES, data=ASK, headers=ABOUT) as response:
            await gate.reached.wait()
            while b"half" not in await response.content.readany():
                pass
            response.close()
        async with asyncio.timeout(5):
            await world.upstream.requests[0].closed.wait()

    said = [(turn.role.value, turn.complete) for turn in await world.turns()]
    assert said == [("user", True), ("assistant", False)]


async def test_a_client_that_does_not_read_stops_the_provider_from_sending(serve: Serve) -> None:
    """Back-pressure: what nobody reads waits in the kernel and not in the proxy's memory."""
    written = 0
    is_stuck = asyncio.Event()
    piece = bytes(1 << 16)

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        try:
            while written < 256 << 20:
                writer.write(piece)
                async with asyncio.timeout(1):
                    await writer.drain()
                written += len(piece)
        except TimeoutError:
            is_stuck.set()
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(flood, "127.0.0.1", 0)
    upstream = Upstreams(anthropic=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    async with server, serve(upstream=upstream) as proxy, asyncio.timeout(30):
        _, writer = await asyncio.open_connection("127.0.0.1", proxy.port, limit=1 << 16)
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # asyncio's transports have it
        writer.write(request_bytes(f"GET /t/{TOKEN}/v1/x", port=proxy.port))
        await is_stuck.wait()
        writer.transport.abort()

    assert written < 32 << 20


async def test_stopping_cuts_open_streams_within_a_second(world: World, serve: Serve) -> None:
    gate = Gate()
    world.upstream.enqueue(Raw(200, EVENT_STREAM, (event("first"), gate)))

    async with aiohttp.ClientSession() as client:
        async with serve() as proxy:
            response = await client.post(proxy.url + MESSAGES, data=ASK, headers=ABOUT)
            assert await response.content.readany()
            stopped_at = time.monotonic()
        took_s = time.monotonic() - stopped_at
        with pytest.raises(aiohttp.ClientError):
            await response.content.read()
        response.close()

    assert took_s < 1
    assert [(turn.text, turn.complete) for turn in (await world.turns())[1:]] == [("first", False)]


async def test_connections_to_the_provider_are_used_again(world: World, proxy: Served) -> None:
    for _ in range(3):
        await proxy.ask(ASK)

    assert len({request.connection for request in world.upstream.requests}) == 1


async def test_a_provider_that_is_away_is_named_without_any_header(serve: Serve) -> None:
    async with serve(upstream=Upstreams(anthropic="http://127.0.0.1:9")) as proxy:
        answer = await proxy.ask(ASK, f"Authorization: Bearer {'s' * 30}")

    document = json.loads(answer.body)
    assert answer.status == 502
    assert (document["type"], document["error"]["type"]) == ("error", "api_error")
    assert document["error"]["message"].startswith("bead: cannot reach http://127.0.0.1:9")
    assert "s" * 30 not in answer.body.decode()
