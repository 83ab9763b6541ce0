"""Bytes and headers both ways are those of a direct connection: I8, field cases B10, B14 and B26."""

import asyncio
import gzip
import json
import zlib

import pytest

from bead.settings import Upstreams
from tests.contract.proxy.canned import canned
from tests.contract.proxy.conftest import TOKEN, Serve, Served, World
from tests.contract.proxy.http import RawAnswer, exchange, request_bytes
from tests.fakes.replies import Answer, Failure, Raw, Reply

ASK = b'{"model":"model-a","max_tokens":8,"messages":[{"role":"user","content":"x"}]}'
STREAM = b'{"model":"model-a","stream":true,"max_tokens":8,"messages":[{"role":"user","content":"hi"}]}'
JSON = "Content-Type: application/json"
BODYLESS = {"HEAD", "GET", "OPTIONS", "DELETE"}

REQUESTS = [
    "POST /v1/messages?beta=true",
    "POST /v1/messages",
    "POST /v1/messages/count_tokens?beta=true",
    "POST /v1/messages/batches",
    "GET /v1/models?limit=1000",
    "HEAD /",
    "HEAD /api/hello",
    "POST /api/event_logging/batch",
    "POST /v1/messages/",
    "POST //v1/messages",
    "OPTIONS /v1/messages",
    "GET /v1/files/a%2Fb%20c?q=%C3%A4+x&q=2&empty=",
    "PUT /v1/files/1",
    "PATCH /v1/files/1",
    "DELETE /v1/files/1",
    "PROPFIND /v1/files",
]

