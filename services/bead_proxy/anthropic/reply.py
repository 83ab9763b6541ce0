"""Assembles a Messages reply from the bytes that pass by: the agent's words, its tool calls, the provider's numbers.

Pure. Never raises and never holds more than a bounded part of a reply; the client's bytes are not its business. What
it cannot read it says in a marker, so that binary noise never reaches the raw log (B26).
"""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import msgspec

from bead.turns import tool_block
from bead_proxy.anthropic.newest import plain_name
from bead_proxy.protocol import Reply, ReplyReader, Usage
from bead_proxy.sse import EventParser

TEXT_LIMIT_CHARACTERS = 4_000_000
"""Most characters of one reply that are kept."""
BODY_LIMIT_BYTES = 16 * 1024 * 1024
"""Largest reply in one JSON document that is read."""
DECODED_LIMIT_BYTES = 128 * 1024 * 1024
"""Most bytes that are unpacked from one reply: a small body can unpack to an endless one."""
BLOCK_LIMIT = 10_000

_PIECE_BYTES = 256 * 1024
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_RAW_DEFLATE = -zlib.MAX_WBITS
_NOT_A_TOKEN = re.compile(r"[^\w!#$%&'*+.^`|~, -]+")
_CUT_SHORT = "[... the rest of this reply was too long to keep ...]"
_READ_ENCODINGS = ("", "identity", "gzip", "x-gzip", "deflate")


def reply_reader(content_type: str, content_encoding: str) -> ReplyReader:
    """A reader for a response with these headers; for what cannot be read, one that says so."""
    encoding = content_encoding.strip().lower()
    if encoding not in _READ_ENCODINGS:
        return _Unread(f"[reply in an encoding that was not read: {_NOT_A_TOKEN.sub('', encoding)[:60]}]")
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == "text/event-stream":
        return _Decoding(_Stream(), encoding)
    if media_type == "application/json" or media_type.endswith("+json"):
        return _Decoding(_Document(), encoding)
    return _Unread("")


class _Reader(Protocol):
    def feed(self, chunk: bytes) -> None: ...

    def close(self) -> Reply: ...


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

    def __init__(self, reader: _Reader, encoding: str) -> None:
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


class _Delta(msgspec.Struct):
    text: Any = None
    partial_json: Any = None


class _Error(msgspec.Struct):
    type: Any = None


class _Block(msgspec.Struct):
    type: Any = None
    text: Any = None
    name: Any = None
    input: Any = None


class _Message(msgspec.Struct):
    type: Any = None
    content: list[_Block] = []
    usage: dict[str, Any] | None = None


class _Event(msgspec.Struct):
    type: Any = None
    index: Any = None
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: dict[str, Any] | None = None
    error: _Error | None = None


_EVENT = msgspec.json.Decoder(_Event)
_MESSAGE = msgspec.json.Decoder(_Message)


class _Open:
    """A block that is being filled."""

    def __init__(self, kind: str, label: str = "") -> None:
        self.kind = kind
        self.label = label
        self.pieces: list[str] = []


