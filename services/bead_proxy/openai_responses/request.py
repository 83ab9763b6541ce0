"""Reads a Responses request: instructions and a string, or a list of items.

Pure. The pinned block goes into `instructions`; Codex sends none and has developer items instead, so there it is the
last one before the first user item. The recall block goes into the newest user item or into what a tool gave, which is
an item of its own. A request that goes on from a stored response shows only what is new: the id of that response is
then part of its first position, so that the same words in another place are another turn.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw

from bead_proxy import rawjson, transcript
from bead_proxy.anthropic import side, wire
from bead_proxy.protocol import Anchor, Form, ModelRequest, Reading, Shape
from bead_proxy.transcript import Entry, Role

_SYSTEM = ("system", "developer")
_TEXT_TYPES = frozenset({"input_text", "output_text", "text", "summary_text"})
_OUTPUTS_WITH_ROOM = frozenset({"function_call_output", "custom_tool_call_output"})


class _Item(msgspec.Struct, gc=False):
    type: Any = "message"
    role: Any = None
    content: Raw = wire.ABSENT
    call_id: Any = None
    name: Any = None
    arguments: Raw = wire.ABSENT
    input: Raw = wire.ABSENT
    action: Raw = wire.ABSENT
    output: Raw = wire.ABSENT


class _Body(msgspec.Struct):
    input: Raw
    instructions: Raw = wire.ABSENT
    model: Any = None
    stream: Any = None
    tools: Raw = wire.ABSENT
    text: Raw = wire.ABSENT
    max_output_tokens: Any = None
    prompt_cache_key: Any = None
    previous_response_id: Any = None
    conversation: Any = None


_BODY = msgspec.json.Decoder(_Body)
_ITEMS = msgspec.json.Decoder(list[_Item])


def read(body: bytes) -> ModelRequest:
    """What `body` asks of the model. Raises Unreadable for everything that must be forwarded byte for byte."""
    return _Reader(body).request()


def read_on(body: bytes, earlier: None) -> Reading[None]:
    """As `read`; nothing is kept for the next reading."""
    return Reading(read(body), 0, lambda: None)


class _Reader:
    def __init__(self, body: bytes) -> None:
        self._body = body
        self._document = rawjson.decode(body, _BODY)
        self._asked = self._document.value
        self._entries = self._read_entries()

    def request(self) -> ModelRequest:
        asked = self._asked
        first_user = next((at for at, entry in enumerate(self._entries) if entry.role is Role.USER), 0)
        leading = [entry for entry in self._entries[:first_user] if entry.role is Role.SYSTEM]
        instructions = wire.anything(asked.instructions)
        own = [instructions] if isinstance(instructions, str) else []
        told = [entry for entry in self._entries[first_user:] if entry.role is Role.SYSTEM]
        return transcript.Transcript(
            entries=self._entries,
            blocks=_blocks,
            model=asked.model if isinstance(asked.model, str) else "",
            stream=asked.stream is True,
            session=_session(asked),
            system=self._system(leading, has_instructions=bool(own)),
            system_texts=own + _texts_of(leading),
            told=_texts_of(told[:64]),
            asked=side.Asked(
                has_tools=not wire.is_empty(asked.tools)
                or any(entry.value.type == "additional_tools" for entry in self._entries),
                wants_schema=_wants_schema(asked.text),
                is_probe=False,
            ),
        ).request()

    def _read_entries(self) -> list[Entry]:
        given = self._asked.input
        words = wire.anything(given) if bytes(memoryview(given)[:1]) == b'"' else None
        if isinstance(words, str):
            item = _Item(role="user", content=given)
            anchor = transcript.text_anchor(self._body, self._document, given, Form.INPUT_TEXT)
            entries = [Entry(Role.USER, item, [wire.HistoryBlock(type="text", text=words)], anchor)]
        else:
            entries = [self._entry(item) for item in wire.decoded(_ITEMS, given) or ()]
        return _after(self._asked.previous_response_id, entries)

    def _entry(self, item: _Item) -> Entry:
        kind = item.type if isinstance(item.type, str) else ""
        if kind == "message":
            return self._message(item)
        if kind.endswith("_output"):
            has_room = kind in _OUTPUTS_WITH_ROOM
            anchor = self._anchor(item.output) if has_room else transcript.NOWHERE
            return Entry(Role.RESULT, item, transcript.answers(item.call_id), anchor)
        is_models = kind == "reasoning" or kind.endswith("_call")
        return Entry(Role.MODEL if is_models else Role.OTHER, item)

    def _message(self, item: _Item) -> Entry:
        match item.role:
            case "user":
                return Entry(Role.USER, item, _history(item.content), self._anchor(item.content))
            case "assistant":
                return Entry(Role.MODEL, item)
            case "system" | "developer":
                return Entry(Role.SYSTEM, item, anchor=self._anchor(item.content))
            case _:
                return Entry(Role.OTHER, item)

    def _anchor(self, value: Raw) -> Anchor:
        return transcript.text_anchor(self._body, self._document, value, Form.INPUT_TEXT)

    def _system(self, leading: Sequence[Entry], *, has_instructions: bool) -> Anchor | None:
        if has_instructions:
            return self._anchor(self._asked.instructions)
        if leading:
            return None if leading[-1].anchor is transcript.NOWHERE else leading[-1].anchor
        if memoryview(self._asked.instructions).nbytes:
            return None  # null: a second one in front of it would not count
        return transcript.absent(self._body, Shape.ABSENT_STRING, b"instructions")


def _after(response: Any, entries: list[Entry]) -> list[Entry]:
    """The same entries; the first with a position says after which stored response it comes."""
    if isinstance(response, str):
        for at, entry in enumerate(entries):
            if entry.history:
                entries[at] = msgspec.structs.replace(entry, history=transcript.answers(response, *entry.history))
                break
    return entries


def _texts_of(entries: Sequence[Entry]) -> list[str]:
    return [text for entry in entries for text in wire.texts(_history(entry.value.content))]


def _history(content: Raw) -> list[wire.HistoryBlock]:
    found = wire.history_blocks(content)
    for block in found:
        if block.type in _TEXT_TYPES:
            block.type = "text"
    return found


def _content(content: Raw) -> list[wire.Block]:
    found = wire.blocks(content)
    for block in found:
        if block.type in _TEXT_TYPES:
            block.type = "text"
        elif block.type in ("input_image", "input_file"):
            block.type = "image" if block.type == "input_image" else "document"
    return found


def _blocks(entry: Entry) -> list[wire.Block]:
    item: _Item = entry.value
    if entry.role is Role.RESULT:
        return [transcript.result(item.call_id, _output(item.output))]
    if item.type == "message":
        return _content(item.content)
    if item.type == "reasoning":
        return []
    given = next((raw for raw in (item.arguments, item.input, item.action) if memoryview(raw).nbytes), wire.ABSENT)
    return [transcript.call(item.call_id, item.name or item.type, given)]


def _output(output: Raw) -> Raw:
    """What a tool gave, as a string or as text blocks."""
    if bytes(memoryview(output)[:1]) != b"[":
        return output if bytes(memoryview(output)[:1]) == b'"' else wire.ABSENT
    blocks = [{"type": block.type, "text": block.text} for block in _content(output)]
    return Raw(msgspec.json.encode(blocks))


def _session(asked: _Body) -> str | None:
    conversation = asked.conversation
    named = conversation.get("id") if isinstance(conversation, dict) else conversation
    return transcript.plain_session(named) or transcript.plain_session(asked.prompt_cache_key)


def _wants_schema(text: Raw) -> bool:
    told = wire.anything(text)
    chosen = told.get("format") if isinstance(told, dict) else None
    return isinstance(chosen, dict) and chosen.get("type") in ("json_schema", "json_object")
