"""Reads a Messages request: positions, places for blocks, and what the newest step says.

Pure. Speed matters: a long conversation is megabytes, so the whole body is passed once by the validator, and only what
stands in user messages is looked at again; tool results and images of older messages are never decoded. What was read
of the conversation before is not read again (`source`).
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import Any

import msgspec
from msgspec import Raw

from bead.recall import Cue
from bead_proxy.anthropic import directory, newest, positions, side, wire
from bead_proxy.anthropic import source as sources
from bead_proxy.anthropic.source import FIRST_USER_MESSAGES, Earlier, Source
from bead_proxy.protocol import Anchor, ModelRequest, Reading, Shape, Unreadable, UserMessage

_SYSTEM_MESSAGES = 64
"""How many messages of role `system` may name it."""
_DIRECTORY_CHARACTERS = 200_000
_SESSION_IN_USER_ID = re.compile(r"_session_([0-9A-Za-z-]{8,64})\Z")
_LONGEST_SESSION = 200


def read(body: bytes) -> ModelRequest:
    """What `body` asks of the model. Raises Unreadable for everything that must be forwarded byte for byte."""
    return _Reader(sources.whole(body)).request()


def read_on(body: bytes, earlier: Earlier | None) -> Reading[Earlier]:
    """As `read`, in less time where `body` begins like one that was read before. Raises Unreadable."""
    if earlier is not None:
        # Whatever is wrong with the rest of a body, a reading of the whole says it.
        with suppress(Unreadable):
            for rest in sources.rests(body, earlier):
                reader = _Reader(rest)
                if reader.reaches_back:
                    continue
                return Reading(reader.request(), len(rest.users), reader.earlier)
    reader = _Reader(sources.whole(body))
    return Reading(reader.request(), 0, reader.earlier)


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._bytes = source.body
        self._fields = source.fields
        self._messages = source.messages
        self._system = wire.blocks(self._fields.system)
        self._first_texts = list(source.first_texts)
        self._newest_texts: list[str] = []
        self._at = -1
        """Place of the newest user message that has a position."""
        self._users = self._read_users()

    @property
    def reaches_back(self) -> bool:
        """Whether the newest step may begin before the messages of the source."""
        return not any(message.role == "assistant" for message in self._messages[: max(0, self._at)])

    def earlier(self) -> Earlier | None:
        """What the next reading may go on from."""
        told = tuple(message.content for message in self._told())
        if not all(memoryview(content).nbytes for content in told):
            return None
        with suppress(Unreadable):
            if head := sources.head(self._source):
                spans = (*self._source.told, *map(self._source.span, told))
                first_texts = tuple(self._first_texts)
                return Earlier(self._bytes, head, self._users, first_texts, spans[:_SYSTEM_MESSAGES])
        return None

    def request(self) -> ModelRequest:
        users = self._users
        newest_is_user = bool(users) and not self._answered()
        system = list(wire.texts(self._system))
        kind = side.kind(self._fields, system, self._newest_texts)
        model = wire.anything(self._fields.model)
        cues: tuple[Cue, ...] = ()
        turn_text = typed = ""
        if newest_is_user and kind is None:
            asked, answered = self._newest_step()
            said = newest.said(asked, system)
            cues = newest.cues(said, asked, answered)
            turn_text = newest.turn_text(said, asked, answered)
            typed = "\n\n".join(block.typed for block in said if block.typed)
        return ModelRequest(
            model=model if isinstance(model, str) else "",
            stream=wire.anything(self._fields.stream) is True,
            directory=directory.find(self._texts_with_directory()),
            session=_session(self._fields.metadata),
            side=kind,
            system=self._system_anchor(),
            users=users,
            newest_is_user=newest_is_user,
            cues=cues,
            turn_text=turn_text,
            typed=typed,
        )

    def _read_users(self) -> tuple[UserMessage, ...]:
        users = list(self._source.users)
        seen = len(users)
        for at, message in enumerate(self._messages):
            if message.role != "user":
                continue
            blocks = wire.history_blocks(message.content)
            texts: list[str] = []
            words: list[str] = []
            # Nearly all messages of a long conversation hold nothing but one answer of a tool.
            if len(blocks) != 1 or blocks[0].type != "tool_result":
                texts = list(wire.texts(blocks))
                words = positions.words(blocks, texts)
            if seen < FIRST_USER_MESSAGES:
                self._first_texts += texts
            seen += 1
            self._newest_texts = texts
            if parts := positions.parts(blocks, words):
                users.append(UserMessage(parts, positions.human_text(words), self._anchor(message.content)))
                self._at = at
        return tuple(users)

    def _answered(self) -> bool:
        return any(message.role not in ("user", "system") for message in self._messages[self._at + 1 :])

    def _newest_step(self) -> tuple[list[wire.Block], list[wire.Block]]:
        """Blocks of the newest user message and of the assistant's message before it."""
        asked = wire.blocks(self._messages[self._at].content)
        for message in reversed(self._messages[: self._at]):
            if message.role == "assistant":
                return asked, wire.blocks(message.content)
        return asked, []

    def _texts_with_directory(self) -> Iterator[str]:
        """Where a harness may name the working directory: never in a tool's result, never late in a long history."""
        before = (Raw(self._bytes[start:end]) for start, end in self._source.told)
        for content in islice(chain(before, (message.content for message in self._told())), _SYSTEM_MESSAGES):
            yield from wire.texts(wire.blocks(content))
        for text in (*wire.texts(self._system), *self._first_texts):
            yield text[:_DIRECTORY_CHARACTERS]

    def _told(self) -> Iterable[wire.Message]:
        told = (message for message in self._messages if message.role == "system")
        return islice(told, _SYSTEM_MESSAGES)

    def _anchor(self, content: Raw) -> Anchor:
        start, end = self._source.span(content)
        return Anchor(Shape.STRING if self._bytes[start : start + 1] == b'"' else Shape.ARRAY, start, end)

    def _system_anchor(self) -> Anchor | None:
        """Where a pinned block goes. A provider refuses an empty text block, so blank text cannot become one."""
        if not memoryview(self._fields.system).nbytes:
            start = self._bytes.index(b"{") + 1
            return Anchor(Shape.ABSENT, start, start, field=b"system")
        anchor = self._anchor(self._fields.system)
        match self._bytes[anchor.start : anchor.start + 1]:
            case b"[":
                return anchor if self._system else Anchor(Shape.EMPTY_ARRAY, anchor.start, anchor.end)
            case b'"':
                return anchor if self._system[0].text.strip() else None
            case _:
                return None


def _session(metadata: Raw) -> str | None:
    """The session id that Claude Code puts into `metadata.user_id`, a JSON document in a string."""
    told: Any = wire.anything(metadata)
    user_id = told.get("user_id") if isinstance(told, dict) else None
    if not isinstance(user_id, str):
        return None
    if match := _SESSION_IN_USER_ID.search(user_id):
        return match[1]
    try:
        identity: Any = msgspec.json.decode(user_id)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    session = identity.get("session_id") if isinstance(identity, dict) else None
    return session if isinstance(session, str) and 0 < len(session) <= _LONGEST_SESSION else None
