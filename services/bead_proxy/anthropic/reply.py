"""Assembles a Messages reply from the bytes that pass by: the agent's words, its tool calls, the provider's numbers.

Pure. Bounds, unpacking and the order of blocks are `replies`'.
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


class _Stream:
    """A reply as server-sent events."""

    def __init__(self) -> None:
        self._events = EventParser()
        self._blocks = replies.Blocks()
        self._usage: dict[str, int] = {}
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
            complete=self._is_complete,
            usage=_usage(self._usage),
            skipped=self._events.skipped,
            error=self._error,
        )

    def _take(self, event: _Event) -> None:
        match event.type:
            case "message_start" if event.message is not None:
                self._usage.update(replies.numbers(event.message.usage))
            case "content_block_start" if event.content_block is not None:
                self._start(event.index, event.content_block)
            case "content_block_delta" if event.delta is not None:
                self._add(event.index, event.delta)
            case "message_delta":
                self._usage.update(replies.numbers(event.usage))
            case "message_stop":
                self._is_complete = True
            case "error":
                self._is_complete = False
                self._error = plain_name(event.error.type if event.error else None)
            case _:
                pass

    def _start(self, index: Any, block: _Block) -> None:
        if not isinstance(index, int):
            self._blocks.is_cut = True
            return
        opened = self._blocks.open(index, *_kind(block))
        if opened and opened.kind == "text" and isinstance(block.text, str):
            self._blocks.add(opened, block.text)

    def _add(self, index: Any, delta: _Delta) -> None:
        if not isinstance(index, int):
            return
        if isinstance(delta.text, str):
            # A stream that is joined in the middle has deltas of blocks whose start nobody saw.
            self._blocks.add(self._blocks.open(index, "text"), delta.text)
        elif isinstance(delta.partial_json, str):
            self._blocks.add(self._blocks.get(index), delta.partial_json)


def _document(data: bytes) -> Reply:
    message = _MESSAGE.decode(data)
    if message.type != "message":
        return replies.NO_REPLY
    blocks = replies.Blocks()
    for number, block in enumerate(message.content):
        opened = blocks.open(number, *_kind(block))
        if opened and opened.kind == "text" and isinstance(block.text, str):
            blocks.add(opened, block.text)
        elif opened and opened.kind == "tool":
            blocks.add(opened, msgspec.json.encode(block.input).decode())
    return blocks.reply(complete=True, usage=_usage(replies.numbers(message.usage)))


def _kind(block: _Block) -> tuple[str, str]:
    match block.type:
        case "text":
            return "text", ""
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            return "tool", plain_name(block.name)
        case "thinking" | "redacted_thinking":
            return "thinking", ""
        case _:
            return "other", plain_name(block.type)


def _usage(numbers: dict[str, int]) -> Usage:
    return Usage(
        input=numbers.get("input_tokens", 0),
        output=numbers.get("output_tokens", 0),
        cache_read=numbers.get("cache_read_input_tokens", 0),
        cache_write=numbers.get("cache_creation_input_tokens", 0),
    )
