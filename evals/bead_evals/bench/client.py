"""The load client: sends conversations, notes when bytes arrive, and leaves all arithmetic to others.

A process of its own (`python -m bead_evals.bench.client`): one `Slice` as a JSON line on standard input, one
`SliceAnswer` on standard output. Bodies are made before the clock starts and answers are read after it has stopped, so
the client costs every target the same. The clock stops at the first event, not at the first header byte: a proxy that
answers with a head before it has asked anybody gains nothing.
"""

import asyncio
import gc
import re
import sys
import time
from typing import cast
from urllib.parse import urlsplit

import msgspec
import uvloop

from bead_evals.bench.bodies import conversation

EXCHANGE_LIMIT_S = 120.0

_STAMP = re.compile(rb"t=(\d{19}) ")
_NOTE = re.compile(rb": bench bytes=(\d+) blocks=(\d+)\n")
_END_OF_CHUNKS = b"\r\n0\r\n\r\n"


class Slice(msgspec.Struct, frozen=True):
    """One target's part of one round. Lane n sends the conversation with nonce `nonce + n`, one request at a time."""

    url: str
    size_bytes: int
    turns: int
    lanes: int
    nonce: int


class Sample(msgspec.Struct, frozen=True):
    """What one request showed. Times in milliseconds."""

    turn: int
    first_event_ms: float
    sent_bytes: int
    received_bytes: int | None
    """Body bytes that reached the upstream; None when the target rewrote the stream and lost the upstream's note."""
    memory_blocks: int | None
    transit_ms: list[float]
    """Per event but the first: from the upstream's write to arrival here."""


class SliceAnswer(msgspec.Struct, frozen=True):
    """The samples of a slice, or the reason why there are none."""

    samples: list[Sample]
    error: str | None = None


class ExchangeFailed(Exception):
    """A target closed the connection, or answered something else than 200."""


class Exchange:
    """The pieces of one answer with their arrival times, until the answer is complete."""

    def __init__(self) -> None:
        self.pieces: list[tuple[int, bytes]] = []
        self._head = b""
        self._tail = b""
        self._body_left: int | None = None
        self._is_chunked = False

    def add(self, now_ns: int, data: bytes) -> bool:
        """Take one piece; True once the answer is complete."""
        self.pieces.append((now_ns, data))
        if not self._is_chunked and self._body_left is None:
            self._head += data
            end = self._head.find(b"\r\n\r\n")
            if end < 0:
                return False
            head, data = self._head[:end].lower(), self._head[end + 2 :]
            length = re.search(rb"\r\ncontent-length: *(\d+)", head)
            self._is_chunked = length is None
            self._body_left = int(length[1]) + 2 if length else None
        if self._body_left is not None:
            self._body_left -= len(data)
            return self._body_left <= 0
        self._tail = (self._tail + data)[-len(_END_OF_CHUNKS) :]
        return self._tail == _END_OF_CHUNKS

    def sample(self, turn: int, started_ns: int, sent_bytes: int) -> Sample:
        """Read the finished answer. Raises ExchangeFailed unless it is a stream with status 200."""
        answer = b"".join(data for _, data in self.pieces)
        if not answer.startswith(b"HTTP/1.1 200"):
            raise ExchangeFailed(f"answered {answer[9:12].decode(errors='replace')} instead of 200")
        first = answer.find(b"data:")
        if first < 0:
            raise ExchangeFailed("answered 200 without an event")
        note = _NOTE.search(answer)
        return Sample(
            turn=turn,
            first_event_ms=(self._arrival_ns(first) - started_ns) / 1e6,
            sent_bytes=sent_bytes,
            received_bytes=int(note[1]) if note else None,
            memory_blocks=int(note[2]) if note else None,
            transit_ms=[(self._arrival_ns(m.end() - 1) - int(m[1])) / 1e6 for m in _STAMP.finditer(answer)][1:],
        )

    def _arrival_ns(self, offset: int) -> int:
        """When the byte at `offset` of the answer arrived."""
        for now_ns, data in self.pieces:
            offset -= len(data)
            if offset < 0:
                return now_ns
        raise AssertionError("the offset lies inside the answer")


