"""Assembles a Gemini reply from the bytes that pass by: events, one JSON array that grows, or one document.

Pure. Bounds, unpacking and the order of blocks are `replies`'. Of several candidates the first counts; what the model
thought is left out.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from bead_proxy import replies
from bead_proxy.anthropic.newest import plain_name
from bead_proxy.protocol import Reply, ReplyReader, Usage
from bead_proxy.sse import EVENT_LIMIT_BYTES, EventParser


def reply_reader(content_type: str, content_encoding: str) -> ReplyReader:
    """See `replies.reader_of`."""
    return replies.reader_of(content_type, content_encoding, _Stream, _Array)


class _Call(msgspec.Struct):
    name: Any = None
    args: Any = None


class _Part(msgspec.Struct):
    text: Any = None
    thought: Any = None
    functionCall: _Call | None = None


class _Content(msgspec.Struct):
    parts: list[_Part] | None = None


class _Candidate(msgspec.Struct):
    index: Any = 0
    content: _Content | None = None
    finishReason: Any = None


class _Chunk(msgspec.Struct):
    candidates: list[_Candidate] | None = None
    usageMetadata: dict[str, Any] | None = None
    error: Any = None


_CHUNK = msgspec.json.Decoder(_Chunk)


class _Reading:
    def __init__(self) -> None:
        self._blocks = replies.Blocks()
        self._usage = Usage()
        self._is_complete = False
        self._error: str | None = None
        self._next = 0

    def take(self, data: bytes) -> None:
        """One chunk of the answer; what cannot be read is passed over."""
        try:
            chunk = _CHUNK.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        if chunk.usageMetadata is not None:
            self._usage = _usage(chunk.usageMetadata)
        if chunk.error is not None:
            kind = chunk.error.get("status") if isinstance(chunk.error, dict) else None
            self._error, self._is_complete = plain_name(kind), False
        for candidate in chunk.candidates or ():
            if candidate.index in (0, None):
                self._candidate(candidate)

    def reply(self, skipped: int) -> Reply:
        return self._blocks.reply(complete=self._is_complete, usage=self._usage, skipped=skipped, error=self._error)

    def _candidate(self, candidate: _Candidate) -> None:
        for part in (candidate.content and candidate.content.parts) or ():
            if part.functionCall is not None:
                opened = self._blocks.open(self._key(), "tool", plain_name(part.functionCall.name))
                self._blocks.add(opened, msgspec.json.encode(part.functionCall.args).decode())
            elif isinstance(part.text, str) and part.thought is not True:
                # Texts in a row are one text: pieces of it need no key of their own until a call comes.
                self._blocks.add(self._blocks.open(("text", self._next), "text"), part.text)
        if isinstance(candidate.finishReason, str):
            self._is_complete = True

    def _key(self) -> int:
        self._next += 1
        return self._next


class _Stream:
    """A reply as server-sent events."""

    def __init__(self) -> None:
        self._events = EventParser()
        self._reading = _Reading()

    def feed(self, chunk: bytes) -> None:
        for data in self._events.feed(chunk):
            self._reading.take(data)

    def close(self) -> Reply:
        return self._reading.reply(self._events.skipped)


class _Array:
    """A reply as one object, or as an array of objects that comes in piece by piece."""

    def __init__(self) -> None:
        self._objects = _Objects()
        self._reading = _Reading()

    def feed(self, chunk: bytes) -> None:
        for data in self._objects.feed(chunk):
            self._reading.take(data)

    def close(self) -> Reply:
        return self._reading.reply(self._objects.skipped)


class _Objects:
    """Cuts outermost objects out of a stream of JSON, whatever the borders of its pieces."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._kept = bytearray()
        self._too_long = False
        self.skipped = 0
        """Objects over the limit so far."""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        start = 0
        for at, byte in enumerate(chunk):
            if self._in_string:
                self._in_text(byte)
            elif byte == 0x22 and self._depth:
                self._in_string = True
            elif byte == 0x7B:
                if not self._depth:
                    start = at
                self._depth += 1
            elif byte == 0x7D and self._depth:
                self._depth -= 1
                if not self._depth:
                    self._keep(chunk[start : at + 1])
                    if (whole := self._whole()) is not None:
                        yield whole
        if self._depth:
            self._keep(chunk[start:])

    def _in_text(self, byte: int) -> None:
        if self._escaped:
            self._escaped = False
        elif byte == 0x5C:
            self._escaped = True
        elif byte == 0x22:
            self._in_string = False

    def _keep(self, piece: bytes) -> None:
        if len(self._kept) + len(piece) > EVENT_LIMIT_BYTES:
            self._too_long = True
            self._kept.clear()
        elif not self._too_long:
            self._kept += piece

    def _whole(self) -> bytes | None:
        found, too_long = bytes(self._kept), self._too_long
        self._kept.clear()
        self._too_long = False
        self.skipped += too_long
        return None if too_long else found


def _usage(told: dict[str, Any]) -> Usage:
    numbers = replies.numbers(told)
    cached = numbers.get("cachedContentTokenCount", 0)
    return Usage(
        input=max(0, numbers.get("promptTokenCount", 0) + numbers.get("toolUsePromptTokenCount", 0) - cached),
        output=numbers.get("candidatesTokenCount", 0) + numbers.get("thoughtsTokenCount", 0),
        cache_read=cached,
    )