class _Stream:
    """A reply as server-sent events."""

    def __init__(self) -> None:
        self._events = EventParser()
        self._blocks: dict[Any, _Open] = {}
        self._kept = 0
        self._is_cut = False
        self._usage: dict[str, Any] = {}
        self._is_complete = False
        self._error: str | None = None

    def feed(self, chunk: bytes) -> None:
        for data in self._events.feed(chunk):
            try:
                event = _EVENT.decode(data)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            self._take(event)

    def close(self) -> Reply:
        said = list(_joined((block.kind, _text_of(block)) for block in self._blocks.values()))
        if self._is_cut or self._events.skipped:
            said.append(_CUT_SHORT)
        if said and self._error is not None:
            said.append(f"[broken off: {self._error}]")
        return Reply("\n\n".join(said), complete=self._is_complete, usage=_usage(self._usage))

    def _take(self, event: _Event) -> None:
        match event.type:
            case "message_start" if event.message is not None:
                self._usage.update(_numbers(event.message.usage))
            case "content_block_start" if event.content_block is not None:
                self._start(event.index, event.content_block)
            case "content_block_delta" if event.delta is not None:
                self._add(event.index, event.delta)
            case "message_delta":
                self._usage.update(_numbers(event.usage))
            case "message_stop":
                self._is_complete = True
            case "error":
                self._is_complete = False
                self._error = plain_name(event.error.type if event.error else None)
            case _:
                pass

    def _start(self, index: Any, block: _Block) -> None:
        if not isinstance(index, int) or len(self._blocks) >= BLOCK_LIMIT:
            self._is_cut = True
            return
        self._blocks[index] = opened = _opened(block)
        if opened.kind == "text" and isinstance(block.text, str):
            self._keep(opened, block.text)

    def _add(self, index: Any, delta: _Delta) -> None:
        if not isinstance(index, int) or (index not in self._blocks and len(self._blocks) >= BLOCK_LIMIT):
            return
        if isinstance(delta.text, str):
            # A stream that is joined in the middle has deltas of blocks whose start nobody saw.
            self._keep(self._blocks.setdefault(index, _Open("text")), delta.text)
        elif isinstance(delta.partial_json, str) and index in self._blocks:
            self._keep(self._blocks[index], delta.partial_json)

    def _keep(self, block: _Open, text: str) -> None:
        self._kept += len(text)
        if self._kept > TEXT_LIMIT_CHARACTERS:
            self._is_cut = True
        else:
            block.pieces.append(text)


class _Document:
    """A reply as one JSON document."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._size > BODY_LIMIT_BYTES:
            self._pieces.clear()
        else:
            self._pieces.append(chunk)

    def close(self) -> Reply:
        if self._size > BODY_LIMIT_BYTES:
            return Reply(_CUT_SHORT, complete=False, usage=Usage())
        try:
            message = _MESSAGE.decode(b"".join(self._pieces))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return Reply("", complete=False, usage=Usage())
        if message.type != "message":
            return Reply("", complete=False, usage=Usage())
        said = _joined((opened.kind, _text_of(opened)) for opened in map(_filled, message.content))
        return Reply("\n\n".join(said), complete=True, usage=_usage(_numbers(message.usage)))


def _opened(block: _Block) -> _Open:
    match block.type:
        case "text":
            return _Open("text")
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            return _Open("tool", plain_name(block.name))
        case "thinking" | "redacted_thinking":
            return _Open("thinking")
        case _:
            return _Open("other", plain_name(block.type))


def _filled(block: _Block) -> _Open:
    opened = _opened(block)
    if opened.kind == "text" and isinstance(block.text, str):
        opened.pieces.append(block.text)
    elif opened.kind == "tool":
        opened.pieces.append(msgspec.json.encode(block.input).decode())
    return opened


def _text_of(block: _Open) -> str:
    text = "".join(block.pieces)
    match block.kind:
        case "text":
            return text
        case "tool":
            return tool_block(f"use: {block.label}", text or "{}")
        case "other":
            return f"[block of type {block.label}]"
        case _:
            return ""


def _joined(blocks: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The texts of the blocks; text blocks in a row are one text, which a provider cut for its citations."""
    running = ""
    for kind, text in blocks:
        if kind == "text":
            running += text
            continue
        if running:
            yield running
        running = ""
        if text:
            yield text
    if running:
        yield running


def _numbers(usage: dict[str, Any] | None) -> dict[str, Any]:
    """Only numbers count: later events repeat some fields as null."""
    return {name: value for name, value in (usage or {}).items() if isinstance(value, int)}


def _usage(numbers: dict[str, Any]) -> Usage:
    return Usage(
        input=numbers.get("input_tokens", 0),
        output=numbers.get("output_tokens", 0),
        cache_read=numbers.get("cache_read_input_tokens", 0),
        cache_write=numbers.get("cache_creation_input_tokens", 0),
    )
