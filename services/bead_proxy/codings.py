"""Content codings of HTTP bodies: gzip, deflate, br, zstd, also stacked; taken off within a limit and put on again.

Pure. Which body is opened, and what is done with it, is `app`'s. A small body can unpack to an endless one, so every
piece that comes out is counted before the next one is made.
"""

import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import brotli  # type: ignore[import-untyped]  # it has no stubs

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MOST_STACKED = 4
_PIECE_BYTES = 256 * 1024
_FRAMING_BYTES = 64 * 1024
"""What does not compress gets larger by its framing."""
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_RAW_DEFLATE = -zlib.MAX_WBITS
_DAMAGED = (zlib.error, brotli.error, zstd.ZstdError, EOFError)


class UnknownCoding(ValueError):
    """Nobody here can open it; it travels as it came."""


class Damaged(ValueError):
    """It does not unpack to the end."""


class TooLarge(ValueError):
    """It unpacks to more than the limit."""


class _Opener(Protocol):
    @property
    def is_whole(self) -> bool:
        """Whether what was fed so far may be all of it."""

    def feed(self, data: bytes) -> Iterator[bytes]: ...


def codings_of(header: str) -> tuple[str, ...]:
    """The codings that a Content-Encoding names, in the order they were put on; `identity` is none.

    Raises:
        UnknownCoding: one of them is not known here, or there are too many.
    """
    names = [name.strip().lower() for name in header.split(",")]
    found = tuple(_ALIASES.get(name, name) for name in names if name not in ("", "identity"))
    if len(found) > MOST_STACKED or not _OPENERS.keys() >= set(found):
        raise UnknownCoding("a coding that is not known")
    return found


class Unpacker:
    """Takes codings off a body that comes in pieces, at most `limit` bytes of it."""

    def __init__(self, codings: Sequence[str], limit: int) -> None:
        self._openers = [_OPENERS[name]() for name in reversed(codings)]
        # What lies between two codings is counted too, else a bomb in a bomb would go on for ever.
        self._left = [limit + _FRAMING_BYTES] * len(codings) + [limit]

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What `data` adds.

        Raises:
            Damaged, TooLarge: nothing more can be had; do not feed again.
        """
        try:
            yield from self._through(0, data)
        except _DAMAGED:
            raise Damaged("the body does not unpack") from None

    @property
    def is_whole(self) -> bool:
        """Whether every coding has come to its end."""
        return all(opener.is_whole for opener in self._openers)

    def _through(self, level: int, data: bytes) -> Iterator[bytes]:
        self._left[level] -= len(data)
        if self._left[level] < 0:
            raise TooLarge("the body unpacks to more than the limit")
        if level == len(self._openers):
            yield data
            return
        for piece in self._openers[level].feed(data):
            yield from self._through(level + 1, piece)


def unpack(body: bytes, codings: Sequence[str], limit: int) -> bytes:
    """The whole body, opened.

    Raises:
        Damaged: also when its end is missing.
        TooLarge: it is more than `limit` bytes.
    """
    unpacker = Unpacker(codings, limit)
    opened = b"".join(unpacker.feed(body))
    if not unpacker.is_whole:
        raise Damaged("the body has no end")
    return opened


def pack(body: bytes, codings: Sequence[str]) -> bytes:
    """`body` with `codings` on it, in their order; quick rather than small, for loopback is not where it costs."""
    for name in codings:
        body = _PACKERS[name](body)
    return body


class _Inflater:
    """gzip (of several members too) and deflate, which servers take for zlib or raw."""

    def __init__(self, *, is_deflate: bool) -> None:
        self._is_deflate = is_deflate
        self._inflate: Any = None
        self.is_whole = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._inflate is None:
                if self.is_whole and not data.strip(b"\0"):
                    return  # padding behind the last member
                self._inflate = zlib.decompressobj(_window_bits(data, is_deflate=self._is_deflate))
                self.is_whole = False
            piece = self._inflate.decompress(data, _PIECE_BYTES)
            data = self._inflate.unconsumed_tail
            if self._inflate.eof:
                data = self._inflate.unused_data
                self._inflate, self.is_whole = None, True
            yield piece


class _Brotli:
    def __init__(self) -> None:
        self._decoder = brotli.Decompressor()

    @property
    def is_whole(self) -> bool:
        return bool(self._decoder.is_finished())

    def feed(self, data: bytes) -> Iterator[bytes]:
        while True:
            piece = self._decoder.process(data, output_buffer_limit=_PIECE_BYTES)
            if piece:
                yield piece
            if self._decoder.can_accept_more_data():
                return
            data = b""


class _Zstd:
    """Frames, one behind the other."""

    def __init__(self) -> None:
        self._decoder: Any = None
        self.is_whole = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data or (self._decoder is not None and not self._decoder.needs_input):
            if self._decoder is None:
                self._decoder, self.is_whole = zstd.ZstdDecompressor(), False
            piece = self._decoder.decompress(data, _PIECE_BYTES)
            data = b""
            if self._decoder.eof:
                data = self._decoder.unused_data
                self._decoder, self.is_whole = None, True
            if piece:
                yield piece


def _window_bits(first: bytes, *, is_deflate: bool) -> int:
    """Servers disagree on what deflate is; a zlib header has method 8 in the low half of its first byte."""
    return _RAW_DEFLATE if is_deflate and first[0] & 0x0F != zlib.DEFLATED else _GZIP_OR_ZLIB


def _gzipped(body: bytes) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


_ALIASES = {"x-gzip": "gzip"}
_OPENERS: dict[str, Callable[[], _Opener]] = {
    "gzip": lambda: _Inflater(is_deflate=False),
    "deflate": lambda: _Inflater(is_deflate=True),
    "br": _Brotli,
    "zstd": _Zstd,
}
_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _gzipped,
    "deflate": lambda body: zlib.compress(body, 1),
    "br": lambda body: brotli.compress(body, quality=1),
    "zstd": lambda body: zstd.compress(body, 1),
}
