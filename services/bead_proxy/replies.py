"""What a reply amounts to, whatever the protocol: unpacking, the text in its order, and the bounds of both.

Pure. Never raises and never holds more than a bounded part of a reply; the client's bytes are not its business. What
cannot be read is said in a marker, so that binary noise never reaches the raw log (B26). What an event or a document
of one protocol says is that protocol's `reply`.
"""

import re
import zlib
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Protocol

import msgspec

from bead.turns import tool_block
from bead_proxy.protocol import Reply, ReplyReader, Usage

TEXT_LIMIT_CHARACTERS = 4_000_000
"""Most characters of one reply that are kept."""
BODY_LIMIT_BYTES = 16 * 1024 * 1024
"""Largest reply in one JSON document that is read."""
DECODED_LIMIT_BYTES = 128 * 1024 * 1024
"""Most bytes that are unpacked from one reply: a small body can unpack to an endless one."""
BLOCK_LIMIT = 10_000

CUT_SHORT = "[... the rest of this reply was too long to keep ...]"

_PIECE_BYTES = 256 * 1024
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_RAW_DEFLATE = -zlib.MAX_WBITS
_NOT_A_TOKEN = re.compile(r"[^\w!#$%&'*+.^`|~, -]+")
_READ_ENCODINGS = ("", "identity", "gzip", "x-gzip", "deflate")


class Reader(Protocol):
    """Reads a reply without its content encoding."""

    def feed(self, chunk: bytes) -> None:
        """See `ReplyReader.feed`."""

    def close(self) -> Reply:
        """See `ReplyReader.close`."""


def reader_of(
    content_type: str, content_encoding: str, stream: Callable[[], Reader], document: Callable[[], Reader]
) -> ReplyReader:
    """A reader for a response with these headers; for what cannot be read, one that says so.

    `stream` makes a reader of server-sent events, `document` one of JSON.
    """
    encoding = content_encoding.strip().lower()
    if encoding not in _READ_ENCODINGS:
        return _Unread(f"[reply in an encoding that was not read: {_NOT_A_TOKEN.sub('', encoding)[:60]}]")
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == "text/event-stream":
        return _Decoding(stream(), encoding)
    if media_type == "application/json" or media_type.endswith("+json"):
        return _Decoding(document(), encoding)
    return _Unread("")


class Open:
    """A block that is being filled: `text`, `tool` (its input), `thinking`, or `other`."""

    def __init__(self, kind: str, label: str = "") -> None:
        self.kind = kind
        self.label = label
        self.pieces: list[str] = []

    def text(self) -> str:
        """The block as the raw log keeps it."""
        text = "".join(self.pieces)
        match self.kind:
            case "text":
                return text
            case "tool":
                return tool_block(f"use: {self.label}", text or "{}")
            case "other":
                return f"[block of type {self.label}]"
            case _:
                return ""


class Blocks:
    """The blocks of a reply that is coming in, in the order in which they were opened, within bounds."""

    def __init__(self) -> None:
        self._blocks: dict[Hashable, Open] = {}
        self._kept = 0
        self.is_cut = False
        """Whether something had no room."""

    def open(self, key: Hashable, kind: str, label: str = "") -> Open | None:
        """The block of that key, new if there is none; None when there are too many."""
        if key in self._blocks:
            return self._blocks[key]
        if len(self._blocks) >= BLOCK_LIMIT:
            self.is_cut = True
            return None
        self._blocks[key] = opened = Open(kind, label)
        return opened

    def get(self, key: Hashable) -> Open | None:
        """The block of that key."""
        return self._blocks.get(key)

    def add(self, block: Open | None, text: str) -> None:
        """Put `text` behind what the block has."""
        if block is None:
            return
        self._kept += len(text)
        if self._kept > TEXT_LIMIT_CHARACTERS:
            self.is_cut = True
        else:
            block.pieces.append(text)

    def replace(self, block: Open | None, text: str) -> None:
        """`text` in place of what the block has: a provider said the whole once more."""
        if block is not None:
            self._kept -= sum(map(len, block.pieces))
            block.pieces.clear()
            self.add(block, text)

    def reply(self, *, complete: bool, usage: Usage, skipped: int = 0, error: str | None = None) -> Reply:
        """What they amount to; `error` is why the reply broke off."""
        said = list(self._joined())
        if self.is_cut or skipped:
            said.append(CUT_SHORT)
        if said and error is not None:
            said.append(f"[broken off: {error}]")
        return Reply("\n\n".join(said), complete=complete, usage=usage)

    def _joined(self) -> Iterator[str]:
        """The texts of the blocks; text blocks in a row are one text, which a provider cut for its citations."""
        running = ""
        for block in self._blocks.values():
            if block.kind == "text":
                running += block.text()
                continue
            if running:
                yield running
            running = ""
            if text := block.text():
                yield text
        if running:
            yield running


