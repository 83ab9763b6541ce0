"""Assembles a Chat Completions reply from the bytes that pass by.

Pure. Bounds, unpacking and the order of blocks are `replies`'. Of several choices the first counts.
"""

from typing import Any

import msgspec

from bead_proxy import replies
from bead_proxy.anthropic.newest import plain_name
from bead_proxy.protocol import Reply, ReplyReader, Usage
from bead_proxy.sse import EventParser


def reply_reader(content_type: str, content_encoding: str) -> ReplyReader:
    """See `replies.reader_of`."""
    return replies.reader_of(content_type, content_encoding, _Stream, lambda: replies.Document(_document))


class _Function(msgspec.Struct):
    name: Any = None
    arguments: Any = None


class _Call(msgspec.Struct):
    index: Any = None
    function: _Function | None = None


class _Said(msgspec.Struct):
    content: Any = None
    refusal: Any = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    index: Any = 0
    delta: _Said | None = None
    message: _Said | None = None
    finish_reason: Any = None


class _Completion(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


_COMPLETION = msgspec.json.Decoder(_Completion)
_END = b"[DONE]"


class _Reading:
    """Takes what deltas and whole messages say alike."""

    def __init__(self) -> None:
        self.blocks = replies.Blocks()
        self.usage = Usage()
        self.is_complete = False
        self.error: str | None = None

    def take(self, completion: _Completion) -> None:
        if completion.usage is not None:
            self.usage = _usage(completion.usage)
        if completion.error is not None:
            kind = completion.error.get("type") if isinstance(completion.error, dict) else None
            self.error, self.is_complete = plain_name(kind), False
        for choice in completion.choices or ():
            if choice.index in (0, None):
                self._choice(choice)

    def _choice(self, choice: _Choice) -> None:
        if said := choice.delta or choice.message:
            for text in (said.content, said.refusal):
                if isinstance(text, str) and text:
                    self.blocks.add(self.blocks.open("text", "text"), text)
            for number, call in enumerate(said.tool_calls or ()):
                self._call(call.index if isinstance(call.index, int) else number, call.function)
        if isinstance(choice.finish_reason, str):
            self.is_complete = True

    def _call(self, key: int, function: _Function | None) -> None:
        if function is None:
            return
        opened = self.blocks.get(key)
        if opened is None and function.name:
            opened = self.blocks.open(key, "tool", plain_name(function.name))
        if isinstance(function.arguments, str):
            self.blocks.add(opened, function.arguments)


class _Stream:
    """A reply as server-sent events."""

    def __init__(self) -> None:
        self._events = EventParser()
        self._reading = _Reading()

    def feed(self, chunk: bytes) -> None:
        for data in self._events.feed(chunk):
            if data.strip() == _END:
                continue
            try:
                completion = _COMPLETION.decode(data)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            self._reading.take(completion)

    def close(self) -> Reply:
        done = self._reading
        return done.blocks.reply(
            complete=done.is_complete, usage=done.usage, skipped=self._events.skipped, error=done.error
        )


def _document(data: bytes) -> Reply:
    reading = _Reading()
    completion = _COMPLETION.decode(data)
    if not completion.choices:
        return replies.NO_REPLY
    reading.take(completion)
    return reading.blocks.reply(complete=reading.is_complete, usage=reading.usage, error=reading.error)


def _usage(told: dict[str, Any]) -> Usage:
    numbers = replies.numbers(told)
    cached = replies.numbers(replies.inner(told, "prompt_tokens_details")).get("cached_tokens", 0)
    return Usage(
        input=max(0, numbers.get("prompt_tokens", 0) - cached),
        output=numbers.get("completion_tokens", 0),
        cache_read=cached,
    )
