"""Requests that a library would answer by itself: unknown methods, uploads that break, bytes that are no UTF-8."""

import asyncio

import pytest

from bead.bus.transport import Transport
from bead.settings import Upstreams
from tests.contract.proxy.bus import FakeStore
from tests.contract.proxy.canned import canned
from tests.contract.proxy.conftest import TOKEN, Serve, Served, World
from tests.contract.proxy.http import exchange, read_answer, request_bytes

EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@pytest.fixture
def store() -> Transport:
    """Nothing here is about what a store does."""
    return FakeStore()


@pytest.mark.parametrize("method", ["FROBNICATE", "BREW", "M-SEARCH", "X_1", "QUERY"])
@pytest.mark.parametrize("body", [b"", b"0123456789"])
async def test_an_unknown_method_arrives_as_sent(serve: Serve, method: str, body: bytes) -> None:
    async with canned(EMPTY) as provider, serve(upstream=Upstreams(anthropic=provider.url)) as proxy:
        answer = await proxy.send(f"{method} /v1/x?a=%20b", body=body)

    assert answer.status == 200
    assert provider.request_line() == f"{method} /v1/x?a=%20b HTTP/1.1".encode()
    assert provider.bodies == [body]


async def test_a_connection_goes_on_with_any_method(serve: Serve) -> None:
    async with (
        canned(EMPTY) as provider,
        serve(upstream=Upstreams(anthropic=provider.url)) as proxy,
        asyncio.timeout(10),
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        for method in ("GET", "FROBNICATE", "POST", "BREW", "HEAD"):
            writer.write(request_bytes(f"{method} /t/{TOKEN}/v1/x", body=b"abc", port=proxy.port))
            assert (await read_answer(reader, is_head=method == "HEAD")).status == 200
        writer.close()

    assert [head.split()[0] for head in provider.heads] == [b"GET", b"FROBNICATE", b"POST", b"BREW", b"HEAD"]


@pytest.mark.parametrize("chunk", [b"zz\r\nabc\r\n", b"-1\r\n", b"3\r\nabcdef\r\n", b"3 3\r\nabc\r\n"])
@pytest.mark.parametrize("path", ["/v1/files", "/v1/messages"])
async def test_a_malformed_chunk_ends_the_upload_at_once(world: World, proxy: Served, path: str, chunk: bytes) -> None:
    head = request_bytes(f"POST /t/{TOKEN}{path}", "Transfer-Encoding: chunked", port=proxy.port)

    async with asyncio.timeout(5):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(head + b"3\r\nabc\r\n")
        await writer.drain()
        writer.write(chunk)
        answer = await read_answer(reader)
        assert await reader.read() in (b"",), "the connection ends"
        writer.close()

    assert answer.status == 400 and not world.upstream.requests


async def test_header_bytes_that_are_no_utf8_arrive_as_sent(serve: Serve) -> None:
    answer_head = b"HTTP/1.1 200 OK\r\nX-Odd: \xe9\xff\r\nContent-Length: 0\r\n\r\n"
    async with canned(answer_head) as provider, serve(upstream=Upstreams(anthropic=provider.url)) as proxy:
        sent = request_bytes(f"GET /t/{TOKEN}/v1/x", port=proxy.port).replace(
            b"\r\n\r\n", b"\r\nX-Odd: \xe9\xff\r\n\r\n"
        )
        answer = await exchange(proxy.port, sent)

    assert provider.header_lines() == [b"X-Odd: \xe9\xff"]
    assert [value.encode("utf-8", "surrogateescape") for _, value in answer.end_to_end] == [b"\xe9\xff", b"0"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_the_clients_to_follow(serve: Serve, status: int) -> None:
    async with canned(EMPTY) as elsewhere:
        head = f"HTTP/1.1 {status} Moved\r\nLocation: {elsewhere.url}/x\r\nContent-Length: 0\r\n\r\n".encode()
        async with canned(head) as provider, serve(upstream=Upstreams(anthropic=provider.url)) as proxy:
            answer = await proxy.send("POST /v1/messages", f"Authorization: Bearer {'k' * 20}", body=b"{}")

    assert (answer.status, answer.header("location")) == (status, f"{elsewhere.url}/x")
    assert not elsewhere.heads, "the key went where only the configuration may send it"


async def test_a_target_with_a_foreign_host_changes_nothing(world: World, proxy: Served) -> None:
    """T13: neither path nor query names another address."""
    for target in ("//evil.example/v1/messages", "/@evil.example/", "/v1/x?url=http://evil.example", "/\\evil.example"):
        await proxy.send(f"GET {target}")

    assert world.upstream.requests[0].target == "//evil.example/v1/messages"
    assert len(world.upstream.requests) == 4


@pytest.mark.parametrize("line", ["GET /v1/responses", "GET /v1/realtime?model=a", "POST /v1/messages"])
async def test_a_websocket_is_refused_within_a_moment_wherever_it_is_asked(
    world: World, proxy: Served, line: str
) -> None:
    async with asyncio.timeout(1):
        answer = await proxy.send(line, "Connection: keep-alive, Upgrade", "Upgrade: WebSocket", "Sec-WebSocket-Key: A")

    assert answer.status == 426 and not world.upstream.requests