REPLIES: list[Reply] = [
    Answer("hello there"),
    Answer("packed", compression="gzip"),
    Answer("deflated", compression="deflate"),
    Failure(400),
    Failure(401),
    Failure(529, headers=(("retry-after", "3"), ("x-should-retry", "true"))),
    Raw(200, (("Content-Type", "text/event-stream"), ("Content-Encoding", "br")), (b"\x8b\x01\x80", b"not br\x03")),
    Raw(
        400, (("Content-Encoding", "gzip"), ("Content-Type", "application/json")), (gzip.compress(b'{"type":"error"}'),)
    ),
    Raw(200, (("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("X-Odd-CASE", "v"), ("Content-Length", "2")), (b"ok",)),
    Raw(307, (("Location", "/elsewhere"), ("Content-Length", "0"))),
    Raw(204, ()),
    Raw(200, (("Content-Type", "application/zip"), ("Content-Length", "300000")), (b"\x00\xff" * 75_000,) * 2),
]


async def both_ways(
    world: World, proxy: Served, line: str, *headers: str, body: bytes = b""
) -> tuple[RawAnswer, RawAnswer]:
    """The answer to one request sent directly, and through the proxy."""
    is_head = line.startswith("HEAD ")
    direct_port = int(world.upstream.url.rsplit(":", 1)[1])
    direct = await exchange(direct_port, request_bytes(line, *headers, body=body, port=direct_port), is_head=is_head)
    return direct, await proxy.send(line, *headers, body=body, is_head=is_head)


def assert_same_request(world: World) -> None:
    direct, relayed = world.upstream.requests[-2:]
    assert (relayed.method, relayed.target, relayed.body) == (direct.method, direct.target, direct.body)
    assert _without_host(relayed.headers) == _without_host(direct.headers)


def _without_host(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers if name.lower() != "host"]


def assert_same_answer(direct: RawAnswer, relayed: RawAnswer) -> None:
    assert relayed.status_line == direct.status_line
    assert without_numbers(relayed.end_to_end) == without_numbers(direct.end_to_end)
    assert numbers_alike(relayed.body) == numbers_alike(direct.body)


def without_numbers(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers if name.lower() not in ("date", "request-id")]


def numbers_alike(body: bytes) -> bytes:
    """The fake numbers its answers; two answers to one question differ in that."""
    for direct, relayed in ((b"_0001", b"_0002"),):
        body = body.replace(direct, relayed)
    return body


@pytest.mark.parametrize("line", REQUESTS)
async def test_any_route_arrives_and_answers_as_if_direct(world: World, serve: Serve, line: str) -> None:
    body = b"" if line.split()[0] in BODYLESS else ASK
    async with serve(inject="off") as proxy:
        headers = ["X-MiXed-Case: a  b", "anthropic-beta: one", *([JSON] if body else []), "anthropic-beta: two"]
        direct, relayed = await both_ways(world, proxy, line, *headers, body=body)

    assert_same_request(world)
    assert_same_answer(direct, relayed)


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: type(reply).__name__)
@pytest.mark.parametrize("body", [ASK, STREAM], ids=["whole", "streamed"])
async def test_any_answer_comes_back_as_if_direct(world: World, proxy: Served, reply: Reply, body: bytes) -> None:
    world.upstream.enqueue(reply, reply)

    direct, relayed = await both_ways(world, proxy, "POST /v1/messages", JSON, "Accept-Encoding: gzip, br", body=body)

    assert_same_request(world)
    assert relayed.status_line == direct.status_line
    assert without_numbers(relayed.end_to_end) == without_numbers(direct.end_to_end)
    if not isinstance(reply, Answer) or not reply.compression:
        assert numbers_alike(relayed.body) == numbers_alike(direct.body)
    else:
        unpacked = [zlib.decompress(answer.body, wbits=47) for answer in (direct, relayed)]
        assert numbers_alike(unpacked[0]) == numbers_alike(unpacked[1])


async def test_login_headers_arrive_as_sent(world: World, proxy: Served) -> None:
    """B10: two beta lines, a bearer token, SDK headers; ours and those of the connection go no further."""
    login = f"sample-oauth-{'x' * 20}"
    headers = [
        f"Authorization: Bearer {login}",
        "anthropic-version: 2023-06-01",
        "anthropic-beta: oauth-sample-1,tools-sample-2",
        "anthropic-beta: context-sample-3",
        "X-Bead-Session: s1",
        "x-stainless-lang: js",
        "User-Agent: sample-cli/1.0 (external, cli)",
        "Accept-Encoding: gzip, br",
        "Connection: keep-alive, X-Hop",
        "X-Hop: 1",
        "Keep-Alive: timeout=5",
        "TE: trailers",
        JSON,
    ]

    await proxy.send("POST /v1/messages?beta=true", *headers, body=ASK)

    [request] = world.upstream.requests
    wanted = [tuple(line.split(": ", 1)) for line in headers]
    dropped = {"X-Bead-Session", "Connection", "X-Hop", "Keep-Alive", "TE"}
    assert _without_host(request.headers) == [
        *[pair for pair in wanted if pair[0] not in dropped],
        ("Content-Length", str(len(ASK))),
    ]
    assert request.header("host") == world.upstream.url.removeprefix("http://")


@pytest.mark.parametrize(
    "target", ["/v1/%41%zz?a=b%20c&d", "/v1/a;b=c,d/../e", "//v1/x", "/v1/%E4?q=a+b?c", "/v1/a|b^c?d={e}"]
)
async def test_the_target_is_not_tidied(serve: Serve, target: str) -> None:
    async with (
        canned(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as provider,
        serve(upstream=Upstreams(anthropic=provider.url)) as proxy,
    ):
        await proxy.send(f"GET {target}")

    assert provider.request_line() == f"GET {target} HTTP/1.1".encode()


async def test_header_values_keep_their_bytes(serve: Serve) -> None:
    head = b"HTTP/1.1 200 Fine by me\r\nX-Utf8: caf\xc3\xa9\r\nx-lower: 1\r\nContent-Length: 0\r\n\r\n"
    async with (
        canned(head) as provider,
        serve(upstream=Upstreams(anthropic=provider.url)) as proxy,
    ):
        answer = await proxy.send("GET /v1/models", "x-a:  spaces  inside ", "X-Utf8: Zoë")

    assert provider.header_lines() == [b"x-a: spaces  inside", "X-Utf8: Zoë".encode()]
    assert answer.status_line == "HTTP/1.1 200 Fine by me"
    assert answer.end_to_end == [("X-Utf8", "café"), ("x-lower", "1"), ("Content-Length", "0")]


async def test_an_answer_without_headers_gets_none(serve: Serve) -> None:
    async with (
        canned(b"HTTP/1.1 200 OK\r\n\r\n", b"until the end") as provider,
        serve(upstream=Upstreams(anthropic=provider.url)) as proxy,
    ):
        answer = await proxy.send("GET /v1/models")

    assert answer.end_to_end == []
    assert answer.body == b"until the end"


async def test_a_request_with_few_headers_gets_no_others(serve: Serve) -> None:
    async with (
        canned(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as provider,
        serve(upstream=Upstreams(anthropic=provider.url)) as proxy,
    ):
        await proxy.send("POST /v1/messages", body=ASK)

    assert provider.header_lines() == [f"Content-Length: {len(ASK)}".encode()]


async def test_an_answer_cut_short_is_cut_short_for_the_client(serve: Serve) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with (
        canned(head, b"5\r\nhello\r\n") as provider,
        serve(upstream=Upstreams(anthropic=provider.url)) as proxy,
    ):
        with pytest.raises(asyncio.IncompleteReadError):
            await proxy.send("POST /v1/messages", body=ASK)


async def test_a_chunked_upload_arrives_whole(world: World, proxy: Served) -> None:
    head = request_bytes(f"POST /t/{TOKEN}/v1/files", "Transfer-Encoding: chunked", port=proxy.port)

    answer = await exchange(proxy.port, head + b"3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n")

    assert answer.status == 404, "the fake's own answer"
    assert world.upstream.requests[0].body == b"abcdefg"


async def test_a_packed_request_is_not_changed(world: World, proxy: Served) -> None:
    packed = gzip.compress(ASK)

    await proxy.ask(packed, "Content-Encoding: gzip")

    [request] = world.upstream.requests
    assert (request.body, request.header("content-encoding")) == (packed, "gzip")


async def test_a_prefix_of_the_upstream_stands_before_the_path(world: World, serve: Serve) -> None:
    async with serve(upstream=Upstreams(anthropic=f"{world.upstream.url}/gateway/")) as proxy:
        await proxy.ask(ASK)

    assert world.upstream.requests[0].target == "/gateway/v1/messages?beta=true"


async def test_a_missing_count_route_stays_missing(world: World, proxy: Served) -> None:
    """B14: a made-up count would switch off the harness's compaction."""
    world.upstream.answer_with(lambda request: Failure(404))
    sent = json.dumps({"model": "a", "messages": [{"role": "user", "content": "x"}]}).encode()

    answer = await proxy.send("POST /v1/messages/count_tokens?beta=true", JSON, body=sent)

    assert answer.status == 404
    assert world.upstream.requests[0].body == sent
    assert not world.store_bus.paths and not world.index_bus.paths


async def test_local_routes_never_reach_the_provider(world: World, proxy: Served) -> None:
    answers = [
        await proxy.send(f"{line}") for line in ("GET /bead/health", "GET /bead/metrics", "POST /bead/x", "GET /bead")
    ]

    assert [answer.status for answer in answers] == [200, 200, 404, 404]
    health = json.loads(answers[0].body)
    assert (health["name"], health["ready"], health["home_id"], health["degraded"]) == ("proxy", True, "home-1", [])
    assert b"bead_proxy_requests_total" in answers[1].body
    assert not world.upstream.requests


async def test_expect_continue_is_answered(world: World, proxy: Served) -> None:
    """B33: the client sends its body only after the interim answer."""
    head = request_bytes(
        f"POST /t/{TOKEN}/v1/messages", "Expect: 100-continue", f"Content-Length: {len(ASK)}", port=proxy.port
    )
    async with asyncio.timeout(5):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(head)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
        writer.write(ASK)
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()

    assert world.upstream.requests[0].body == ASK
    assert world.upstream.requests[0].header("expect") is None


async def test_a_websocket_is_refused_at_once(world: World, proxy: Served) -> None:
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAA")

    answer = await proxy.send("GET /v1/responses", *upgrade)

    assert answer.status == 426 and not world.upstream.requests
