"""A provider that answers every request with the same bytes, head included, written piece by piece."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager


class Canned:
    """What it saw: each request's head and body as they came off the socket."""

    def __init__(self) -> None:
        self.port = 0
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def header_lines(self) -> list[bytes]:
        """Header lines of the newest request, without Host and Connection."""
        lines = self.heads[-1].split(b"\r\n")[1:-2]
        return [line for line in lines if not line.lower().startswith((b"host:", b"connection:"))]

    def request_line(self) -> bytes:
        return self.heads[-1].split(b"\r\n")[0]


@asynccontextmanager
async def canned(*pieces: bytes, close: bool = True) -> AsyncIterator[Canned]:
    """Serve `pieces` on a free port; with `close` the connection ends after them."""
    seen = Canned()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            seen.heads.append(head)
            seen.bodies.append(await reader.readexactly(_length(head)))
            await _write(writer, pieces)
            if not close:
                await reader.read()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=1 << 20)
    seen.port = server.sockets[0].getsockname()[1]
    async with server:
        yield seen


async def _write(writer: asyncio.StreamWriter, pieces: Sequence[bytes]) -> None:
    for piece in pieces:
        writer.write(piece)
        await writer.drain()


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return 0
