"""Assembles a Responses reply from the bytes that pass by.

Pure. Bounds, unpacking and the order of blocks are `replies`'. Deltas are what counts while a reply comes in; an item
that is done says the whole once more and takes their place.
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


class _Part(msgspec.Struct):
    text: Any = None
    refusal: Any = None


class _Item(msgspec.Struct):
    type: Any = None
    name: Any = None
    content: list[_Part] | None = None
    arguments: Any = None
    input: Any = None
    action: Any = None


class _Response(msgspec.Struct):
    object: Any = None
    status: Any = None
    output: list[_Item] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


class _Event(msgspec.Struct):
    type: Any = None
    output_index: Any = None
    content_index: Any = None
    delta: Any = None
    item: _Item | None = None
    response: _Response | None = None
    code: Any = None


_EVENT = msgspec.json.Decoder(_Event)
_RESPONSE = msgspec.json.Decoder(_Response)
_TEXT_DELTAS = ("response.output_text.delta", "response.refusal.delta")
_INPUT_DELTAS = ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta")


class _Stream:
    """A reply as server-sent events."""

    def __init__(self) -> None:
        self._events = EventParser()
        self._blocks = replies.Blocks()
        self._usage = Usage()
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
        return self._blocks.reply(
            complete=self._is_complete, usage=self._usage, skipped=self._events.skipped, error=self._error
        )

    def _take(self, event: _Event) -> None:
        kind, index = event.type, event.output_index
        if kind in _TEXT_DELTAS and isinstance(index, int) and isinstance(event.delta, str):
            part = event.content_index if isinstance(event.content_index, int) else 0
            self._blocks.add(self._blocks.open((index, part), "text"), event.delta)
        elif kind in _INPUT_DELTAS and isinstance(index, int) and isinstance(event.delta, str):
            self._blocks.add(self._blocks.get((index, 0)), event.delta)
        elif kind == "response.output_item.added" and isinstance(index, int) and event.item is not None:
            _open(self._blocks, index, event.item)
        elif kind == "response.output_item.done" and isinstance(index, int) and event.item is not None:
            _fill(self._blocks, index, event.item)
        elif event.response is not None:
            self._ends(kind, event.response)
        elif kind == "error":
            self._is_complete, self._error = False, plain_name(event.code)

    def _ends(self, kind: Any, response: _Response) -> None:
        if response.usage is not None:
            self._usage = _usage(response.usage)
        if kind == "response.completed":
            self._is_complete = True
        elif kind in ("response.failed", "response.incomplete"):
            code = response.error.get("code") if isinstance(response.error, dict) else None
            self._is_complete, self._error = False, plain_name(code or str(kind).removeprefix("response."))


def _document(data: bytes) -> Reply:
    response = _RESPONSE.decode(data)
    if response.object != "response":
        return replies.NO_REPLY
    blocks = replies.Blocks()
    for index, item in enumerate(response.output or ()):
        _fill(blocks, index, item)
    is_complete = response.status in ("completed", None)
    return blocks.reply(complete=is_complete, usage=_usage(response.usage or {}))


def _open(blocks: replies.Blocks, index: int, item: _Item) -> replies.Open | None:
    """The block of an item that is no message; a message's parts are opened by their first words."""
    if item.type in ("message", None):
        return None
    if item.type == "reasoning":
        return blocks.open((index, 0), "thinking")
    if isinstance(item.type, str) and item.type.endswith("_call"):
        return blocks.open((index, 0), "tool", plain_name(item.name or item.type))
    return blocks.open((index, 0), "other", plain_name(item.type))


def _fill(blocks: replies.Blocks, index: int, item: _Item) -> None:
    opened = _open(blocks, index, item)
    if opened is not None and opened.kind == "tool":
        given = next((value for value in (item.arguments, item.input, item.action) if value is not None), "")
        blocks.replace(opened, given if isinstance(given, str) else msgspec.json.encode(given).decode())
    elif item.type == "message":
        for number, part in enumerate(item.content or ()):
            text = part.text if isinstance(part.text, str) else part.refusal
            if isinstance(text, str) and text:
                blocks.replace(blocks.open((index, number), "text"), text)


def _usage(told: dict[str, Any]) -> Usage:
    numbers = replies.numbers(told)
    details = replies.numbers(replies.inner(told, "input_tokens_details"))
    cached = details.get("cached_tokens", 0)
    return Usage(
        input=max(0, numbers.get("input_tokens", 0) - cached),
        output=numbers.get("output_tokens", 0),
        cache_read=cached,
    )
