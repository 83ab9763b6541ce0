"""Reads a Gemini request.

Pure. Fields may be written in both of protobuf's ways, `systemInstruction` and `system_instruction`. A call has no id
with some clients; then the tool's name is what stands for it in a position.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from bead_proxy import rawjson, transcript
from bead_proxy.anthropic import side, wire
from bead_proxy.protocol import Anchor, Form, ModelRequest, Reading, Shape
from bead_proxy.transcript import Entry, Role


class _Content(msgspec.Struct, gc=False):
    role: Any = None
    parts: Raw = wire.ABSENT


class _Body(msgspec.Struct):
    contents: list[_Content]
    systemInstruction: Raw = wire.ABSENT
    system_instruction: Raw = wire.ABSENT
    tools: Raw = wire.ABSENT
    generationConfig: Raw = wire.ABSENT
    generation_config: Raw = wire.ABSENT


class _Function(msgspec.Struct):
    """A call, or the answer to one."""

    id: Any = None
    name: Any = None
    args: Raw = wire.ABSENT
    response: Raw = wire.ABSENT


class _Part(msgspec.Struct):
    text: Any = None
    thought: Any = None
    functionCall: _Function | None = None
    function_call: _Function | None = None
    functionResponse: _Function | None = None
    function_response: _Function | None = None

    @property
    def call(self) -> _Function | None:
        return self.functionCall or self.function_call

    @property
    def answer(self) -> _Function | None:
        return self.functionResponse or self.function_response


_BODY = msgspec.json.Decoder(_Body)
_PARTS = msgspec.json.Decoder(list[_Part] | None)
_SYSTEM = msgspec.json.Decoder(_Content)


def read(body: bytes) -> ModelRequest:
    """What `body` asks of the model. Raises Unreadable for everything that must be forwarded byte for byte."""
    document = rawjson.decode(body, _BODY)
    asked = document.value
    named = [raw for raw in (asked.systemInstruction, asked.system_instruction) if memoryview(raw).nbytes]
    system = _system(named[-1]) if named else _Content()
    generation = wire.anything(asked.generationConfig) or wire.anything(asked.generation_config)
    return transcript.Transcript(
        entries=[_entry(body, document, content) for content in asked.contents],
        blocks=_blocks,
        model="",
        stream=False,
        session=None,
        system=_system_anchor(body, document, named, system),
        system_texts=[part.text for part in _parts(system.parts) if isinstance(part.text, str)],
        told=(),
        asked=side.Asked(
            has_tools=not wire.is_empty(asked.tools),
            wants_schema=isinstance(generation, Mapping) and _wants_schema(generation),
            is_probe=False,
        ),
    ).request()


def read_on(body: bytes, earlier: None) -> Reading[None]:
    """As `read`; nothing is kept for the next reading."""
    return Reading(read(body), 0, lambda: None)


def _system(value: Raw) -> _Content:
    if bytes(memoryview(value)[:1]) != b"{":
        return _Content()
    found: _Content = wire.decoded(_SYSTEM, value)
    return found


def _system_anchor(body: bytes, document: rawjson.Document[Any], named: list[Raw], system: _Content) -> Anchor | None:
    if not named:
        return transcript.absent(body, Shape.ABSENT_PARTS, b"systemInstruction")
    if len(named) > 1 or bytes(memoryview(system.parts)[:1]) != b"[":
        return None
    return transcript.text_anchor(body, document, system.parts, Form.PART)


def _entry(body: bytes, document: rawjson.Document[Any], content: _Content) -> Entry:
    if content.role == "model":
        return Entry(Role.MODEL, content)
    if content.role not in ("user", "function", None):
        return Entry(Role.OTHER, content)
    anchor = transcript.text_anchor(body, document, content.parts, Form.PART)
    anchor = transcript.NOWHERE if anchor.shape is Shape.INSIDE_STRING else anchor
    return Entry(Role.USER, content, [_history(part) for part in _parts(content.parts)], anchor)


def _parts(raw: Raw) -> list[_Part]:
    """The parts; none where they are written in another way. Raises Unreadable."""
    return wire.decoded(_PARTS, raw) or []


def _history(part: _Part) -> wire.HistoryBlock:
    if part.answer is not None:
        return wire.HistoryBlock(type="tool_result", tool_use_id=part.answer.id or part.answer.name)
    return wire.HistoryBlock(type="text" if isinstance(part.text, str) else "data", text=part.text)


def _blocks(entry: Entry) -> list[wire.Block]:
    return [_block(part) for part in _parts(entry.value.parts) if part.thought is not True]


def _block(part: _Part) -> wire.Block:
    if part.answer is not None:
        return transcript.result(part.answer.id or part.answer.name, _answer_text(part.answer.response))
    if part.call is not None:
        return transcript.call(part.call.id or part.call.name, part.call.name, part.call.args)
    return wire.Block(type="text" if isinstance(part.text, str) else "data", text=part.text)


def _answer_text(response: Raw) -> Raw:
    """What a tool gave, as a JSON string: the text under `output` or `error` where there is one."""
    told = wire.anything(response)
    if isinstance(told, dict):
        told = next((told[name] for name in ("output", "error", "result") if isinstance(told.get(name), str)), told)
    if told is None:
        return wire.ABSENT
    return transcript.text_as_raw(told if isinstance(told, str) else msgspec.json.encode(told).decode())


def _wants_schema(generation: Mapping[str, Any]) -> bool:
    names = ("responseJsonSchema", "responseSchema", "response_schema", "response_json_schema")
    return any(generation.get(name) is not None for name in names)
