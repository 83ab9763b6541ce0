"""Reads a Chat Completions request.

Pure. A block goes into the last leading system or developer message, and into the newest user or tool message: what a
tool gave is a message of its own here, and a further one would change what the model is asked. Strings stay strings,
because many servers that speak this protocol take arrays only from users, if at all.
"""

from typing import Any

import msgspec
from msgspec import Raw

from bead_proxy import rawjson, transcript
from bead_proxy.anthropic import side, wire
from bead_proxy.protocol import Form, ModelRequest, Reading
from bead_proxy.transcript import Entry, Role

_SYSTEM = ("system", "developer")


class _Message(msgspec.Struct, gc=False):
    role: str
    content: Raw = wire.ABSENT
    tool_call_id: Any = None
    tool_calls: Raw = wire.ABSENT
    name: Any = None


class _Body(msgspec.Struct):
    messages: list[_Message]
    model: Any = None
    stream: Any = None
    tools: Raw = wire.ABSENT
    response_format: Raw = wire.ABSENT
    max_tokens: Any = None
    max_completion_tokens: Any = None
    prompt_cache_key: Any = None


class _Function(msgspec.Struct):
    name: Any = None
    arguments: Raw = wire.ABSENT


class _Call(msgspec.Struct):
    id: Any = None
    function: _Function = msgspec.field(default_factory=_Function)


_BODY = msgspec.json.Decoder(_Body)
_CALLS = msgspec.json.Decoder(list[_Call] | None)


def read(body: bytes) -> ModelRequest:
    """What `body` asks of the model. Raises Unreadable for everything that must be forwarded byte for byte."""
    document = rawjson.decode(body, _BODY)
    asked = document.value
    leading = _leading(asked.messages)
    told = [message for message in asked.messages[leading:] if message.role in _SYSTEM]
    system = transcript.NOWHERE
    if leading:
        system = transcript.text_anchor(body, document, asked.messages[leading - 1].content, Form.TEXT)
    return transcript.Transcript(
        entries=[_entry(body, document, message) for message in asked.messages],
        blocks=_blocks,
        model=asked.model if isinstance(asked.model, str) else "",
        stream=asked.stream is True,
        session=transcript.plain_session(asked.prompt_cache_key),
        system=None if system is transcript.NOWHERE else system,
        system_texts=[text for message in asked.messages[:leading] for text in _texts(message)],
        told=[text for message in told[:64] for text in _texts(message)],
        asked=side.Asked(
            has_tools=not wire.is_empty(asked.tools),
            wants_schema=_wants_schema(asked.response_format),
            is_probe=1 in (asked.max_tokens, asked.max_completion_tokens),
        ),
    ).request()


def read_on(body: bytes, earlier: None) -> Reading[None]:
    """As `read`; nothing is kept for the next reading."""
    return Reading(read(body), 0, lambda: None)


def _leading(messages: list[_Message]) -> int:
    """How many system messages stand before all others."""
    return next((at for at, message in enumerate(messages) if message.role not in _SYSTEM), len(messages))


def _texts(message: _Message) -> list[str]:
    return list(wire.texts(wire.history_blocks(message.content)))


def _entry(body: bytes, document: rawjson.Document[Any], message: _Message) -> Entry:
    match message.role:
        case "user":
            anchor = transcript.text_anchor(body, document, message.content, Form.TEXT)
            return Entry(Role.USER, message, wire.history_blocks(message.content), anchor)
        case "tool" | "function":
            anchor = transcript.text_anchor(body, document, message.content, Form.TEXT)
            return Entry(Role.RESULT, message, transcript.answers(message.tool_call_id or message.name), anchor)
        case "assistant":
            return Entry(Role.MODEL, message)
        case "system" | "developer":
            return Entry(Role.SYSTEM, message)
        case _:
            return Entry(Role.OTHER, message)


def _blocks(entry: Entry) -> list[wire.Block]:
    message: _Message = entry.value
    if entry.role is Role.RESULT:
        return [transcript.result(message.tool_call_id or message.name, message.content)]
    found = wire.blocks(message.content)
    if entry.role is Role.MODEL and memoryview(message.tool_calls).nbytes:
        calls = wire.decoded(_CALLS, message.tool_calls) or []
        found += [transcript.call(call.id, call.function.name, call.function.arguments) for call in calls]
    return found


def _wants_schema(response_format: Raw) -> bool:
    chosen = wire.anything(response_format)
    return isinstance(chosen, dict) and chosen.get("type") in ("json_schema", "json_object")