class Lane(asyncio.Protocol):
    """One keep-alive connection, one exchange at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._exchange: Exchange | None = None
        self._done: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are no subclass of asyncio's, so this cannot be asserted.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        now_ns = time.monotonic_ns()
        if self._exchange and self._exchange.add(now_ns, data) and self._done and not self._done.done():
            self._done.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._done and not self._done.done():
            self._done.set_exception(ExchangeFailed("closed the connection before the answer was complete"))

    async def send(self, request: bytes) -> tuple[int, Exchange]:
        """Send the request and wait for its whole answer: the moment of sending (ns) and what came."""
        if self._transport is None:
            raise ExchangeFailed("closed the connection between two requests")
        self._exchange = Exchange()
        self._done = asyncio.get_running_loop().create_future()
        started_ns = time.monotonic_ns()
        self._transport.write(request)
        async with asyncio.timeout(EXCHANGE_LIMIT_S):
            await self._done
        return started_ns, self._exchange

    def close(self) -> None:
        if self._transport:
            self._transport.close()


async def run_slice(task: Slice) -> list[Sample]:
    """All lanes of a slice at once; the first failure ends it."""
    url = urlsplit(task.url)
    assert url.hostname and url.port, "a target's URL names its host and port"
    requests = [_requests(task, lane) for lane in range(task.lanes)]
    lanes: list[Lane] = []
    for _ in range(task.lanes):
        _, lane = await asyncio.get_running_loop().create_connection(Lane, url.hostname, url.port)
        lanes.append(lane)

    async def drive(lane: Lane, bodies: list[tuple[int, bytes]]) -> list[tuple[int, int, int, Exchange]]:
        return [(turn, size, *(await lane.send(request))) for turn, (size, request) in enumerate(bodies)]

    try:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(drive(lane, bodies)) for lane, bodies in zip(lanes, requests, strict=True)]
    finally:
        for lane in lanes:
            lane.close()
    return [
        exchange.sample(turn, started_ns, size)
        for task_done in running
        for turn, size, started_ns, exchange in task_done.result()
    ]


def _requests(task: Slice, lane: int) -> list[tuple[int, bytes]]:
    """Each turn's body size and its complete request, head included, as one piece of memory."""
    url = urlsplit(task.url)
    talk = conversation(task.size_bytes, task.turns, task.nonce + lane)
    path = f"{url.path}?{url.query}" if url.query else url.path
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {url.netloc}\r\nAccept: application/json\r\nContent-Type: application/json\r\n"
        f"User-Agent: claude-cli/2.1.332 (external, cli)\r\nX-Claude-Code-Session-Id: {talk.session_id}\r\n"
        "X-Stainless-Lang: js\r\nX-Stainless-Retry-Count: 0\r\nX-Stainless-Timeout: 600\r\nx-app: cli\r\n"
        "anthropic-beta: interleaved-thinking-2025-05-14\r\nanthropic-version: 2023-06-01\r\nx-api-key: bench\r\n"
        "Accept-Encoding: gzip, deflate, br, zstd\r\nConnection: keep-alive\r\n"
    )
    return [(len(body), f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body) for body in talk.bodies]


def answer_line(runner: asyncio.Runner, line: bytes) -> SliceAnswer:
    """Run the slice that `line` asks for; trouble with the target becomes the answer's `error`."""
    answer = SliceAnswer([])
    try:
        answer = SliceAnswer(runner.run(run_slice(msgspec.json.decode(line, type=Slice))))
    except* (ExchangeFailed, OSError, TimeoutError) as trouble:
        reasons = {str(error) or type(error).__name__ for error in trouble.exceptions}
        answer = SliceAnswer([], error="; ".join(sorted(reasons)))
    return answer


def main() -> int:
    gc.disable()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        for line in sys.stdin.buffer:
            sys.stdout.buffer.write(msgspec.json.encode(answer_line(runner, line)) + b"\n")
            sys.stdout.buffer.flush()
            gc.collect()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
