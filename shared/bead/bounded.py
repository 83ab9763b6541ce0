"""Reads an answer of another program whole, and never more of it than may be held."""

from typing import Protocol

import aiohttp


class TooLong(Exception):
    """The answer is longer than may be held."""


class _Answer(Protocol):
    @property
    def content(self) -> aiohttp.StreamReader: ...


async def read_whole(answer: _Answer, most_bytes: int) -> bytes:
    """The whole body of `answer`; `StreamReader.read(n)` would be content with its first piece.

    Raises:
        TooLong: it has more than `most_bytes`.
    """
    pieces: list[bytes] = []
    size = 0
    async for piece in answer.content.iter_any():
        size += len(piece)
        if size > most_bytes:
            raise TooLong
        pieces.append(piece)
    return b"".join(pieces)