class Document:
    """A reply as one JSON document, which `read` makes a reply of; it may raise what decoding raises."""

    def __init__(self, read: Callable[[bytes], Reply]) -> None:
        self._read = read
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        """See `ReplyReader.feed`."""
        self._size += len(chunk)
        if self._size > BODY_LIMIT_BYTES:
            self._pieces.clear()
        else:
            self._pieces.append(chunk)

    def close(self) -> Reply:
        """See `ReplyReader.close`."""
        if self._size > BODY_LIMIT_BYTES:
            return Reply(CUT_SHORT, complete=False, usage=Usage())
        try:
            return self._read(b"".join(self._pieces))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return NO_REPLY


NO_REPLY = Reply("", complete=False, usage=Usage())


def inner(usage: dict[str, Any], name: str) -> dict[str, Any]:
    """The object of that name in what a provider counted; empty where there is none."""
    found = usage.get(name)
    return found if isinstance(found, dict) else {}


def numbers(usage: dict[str, Any] | None) -> dict[str, int]:
    """Only numbers count: later events repeat some fields as null."""
    found = (usage or {}).items()
    return {name: value for name, value in found if isinstance(value, int) and not isinstance(value, bool)}


class _Unread:
    """For replies that are not looked at."""

    def __init__(self, text: str) -> None:
        self._text = text

    def feed(self, chunk: bytes) -> None:
        """Nothing is kept."""

    def close(self) -> Reply:
        """The marker alone."""
        return Reply(self._text, complete=False, usage=Usage())


class _Decoding:
    """Unpacks the content encoding in front of another reader."""

    def __init__(self, reader: Reader, encoding: str) -> None:
        self._reader = reader
        self._unpack: Callable[[bytes], Iterator[bytes]] = (
            _plain if encoding in ("", "identity") else _Inflater(encoding).unpack
        )

    def feed(self, chunk: bytes) -> None:
        """See `ReplyReader.feed`."""
        for piece in self._unpack(chunk):
            self._reader.feed(piece)

    def close(self) -> Reply:
        """See `ReplyReader.close`."""
        return self._reader.close()


def _plain(chunk: bytes) -> Iterator[bytes]:
    yield chunk


class _Inflater:
    """Unpacks gzip (of several members too) and deflate (zlib or raw); stops for good at the first damage."""

    def __init__(self, encoding: str) -> None:
        self._is_deflate = encoding == "deflate"
        self._inflate: Any = None
        self._left = DECODED_LIMIT_BYTES
        self._is_over = False

    def unpack(self, chunk: bytes) -> Iterator[bytes]:
        while chunk and not self._is_over:
            if self._inflate is None:
                self._inflate = zlib.decompressobj(_window_bits(chunk, is_deflate=self._is_deflate))
            try:
                piece = self._inflate.decompress(chunk, _PIECE_BYTES)
            except zlib.error:
                self._is_over = True
                return
            chunk = self._inflate.unconsumed_tail
            if self._inflate.eof:
                chunk = self._inflate.unused_data
                self._inflate = None
            self._left -= len(piece)
            self._is_over = self._left < 0
            yield piece


def _window_bits(first: bytes, *, is_deflate: bool) -> int:
    """Servers disagree on what deflate is; a zlib header has method 8 in the low half of its first byte."""
    return _RAW_DEFLATE if is_deflate and first[0] & 0x0F != zlib.DEFLATED else _GZIP_OR_ZLIB
