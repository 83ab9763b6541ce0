"""What the newest step of a conversation says: whose words, cues for recall, the turn as the raw log keeps it.

Pure. Positions and places for blocks are `request`'s; scanning for credentials is capture's. Nothing here decodes
images, documents or reasoning.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from bead.recall import Cue, CueSource
from bead.turns import tool_block
from bead_proxy import human
from bead_proxy.anthropic import wire
from bead_proxy.protocol import Unreadable
from bead_proxy.spoken import NOBODY, Spoken, harness, spoken

TOOL_CUE_ENDS = (1_000, 500)
"""Most characters of one tool input or result that recall looks at: its beginning, and its end, where errors stand."""
WORDS_CUE_ENDS = (8_000, 8_000)
"""Most characters of a person's or the agent's text: a request may stand before what was pasted or behind it."""

_NOT_A_NAME = re.compile(r"[^\w./+-]+")
_NAME_CHARACTERS = 60
_BASE64_GROUP = 4
_BYTES_IN_GROUP = 3
_QUOTES = 2


def said(user: list[wire.Block], system: Iterable[str]) -> list[Spoken]:
    """Whose words each text block of the newest user message holds; `system` are the texts of the system part."""
    texts = list(wire.texts(user))
    beside_tool_result = any(block.type == "tool_result" for block in user)
    normal = human.own_words_of(texts, beside_tool_result=beside_tool_result)
    return spoken(texts, normal, beside_tool_result=beside_tool_result, sender=harness(system))


def cues(said: list[Spoken], user: list[wire.Block], assistant: list[wire.Block]) -> tuple[Cue, ...]:
    """What recall looks at in the newest user message and the assistant's message before it; empty texts left out."""
    person = "\n\n".join(block.words for block in said if block.words)
    found = (
        Cue(CueSource.PERSON, _ends(person, WORDS_CUE_ENDS)),
        *(
            Cue(CueSource.TOOL_OUTPUT, _ends(_result_text(block, placeholders=False), TOOL_CUE_ENDS))
            for block in _results(user)
        ),
        *(Cue(CueSource.TOOL_OUTPUT, _ends(block.added, TOOL_CUE_ENDS)) for block in said),
        *(Cue(CueSource.ASSISTANT, _ends(text, WORDS_CUE_ENDS)) for text in wire.texts(assistant)),
        *(Cue(CueSource.TOOL_INPUT, _ends(_values(block), TOOL_CUE_ENDS)) for block in _calls(assistant)),
    )
    return tuple(cue for cue in found if cue.text.strip())


def turn_text(said: list[Spoken], user: list[wire.Block], assistant: list[wire.Block]) -> str:
    """The user's side of the step: the person's words whole, text of tools and files cut, data as placeholders."""
    tools = {block.id: block.name for block in _calls(assistant) if isinstance(block.id, str)}
    texts = iter(said)
    pieces: list[str] = []
    for block in user:
        if block.type == "text":
            pieces += _text_pieces(next(texts, NOBODY) if isinstance(block.text, str) else NOBODY)
        elif block.type == "tool_result":
            name = tools.get(block.tool_use_id) if isinstance(block.tool_use_id, str) else None
            pieces.append(
                tool_block(f"result: {plain_name(name)}" if name else "result", _result_text(block, placeholders=True))
            )
        else:
            pieces.append(placeholder(block))
    return "\n\n".join(filter(None, pieces))


def _ends(text: str, most: tuple[int, int]) -> str:
    """`text`, or of a longer one as many characters of its head and its tail."""
    head, tail = most
    return text if len(text) <= head + tail else f"{text[:head]}\n{text[-tail:]}"


def _text_pieces(text: Spoken) -> tuple[str, ...]:
    return text.words, tool_block("result: added by the harness", text.added) if text.added else ""


def placeholder(block: wire.Block) -> str:
    """What stands for a block whose data is not kept: its type, and its size where it carries its data."""
    if block.type not in ("image", "document"):
        return f"[block of type {plain_name(block.type)}]"
    source = wire.source(block.source)
    if not (size := _data_bytes(source)):
        return f"[{block.type}]"
    return f"[{block.type} {plain_name(source.media_type)}, {size} bytes]"


def plain_name(value: Any) -> str:
    """A name out of a body, safe to put into a label."""
    return _NOT_A_NAME.sub("", value)[:_NAME_CHARACTERS] if isinstance(value, str) else "unknown"


def _data_bytes(source: wire.Source) -> int:
    """Size of the data in bytes, told from the length of its text alone."""
    data = memoryview(source.data)
    if data.nbytes <= _QUOTES or bytes(data[:1]) != b'"':
        return 0
    length = data.nbytes - _QUOTES
    if source.type != "base64":
        return length
    padding = bytes(data[-3:-1]).count(b"=")
    return length // _BASE64_GROUP * _BYTES_IN_GROUP - padding


def _results(blocks: Iterable[wire.Block]) -> Iterator[wire.Block]:
    return (block for block in blocks if block.type == "tool_result")


def _calls(blocks: Iterable[wire.Block]) -> Iterator[wire.Block]:
    return (block for block in blocks if block.type in ("tool_use", "server_tool_use"))


def _result_text(block: wire.Block, *, placeholders: bool) -> str:
    """Text of a tool result without the reminders that a harness puts into it."""
    try:
        inner = wire.blocks(block.content)
    except Unreadable:
        return placeholder(wire.Block())
    pieces: list[str] = []
    for part in inner:
        if part.type == "text" and isinstance(part.text, str):
            pieces.append(human.without_wrappers(part.text))
        elif placeholders:
            pieces.append(placeholder(part))
    return "\n".join(pieces).strip()


def _values(block: wire.Block) -> str:
    """The values of a tool's input, one a line, without its field names: those repeat in every call."""
    found: list[str] = []
    waiting: list[Any] = [wire.anything(block.input)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(reversed(value.values()))
        elif isinstance(value, list):
            waiting.extend(reversed(value))
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            found.append(str(value))
    return "\n".join(found)
