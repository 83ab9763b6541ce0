"""The fields of an Anthropic Messages body that bead looks at; everything else is passed over unread.

Pure. Types are as wide as possible on purpose: a field that a provider may give a new shape must not make the whole
body unreadable. What the fields mean is the business of the other modules of this package.
"""

from collections.abc import Iterator
from typing import Any, cast

import msgspec
from msgspec import Raw

from bead_proxy.protocol import Unreadable

ABSENT = Raw(b"")
_LONGEST_EMPTY = 64
"""An empty array of more bytes than this, all blanks, does not count as empty."""


class Message(msgspec.Struct, gc=False):
    """One message; its content stays undecoded until somebody asks."""

    role: str
    content: Raw = ABSENT


class Fields(msgspec.Struct, kw_only=True):
    """Everything of a request body but its messages."""

    system: Raw = ABSENT
    model: Raw = ABSENT
    stream: Raw = ABSENT
    max_tokens: Raw = ABSENT
    metadata: Raw = ABSENT
    tools: Raw = ABSENT
    output_config: Raw = ABSENT
    output_format: Raw = ABSENT

    def or_else(self, before: "Fields") -> "Fields":
        """These, where absent those of `before`: of two values of one key the later one counts."""
        return Fields(
            **{name: _present(getattr(self, name), getattr(before, name)) for name in Fields.__struct_fields__}
        )


class Body(Fields):
    """A request body in one pass."""

    messages: list[Message]


class Tail(Fields):
    """The last messages of a body with everything that follows them; each message stays undecoded."""

    messages: list[Raw]


class Block(msgspec.Struct):
    """One content block; what tools gave or took stays undecoded."""

    type: Any = None
    text: Any = None
    tool_use_id: Any = None
    id: Any = None
    name: Any = None
    input: Raw = ABSENT
    content: Raw = ABSENT
    source: Raw = ABSENT


class Source(msgspec.Struct):
    """Where the data of an image or document is; the data stays undecoded."""

    type: Any = None
    media_type: Any = None
    data: Raw = ABSENT


class HistoryBlock(msgspec.Struct, gc=False):
    """One content block of an older message: only what positions are made of."""

    type: Any = None
    text: Any = None
    tool_use_id: Any = None


BODY = msgspec.json.Decoder(Body)
TAIL = msgspec.json.Decoder(Tail)
_MESSAGE = msgspec.json.Decoder(Message)
_BLOCKS = msgspec.json.Decoder(str | list[Block] | None)
_HISTORY = msgspec.json.Decoder(str | list[HistoryBlock] | None)
_SOURCE = msgspec.json.Decoder(Source)
_ANY = msgspec.json.Decoder(Any)


def message(value: Raw) -> Message:
    """`value` as a message. Raises Unreadable."""
    return cast("Message", decoded(_MESSAGE, value))


def blocks(content: Raw) -> list[Block]:
    """The blocks of `content`; a string is one text block, nothing is none. Raises Unreadable."""
    found = decoded(_BLOCKS, content)
    return [Block(type="text", text=found)] if isinstance(found, str) else found or []


def history_blocks(content: Raw) -> list[HistoryBlock]:
    """As `blocks`, several times as fast. Raises Unreadable."""
    found = decoded(_HISTORY, content)
    return [HistoryBlock(type="text", text=found)] if isinstance(found, str) else found or []


def source(value: Raw) -> Source:
    """The source of an image or document; an empty one when it has another shape."""
    try:
        return _SOURCE.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Source()


def anything(value: Raw) -> Any:
    """`value` decoded whole; None when it is absent, or holds what Python cannot (a number without end, say)."""
    try:
        return decoded(_ANY, value)
    except Unreadable:
        return None


def is_empty(value: Raw) -> bool:
    """Whether `value` is absent, null or an empty array."""
    view = memoryview(value)
    return view.nbytes < _LONGEST_EMPTY and b"".join(bytes(view).split()) in (b"", b"null", b"[]")


def texts(found: list[Block] | list[HistoryBlock]) -> Iterator[str]:
    """The text of each text block."""
    for block in found:
        if block.type == "text" and isinstance(block.text, str):
            yield block.text


def _present(value: Raw, other: Raw) -> Raw:
    return value if memoryview(value).nbytes else other


def decoded(decoder: msgspec.json.Decoder[Any], value: Raw) -> Any:
    """`value` read by `decoder`; None when it is absent. Raises Unreadable."""
    try:
        # An absent value is an empty buffer.
        return decoder.decode(value) if memoryview(value).nbytes else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Unreadable(f"content not readable: {type(error).__name__}") from error
