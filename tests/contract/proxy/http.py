"""Requests over plain sockets, so that a test sees the bytes that a library would tidy up."""

import asyncio
from collections.abc import AsyncIterator
from typing import NamedTuple

TIMEOUT_S = 20
HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding"})


class RawAnswer(NamedTuple):
    """One answer: status line, headers in order, body without its chunking."""

    status_line: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def status(self) -> int:
        return int(self.status_line.split()[1])

    @property
    def end_to_end(self) -> list[tuple[str, str]]:
        """Headers but those of one connection."""
        return [(name, value) for name, value in self.headers if name.lower() not in HOP_BY_HOP]

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


def request_bytes(line: str, *headers: str, body: bytes = b"", port: int = 0) -> bytes:
    """One request with a Host for `port`; a body gets its Content-Length."""
    lines = [f"{line} HTTP/1.1", f"Host: 127.0.0.1:{port}", *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body


async def exchange(port: int, data: bytes, *, is_head: bool = False) -> RawAnswer:
    """Send `data` to `port` of 127.0.0.1 and read one answer."""
    async with asyncio.timeout(TIMEOUT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
        try:
            writer.write(data)
            return await read_answer(reader, is_head=is_head)
        finally:
            writer.close()


async def read_answer(reader: asyncio.StreamReader, *, is_head: bool = False) -> RawAnswer:
    """The next answer that is not an interim one."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("utf-8", "surrogateescape")
    status_line, *lines = head.strip("\r\n").split("\r\n")
    pairs = [line.split(":", 1) for line in lines]
    answer = RawAnswer(status_line, [(name, value.strip()) for name, value in pairs], b"")
    if 100 <= answer.status < 200:
        return await read_answer(reader, is_head=is_head)
    if is_head or answer.status in (204, 304):
        return answer
    if answer.header("transfer-encoding") == "chunked":
        return answer._replace(body=b"".join([chunk async for chunk in _chunks(reader)]))
    length = answer.header("content-length")
    return answer._replace(body=await (reader.readexactly(int(length)) if length else reader.read()))


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := int(await reader.readuntil(b"\r\n"), 16):
        yield await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)
