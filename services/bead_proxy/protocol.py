"""What a protocol module tells the pipeline about one request, whatever the provider.

Pure. The package of each protocol reads its bodies into these; `bead_proxy.memory` decides with them; nothing here
knows a provider's field names. Offsets are byte offsets into the body as it came.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, NamedTuple, Protocol, TypeVar

import msgspec

from bead.recall import Cue

EarlierT = TypeVar("EarlierT")


class Unreadable(ValueError):
    """The body cannot be read safely; it is forwarded as it came. The text is a reason for counters, never content."""


class Insertion(NamedTuple):
    """Bytes to add before `offset`."""

    offset: int
    data: bytes


class Shape(StrEnum):
    """How the value that takes a block is written."""

    ARRAY = "array"
    EMPTY_ARRAY = "empty array"
    STRING = "string"
    INSIDE_STRING = "inside a string"
    """The text itself goes into the string: not every server takes an array where clients send a string."""
    ABSENT = "absent"
    ABSENT_STRING = "absent string"
    ABSENT_PARTS = "absent object with parts"
    NO_ROOM = "no room"
    """No text can be added, to a screenshot that answers a tool, say."""


class Form(StrEnum):
    """How a block begins that holds one text; its value and a `}` follow."""

    TEXT = '{"type":"text","text":'
    INPUT_TEXT = '{"type":"input_text","text":'
    PART = '{"text":'


# Structs, not dataclasses, for the two of which a long conversation makes thousands.
class Anchor(msgspec.Struct, frozen=True, gc=False):
    """Where text can be added: `start` and `end` of the value (for ABSENT: just after the body's `{`)."""

    shape: Shape
    start: int
    end: int
    field: bytes = b""
    """Name of the field to create where it is absent."""
    form: Form = Form.TEXT

    def insertions(self, text: str) -> tuple[Insertion, ...]:
        """Add one text block with `text` after what is there; taking the bytes out again gives the original."""
        # "replace": half a surrogate pair in `text` must not make the body invalid UTF-8 (I11).
        quoted = json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")
        opening = self.form.encode()
        block = opening + quoted + b"}"
        match self.shape:
            case Shape.ARRAY:
                return (Insertion(self.end - 1, b"," + block),)
            case Shape.EMPTY_ARRAY:
                return (Insertion(self.end - 1, block),)
            case Shape.STRING:
                # A string equals one text block (HARNESSES 3.2): harnesses turn one into the other between turns, so
                # the block must come out the same either way.
                return (Insertion(self.start, b"[" + opening), Insertion(self.end, b"}," + block + b"]"))
            case Shape.INSIDE_STRING:
                return (Insertion(self.end - 1, b"\\n\\n" + quoted[1:-1]),)
            case Shape.ABSENT:
                return (Insertion(self.start, b'"' + self.field + b'":[' + block + b"],"),)
            case Shape.ABSENT_STRING:
                return (Insertion(self.start, b'"' + self.field + b'":' + quoted + b","),)
            case Shape.NO_ROOM:
                return ()
            case Shape.ABSENT_PARTS:
                return (Insertion(self.start, b'"' + self.field + b'":{"parts":[' + block + b"]},"),)


class UserMessage(msgspec.Struct, frozen=True, gc=False):
    """A user message that holds the person's words or answers a tool; others get no position."""

    parts: tuple[str, ...]
    """What `bead.conversations.roll` hashes: normalised human texts and tool-use ids, in order."""
    human_text: str
    """What no harness marked as its own; whose it is, is told of the newest message only (`ModelRequest`)."""
    anchor: Anchor

    def __repr__(self) -> str:
        return f"UserMessage(parts={len(self.parts)}, characters={len(self.human_text)})"


class SideRequest(StrEnum):
    """A request that is not a step of the conversation: nothing new is injected and nothing captured (D5)."""

    TITLE = "title"
    COMPACTION = "compaction"
    MEMORY_AGENT = "memory agent"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request for a model's answer."""

    model: str
    stream: bool
    directory: str | None
    """Working directory that the harness reports."""
    session: str | None
    """Session id found in the body."""
    side: SideRequest | None
    system: Anchor | None
    """Where a pinned block can go; None where a body has no room for one (`null`, blank text)."""
    users: tuple[UserMessage, ...]
    """Oldest first."""
    newest_is_user: bool
    """Whether nothing of the model's follows the last of `users`: only then may a new block go there."""
    cues: tuple[Cue, ...]
    """What recall looks at: the newest user message and the assistant's message before it."""
    turn_text: str
    """The newest user message as the raw log keeps it: the person's words whole, text of tools and files cut.

    Cues, this and `typed` are empty for side requests, and unless `newest_is_user`: then they were seen before.
    """
    typed: str
    """The part of the newest user message that the person typed: a wish to remember counts only here (I13)."""

    def __repr__(self) -> str:
        return f"ModelRequest(model={self.model!r}, users={len(self.users)}, side={self.side!r})"


@dataclass(frozen=True, slots=True)
class Reading(Generic[EarlierT]):
    """What a body asks, and what makes the next one of its conversation quick to read."""

    request: ModelRequest
    kept: int
    """How many of the request's first user messages are those of the earlier reading, the very same objects."""
    earlier: Callable[[], EarlierT | None]
    """What the next reading needs, body included; None where that would have to begin anew anyway."""


class Usage(NamedTuple):
    """The provider's own numbers, in tokens, said in one way whatever the protocol: no token counts twice."""

    input: int = 0
    """Without those that the cache gave or took (OpenAI and Gemini count them in; a reader takes them out)."""
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's answer as the raw log keeps it."""

    text: str
    complete: bool
    usage: Usage

    def __repr__(self) -> str:
        return f"Reply(characters={len(self.text)}, complete={self.complete}, usage={self.usage})"


class ReplyReader(Protocol):
    """Assembles a reply from the bytes that pass by, whatever their borders."""

    def feed(self, chunk: bytes) -> None:
        """See the next bytes of the response body. Never raises."""
        ...

    def close(self) -> Reply:
        """What the bytes so far amount to."""
        ...


Pieces = Sequence[bytes | memoryview]
"""The bytes of a body, one behind the other: a copy of megabytes for some hundred new ones costs milliseconds."""


def splice(body: bytes, insertions: Iterable[Insertion]) -> bytes:
    """`body` with every insertion, in order of offset; several at one offset keep their order."""
    return b"".join(spliced(body, insertions))


def spliced(body: bytes, insertions: Iterable[Insertion]) -> Pieces:
    """As `splice`, without copying `body`."""
    view = memoryview(body)
    parts: list[bytes | memoryview] = []
    at = 0
    for offset, data in sorted(insertions, key=lambda insertion: insertion.offset):
        parts += (view[at:offset], data)
        at = offset
    parts.append(view[at:])
    return parts
