"""Every route, framing, coding, answer and error, both ways as a direct connection, memory off and on (I8)."""

import asyncio
import json

import pytest

from bead.bus.transport import Transport
from bead.settings import Upstreams
from bead_proxy.codings import codings_of, pack, unpack
from tests.contract.proxy.bus import FakeStore, fact
from tests.contract.proxy.canned import canned
from tests.contract.proxy.conftest import TOKEN, Serve, World
from tests.contract.proxy.http import RawAnswer, exchange, request_bytes
from tests.fakes.replies import Raw, Reply

QUESTION = "port of the harbour?"
MESSAGES = [{"role": "user", "content": QUESTION}]
BODIES = {
    "/v1/messages?beta=true": {"model": "a", "max_tokens": 9, "messages": MESSAGES},
    "/anthropic/v1/messages": {"model": "a", "max_tokens": 9, "messages": MESSAGES},
    "/v1/chat/completions": {"model": "a", "messages": MESSAGES},
    "/openai/v1/chat/completions": {"model": "a", "messages": MESSAGES},
    "/v1/responses": {"model": "a", "input": [{"type": "message", "role": "user", "content": QUESTION}]},
    "/v1beta/models/a:generateContent": {"contents": [{"role": "user", "parts": [{"text": QUESTION}]}]},
    "/gemini/v1beta/models/a:streamGenerateContent?alt=sse": {
        "contents": [{"role": "user", "parts": [{"text": QUESTION}]}]
    },
    "/v1/embeddings": {"model": "a", "input": QUESTION},
    "/v1/models/a:countTokens": {"contents": []},
}
MODEL_ROUTES = [target for target in BODIES if "embeddings" not in target and "count" not in target]
CODINGS = ["", "gzip", "deflate", "br", "zstd", "gzip, br", "compress"]
JSON_TYPE = (("Content-Type", "application/json"),)
REPLIES: dict[str, Reply] = {
    "a document": Raw(200, (*JSON_TYPE, ("Content-Length", "2")), (b"{}",)),
    "events": Raw(200, (("Content-Type", "text/event-stream"),), (b"data: {}\n", b"\ndata: [DO", b"NE]\n\n")),
    "packed events": Raw(
        200, (("Content-Type", "text/event-stream"), ("Content-Encoding", "zstd")), (pack(b"data: {}\n\n", ("zstd",)),)
    ),
    "an unknown coding": Raw(200, (*JSON_TYPE, ("Content-Encoding", "exi")), (b"\x00\x01",)),
    **{
        f"error {status}": Raw(status, (*JSON_TYPE, ("Retry-After", "3"), ("X-Odd", "a, b")), (b'{"error":{}}',))
        for status in (400, 401, 403, 404, 413, 429, 500, 503, 529)
    },
}


@pytest.fixture
def store() -> Transport:
    """Nothing here is about what a store does."""
    return FakeStore()


def sent(target: str, port: int, coding: str, *, prefix: str = "", is_chunked: bool = False) -> bytes:
    """The whole request."""
    body = json.dumps(BODIES[target]).encode()
    packed = b"\x1f\x9d\x90" if coding == "compress" else pack(body, codings_of(coding))
    headers = ["Content-Type: application/json", "X-Custom: a  b", *([f"Content-Encoding: {coding}"] if coding else [])]
    if not is_chunked:
        return request_bytes(f"POST {prefix}{target}", *headers, body=packed, port=port)
    head = request_bytes(f"POST {prefix}{target}", *headers, "Transfer-Encoding: chunked", port=port)
    pieces = [packed[at : at + 7] for at in range(0, len(packed), 7)]
    return head + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


async def both(world: World, port: int, target: str, coding: str, reply: Reply) -> tuple[RawAnswer, RawAnswer]:
    """The answer to one request sent directly, and through the proxy."""
    world.upstream.enqueue(reply, reply)
    direct_port = int(world.upstream.url.rsplit(":", 1)[1])
    plain = target
    for name in ("/anthropic", "/openai", "/gemini"):
        plain = plain.removeprefix(name)
    direct = await exchange(direct_port, sent(target, direct_port, coding).replace(target.encode(), plain.encode(), 1))
    return direct, await exchange(port, sent(target, port, coding, prefix=f"/t/{TOKEN}"))


def without_date(answer: RawAnswer) -> list[tuple[str, str]]:
    return [(name, value) for name, value in answer.end_to_end if name.lower() != "date"]


@pytest.mark.parametrize("target", BODIES)
async def test_every_route_and_coding_both_ways_with_memory_off(world: World, serve: Serve, target: str) -> None:
    async with serve(inject="off") as proxy:
        for coding in CODINGS:
            direct, relayed = await both(world, proxy.port, target, coding, REPLIES["a document"])
            one, other = world.upstream.requests[-2:]

            assert (other.method, other.target, other.body) == (one.method, one.target, one.body), coding
            assert other.headers[1:] == one.headers[1:], coding
            assert (relayed.status_line, relayed.body) == (direct.status_line, direct.body)
            assert without_date(relayed) == without_date(direct)


@pytest.mark.parametrize("target", BODIES)
async def test_every_answer_and_error_comes_back_as_it_was_given(world: World, serve: Serve, target: str) -> None:
    world.index.recalled = [fact("r", "port is 5433")]
    async with serve() as proxy:
        for name, reply in REPLIES.items():
            direct, relayed = await both(world, proxy.port, target, "", reply)

            assert (relayed.status_line, relayed.body) == (direct.status_line, direct.body), name
            assert without_date(relayed) == without_date(direct), name


@pytest.mark.parametrize("target", MODEL_ROUTES)
@pytest.mark.parametrize("coding", ["", "gzip", "zstd"])
@pytest.mark.parametrize("is_chunked", [False, True], ids=["whole", "chunked"])
async def test_what_is_added_can_be_taken_out_again(
    world: World, serve: Serve, target: str, coding: str, is_chunked: bool
) -> None:
    """The bytes of the original are all there, in their order, around what was put in."""
    world.index.recalled = [fact("r", "port is 5433")]
    world.upstream.enqueue(REPLIES["a document"])
    async with serve() as proxy:
        await exchange(proxy.port, sent(target, proxy.port, coding, prefix=f"/t/{TOKEN}", is_chunked=is_chunked))

    [request] = world.upstream.requests
    given = unpack(request.body, codings_of(coding), 1 << 20)
    rest = iter(given)
    assert b"5433" in given and json.loads(given)
    assert all(byte in rest for byte in json.dumps(BODIES[target]).encode())


@pytest.mark.parametrize(
    "torn",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc",
    ],
    ids=["short", "a malformed chunk", "half a chunk"],
)
async def test_an_answer_that_breaks_off_breaks_off_for_the_client(serve: Serve, torn: bytes) -> None:
    async with canned(torn) as provider, serve(upstream=Upstreams(anthropic=provider.url)) as proxy:
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            answer = await proxy.send("GET /v1/x")
            if answer.status == 502:  # it was broken before anything of it was passed on
                raise ConnectionError


@pytest.mark.parametrize("answer", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nBroken"])
async def test_a_provider_that_speaks_no_http_is_a_502(serve: Serve, answer: bytes) -> None:
    async with canned(answer) as provider, serve(upstream=Upstreams(anthropic=provider.url)) as proxy:
        assert (await proxy.send("POST /v1/messages", body=b"{}")).status == 502
