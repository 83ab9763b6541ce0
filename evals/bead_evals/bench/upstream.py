"""A model provider that costs almost nothing: reads a body, answers a stream of events in the Anthropic format.

`python -m bead_evals.bench.upstream --events 50 --spacing-ms 1` prints `{"port": N}` and serves until its standard
input closes. The body lands in one buffer that is used again, and nothing looks into it before the first event is out,
so that the time a direct client sees is the floor. Only bodies with a Content-Length are read.

What the upstream saw is told in the stream itself, in an SSE comment before the last event:
`: bench bytes=RECEIVED blocks=N`, where N counts `<bead-memory` in the body. Every text delta carries the moment it was
written (`t=` and CLOCK_MONOTONIC in ns), which all processes of one machine share.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

from bead_evals.bench.serving import run_until_stdin_closes

MEMORY_MARK = b"<bead-memory"
_FIRST_BUFFER_BYTES = 1 << 18

_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n"
    b"request-id: req_bench\r\ntransfer-encoding: chunked\r\n\r\n"
)
_START = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_bench","type":"message",'
    b'"role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"stop_sequence":null,'
    b'"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}\n\n'
    b'event: content_block_start\ndata: {"type":"content_block_start","index":0,'
    b'"content_block":{"type":"text","text":""}}\n\n'
)
_STOP = (
    b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
    b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},'
    b'"usage":{"output_tokens":50}}\n\n'
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
)


class Connection(asyncio.BufferedProtocol):
    """One keep-alive connection: a request at a time, its body in `_buffer[: _filled]`."""

    def __init__(self, events: int, spacing_s: float, spare: list[bytearray]) -> None:
        self._events = events
        self._spacing_s = spacing_s
        self._spare = spare
        self._buffer = spare.pop() if spare else bytearray(_FIRST_BUFFER_BYTES)
        self._filled = 0
        self._body_at = 0
        self._end_at = 0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are no subclass of asyncio's, so this cannot be asserted.
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        # A proxy keeps its connections and with them warm buffers; a client that comes anew must not pay for pages.
        self._spare.append(self._buffer)

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(self._buffer)[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        self._filled += nbytes
        if self._end_at == 0:
            self._read_head()
        if self._end_at and self._filled >= self._end_at:
            self._answer()

    def _read_head(self) -> None:
        """Learn where the body begins and ends, and make room for all of it at once."""
        body_at = self._buffer.find(b"\r\n\r\n", 0, self._filled) + 4
        if body_at < 4:
            return
        fields = dict(
            (name.strip().lower(), value.strip())
            for name, _, value in (line.partition(b":") for line in bytes(self._buffer[:body_at]).split(b"\r\n")[1:])
        )
        if b"chunked" in fields.get(b"transfer-encoding", b""):
            self._refuse(b"411 Length Required")
            return
        self._body_at = body_at
        self._end_at = body_at + int(fields.get(b"content-length", b"0"))
        if self._end_at >= len(self._buffer):
            # A new object: uvloop may still hold a view of the old one, which forbids resizing it.
            larger = bytearray(self._end_at + 65536)
            larger[: self._filled] = memoryview(self._buffer)[: self._filled]
            self._buffer = larger

    def _refuse(self, status: bytes) -> None:
        if self._transport:
            self._transport.write(b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            self._transport.close()

    def _answer(self) -> None:
        """Send the head with the first event, only then look at the body."""
        self._write(_HEAD + _chunk(_START + _delta()))
        received = self._end_at - self._body_at
        blocks = self._buffer.count(MEMORY_MARK, self._body_at, self._end_at)
        self._filled = self._body_at = self._end_at = 0
        self._later(self._events - 1, b": bench bytes=%d blocks=%d\n\n" % (received, blocks))

    def _later(self, remaining: int, note: bytes) -> None:
        asyncio.get_running_loop().call_later(self._spacing_s, self._step, remaining, note)

    def _step(self, remaining: int, note: bytes) -> None:
        if remaining <= 0:
            self._write(_chunk(note + _STOP) + b"0\r\n\r\n")
            return
        self._write(_chunk(_delta()))
        self._later(remaining - 1, note)

    def _write(self, data: bytes) -> None:
        if self._transport:
            self._transport.write(data)


def _delta() -> bytes:
    return (
        b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
        b'"delta":{"type":"text_delta","text":"t=%019d "}}\n\n' % time.monotonic_ns()
    )


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


@asynccontextmanager
async def _listening(port: int, events: int, spacing_s: float) -> AsyncIterator[int]:
    loop = asyncio.get_running_loop()
    spare: list[bytearray] = []
    server = await loop.create_server(lambda: Connection(events, spacing_s, spare), "127.0.0.1", port)
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bead_evals.bench.upstream", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: one of the kernel's choice")
    parser.add_argument("--events", type=int, default=50)
    parser.add_argument("--spacing-ms", type=float, default=1.0)
    args = parser.parse_args(argv)
    run_until_stdin_closes(_listening(args.port, args.events, args.spacing_ms / 1000))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
