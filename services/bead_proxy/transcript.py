"""One request out of a protocol's messages or items, once they are told in the words of Messages.

Pure. OpenAI's and Gemini's packages translate their entries into the content blocks of Messages; positions, cues, turns
and side requests then come from the same code for all, so `remember` and capture cannot differ between protocols.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Any

import msgspec
from msgspec import Raw

from bead.recall import Cue
from bead_proxy.anthropic import directory, newest, positions, side, wire
from bead_proxy.protocol import Anchor, Form, ModelRequest, Shape, UserMessage
from bead_proxy.rawjson import Document

_FIRST_USER_MESSAGES = 3
"""How many user messages may name the working directory."""
_SYSTEM_MESSAGES = 64
_DIRECTORY_CHARACTERS = 200_000
_LONGEST_SESSION = 200

NOWHERE = Anchor(Shape.NO_ROOM, 0, 0)


class Role(Enum):
    """Whose entry it is."""

    USER = "user"
    RESULT = "result"
    """What a tool gave, where that is an entry of its own."""
    MODEL = "model"
    SYSTEM = "system"
    OTHER = "other"


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One message or item."""

    role: Role
    value: Any
    """As its protocol has it; `Transcript.blocks` reads it."""
    history: list[wire.HistoryBlock] = []
    """Of USER and RESULT: its texts and the ids of answered calls."""
    anchor: Anchor = NOWHERE


@dataclass(frozen=True, slots=True)
class Transcript:
    """A body, translated."""

    entries: Sequence[Entry]
    blocks: Callable[[Entry], list[wire.Block]]
    """The content blocks of an entry; asked of the newest step only. Raises Unreadable."""
    model: str
    stream: bool
    session: str | None
    system: Anchor | None
    system_texts: list[str]
    """The system part."""
    told: Sequence[str]
    """Texts of system messages further down."""
    asked: side.Asked

    def request(self) -> ModelRequest:
        """What the body asks. Raises Unreadable."""
        users, newest_texts, at = self._users()
        newest_is_user = bool(users) and not any(entry.role is Role.MODEL for entry in self.entries[at + 1 :])
        kind = side.kind_of(self.asked, self.system_texts, newest_texts)
        step = self._step(at) if newest_is_user and kind is None else _NO_STEP
        return ModelRequest(
            model=self.model,
            stream=self.stream,
            directory=directory.find(self._texts_with_directory()),
            session=self.session,
            side=kind,
            system=self.system,
            users=tuple(users),
            newest_is_user=newest_is_user,
            cues=step.cues,
            turn_text=step.turn_text,
            typed=step.typed,
        )

    def _users(self) -> tuple[list[UserMessage], list[str], int]:
        """Messages with a position, texts of the newest user message, and the place of the newest with a position."""
        users: list[UserMessage] = []
        newest_texts: list[str] = []
        at = -1
        for number, entry in enumerate(self.entries):
            if entry.role not in _USERS:
                continue
            texts = list(wire.texts(entry.history))
            words = positions.words(entry.history, texts) if texts else []
            newest_texts = texts
            if parts := positions.parts(entry.history, words):
                users.append(UserMessage(parts, positions.human_text(words), entry.anchor))
                at = number
        return users, newest_texts, at

    def _step(self, at: int) -> "_Step":
        """The newest message with the tools' results right before it, and what the model said before that."""
        own = self.blocks(self.entries[at])
        said = newest.said(own, self.system_texts)
        before = self._results_before(at)
        asked = [block for number in before for block in self.blocks(self.entries[number])] + own
        answered = self._answered(before[0] if before else at)
        return _Step(
            newest.cues(said, asked, answered),
            newest.turn_text(said, asked, answered),
            "\n\n".join(block.typed for block in said if block.typed),
        )

    def _results_before(self, at: int) -> list[int]:
        """Places of tools' results that no model has seen without the entry at `at`."""
        found: list[int] = []
        for number in range(at - 1, -1, -1):
            role = self.entries[number].role
            if role is Role.RESULT:
                found.insert(0, number)
            elif role in (Role.USER, Role.MODEL):
                break
        return found

    def _answered(self, at: int) -> list[wire.Block]:
        """Blocks of the model's run of entries that is nearest before `at`."""
        run: list[Entry] = []
        for entry in reversed(self.entries[:at]):
            if entry.role is Role.MODEL:
                run.insert(0, entry)
            elif run and entry.role in _USERS:
                break
        return [block for entry in run for block in self.blocks(entry)]

    def _texts_with_directory(self) -> Iterator[str]:
        yield from islice(self.told, _SYSTEM_MESSAGES)
        for text in self.system_texts:
            yield text[:_DIRECTORY_CHARACTERS]
        users = (entry for entry in self.entries if entry.role is Role.USER)
        for entry in islice(users, _FIRST_USER_MESSAGES):
            for text in wire.texts(entry.history):
                yield text[:_DIRECTORY_CHARACTERS]


@dataclass(frozen=True, slots=True)
class _Step:
    cues: tuple[Cue, ...] = ()
    turn_text: str = ""
    typed: str = ""


_NO_STEP = _Step()
_USERS = (Role.USER, Role.RESULT)


def text_anchor(body: bytes, document: Document[Any], value: Raw, form: Form) -> Anchor:
    """Where a text goes in `value`: into a string, behind the last block of an array. Raises Unreadable."""
    if not memoryview(value).nbytes:
        return NOWHERE
    start, end = document.span(value)
    match body[start : start + 1]:
        case b'"':
            shape = Shape.INSIDE_STRING
        case b"[":
            shape = Shape.EMPTY_ARRAY if not body[start + 1 : end - 1].strip() else Shape.ARRAY
        case _:
            return NOWHERE
    return Anchor(shape, start, end, form=form)


def absent(body: bytes, shape: Shape, field: bytes) -> Anchor:
    """Where a field can be created: at the body's beginning."""
    start = body.index(b"{") + 1
    return Anchor(shape, start, start, field=field, form=Form.PART)


def plain_session(value: Any) -> str | None:
    """`value` where it can be a session's id."""
    return value if isinstance(value, str) and 0 < len(value) <= _LONGEST_SESSION else None


def answers(call_id: Any, *texts: wire.HistoryBlock) -> list[wire.HistoryBlock]:
    """The history of an entry that answers a call."""
    return [wire.HistoryBlock(type="tool_result", tool_use_id=call_id), *texts]


def result(call_id: Any, text: Raw) -> wire.Block:
    """A tool's result; `text` is a JSON string, or an array of text blocks."""
    return wire.Block(type="tool_result", tool_use_id=call_id, content=text)


def call(call_id: Any, name: Any, arguments: Raw) -> wire.Block:
    """A tool call; arguments that are JSON in a string are looked into."""
    given = wire.anything(arguments)
    if isinstance(given, str):
        inner = Raw(given.encode("utf-8", "surrogatepass"))
        arguments = inner if wire.anything(inner) is not None else arguments
    return wire.Block(type="tool_use", id=call_id, name=name, input=arguments)


def text_as_raw(text: str) -> Raw:
    """`text` as a JSON string."""
    return Raw(msgspec.json.encode(text))
