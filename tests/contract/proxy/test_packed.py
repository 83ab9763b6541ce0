"""Packed requests and answers: memory goes in, what came is untouched, and what was said is captured in clear."""

import gzip
import json
import zlib

import pytest

from bead.bus.transport import Transport
from bead_proxy.codings import codings_of, pack, unpack
from tests.contract.proxy.bus import FakeStore, fact
from tests.contract.proxy.conftest import MESSAGES, Serve, Served, World
from tests.fakes.replies import Raw

TEXT = "which port?"
CODINGS = ["gzip", "deflate", "br", "zstd", "gzip, zstd", "br,gzip", "x-gzip", "zstd, identity"]
LARGE = 1 << 20
SAID = Raw(200, (("Content-Type", "application/json"),), (b"{}",))


@pytest.fixture
def store() -> Transport:
    """Nothing here is about what a store does."""
    return FakeStore()


def body(text: str = TEXT) -> bytes:
    return json.dumps({"model": "a", "messages": [{"role": "user", "content": text}]}).encode()


@pytest.mark.parametrize("coding", CODINGS)
async def test_memory_goes_into_a_packed_request_which_stays_packed(world: World, proxy: Served, coding: str) -> None:
    world.index.recalled = [fact("r", "port is 5433")]
    codings = codings_of(coding)
    packed = pack(body(), codings)
    world.upstream.enqueue(SAID)

    answer = await proxy.ask(packed, f"Content-Encoding: {coding}")

    [request] = world.upstream.requests
    opened = unpack(request.body, codings, 1 << 20)
    assert answer.status == 200 and b"5433" in opened
    assert request.header("content-encoding") == coding
    assert request.header("content-length") == str(len(request.body))
    assert (await world.turns())[0].text == TEXT


@pytest.mark.parametrize("coding", CODINGS)
async def test_a_packed_request_that_nothing_is_added_to_goes_on_as_it_came(
    world: World, proxy: Served, coding: str
) -> None:
    packed = pack(body(), codings_of(coding))
    world.upstream.enqueue(SAID)

    await proxy.ask(packed, f"Content-Encoding: {coding}")

    assert world.forwarded() == [packed]


async def test_a_large_packed_request_is_opened_too(world: World, serve: Serve) -> None:
    world.index.recalled = [fact("r", "port is 5433")]
    large = body(TEXT + "x" * LARGE)
    world.upstream.enqueue(SAID)

    async with serve(memory_timeout_ms=10_000) as proxy:
        await proxy.ask(pack(large, ("zstd",)), "Content-Encoding: zstd")

    assert b"5433" in unpack(world.forwarded()[0], ("zstd",), 2 * LARGE)


UNREAD = {
    "unknown coding": ("compress", b"\x1f\x9d\x90", "content coding not known"),
    "a bomb": ("gzip", gzip.compress(bytes(3 << 20)), "too large when unpacked"),
    "a bomb in a bomb": ("zstd, gzip", pack(bytes(64 << 20), ("zstd", "gzip")), "too large when unpacked"),
    "cut short": ("gzip", gzip.compress(body())[:-4], "does not unpack"),
    "not what it says": ("br", body(), "does not unpack"),
}


@pytest.mark.parametrize(("coding", "sent", "reason"), UNREAD.values(), ids=UNREAD)
async def test_what_cannot_be_opened_goes_on_as_it_came_and_is_counted(
    world: World, serve: Serve, coding: str, sent: bytes, reason: str
) -> None:
    world.upstream.enqueue(SAID)
    async with serve(inject_body_limit_mb=1) as proxy:
        answer = await proxy.ask(sent, f"Content-Encoding: {coding}")
        metrics = (await proxy.send("GET /bead/metrics")).body.decode()

    [request] = world.upstream.requests
    assert (request.body, request.header("content-encoding")) == (sent, coding)
    assert answer.status == 200 and not world.index.asked
    assert f'bead_proxy_unread_total{{reason="{reason}"}} 1.0' in metrics


EVENTS = (
    b'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":3}}}\n\n'
    b'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text",'
    b'"text":""}}\n\n'
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta",'
    b'"text":"said in clear"}}\n\n'
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
)


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("step", [1, 1 << 20])
async def test_a_packed_answer_arrives_as_sent_and_is_captured_in_clear(
    world: World, serve: Serve, coding: str, step: int
) -> None:
    packed = pack(EVENTS, codings_of(coding))
    headers = (("Content-Type", "text/event-stream"), ("Content-Encoding", coding))
    world.upstream.enqueue(Raw(200, headers, tuple(packed[at : at + step] for at in range(0, len(packed), step))))

    async with serve() as proxy:
        answer = await proxy.ask(body())

    assert (answer.body, answer.header("content-encoding")) == (packed, coding)
    assert [turn.text for turn in await world.turns()] == [TEXT, "said in clear"]


async def test_an_answer_that_does_not_unpack_arrives_all_the_same(world: World, serve: Serve) -> None:
    packed = zlib.compress(EVENTS)
    broken = packed[:-30] + bytes(30)
    headers = (("Content-Type", "text/event-stream"), ("Content-Encoding", "deflate"))
    world.upstream.enqueue(Raw(200, headers, (broken,)))

    async with serve() as proxy:
        answer = await proxy.send(f"POST {MESSAGES}", "X-Bead-Session: s1", body=body())

    assert answer.body == broken
    assert all(turn.complete is False for turn in (await world.turns())[1:])


@pytest.mark.parametrize("step", ["unpack", "pack"])
async def test_a_library_that_breaks_costs_memory_and_not_the_request(
    world: World, proxy: Served, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    world.index.recalled = [fact("r", "port is 5433")]
    packed = pack(body(), codings_of("zstd"))
    world.upstream.enqueue(SAID)

    def broken(*given: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr(f"bead_proxy.packed.{step}", broken)
    answer = await proxy.ask(packed, "Content-Encoding: zstd")

    assert answer.status == 200
    assert world.forwarded() == [packed]
