"""Which facts were injected and used when: `store/use.jsonl`, one line a block, until a refresh notes it in the
facts' files; lines that tell of use are carried over, the newest of each fact.

A line says when, in which conversation, which facts and where; uids only, as in the audit log, so a forget leaves the
lines alone and the next refresh drops them. Losing one costs a date, so trouble here never undoes a commit. Which file
a uid means, and writing it there, is `facts`'s.
"""

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
import structlog

from bead.conversations import Block, BlockKind
from bead.errors import BeadError
from bead_store import files
from bead_store.disk import Disk

MAX_BYTES = 4 << 20
"""Of each of the two files (I17): some twenty thousand blocks, months of work; a refresh empties them every night.
Where nothing ever asks for one, the oldest lines go."""

_CONVERSATIONS = 200
"""Of which is kept in memory what they were told: the newest."""
_USED_FACTS = 5_000
"""Of which a refresh keeps the newest use."""

log = structlog.get_logger()


class _Line(msgspec.Struct, omit_defaults=True):
    """One block, or what an agent used of those of its session."""

    at: datetime
    conversation: str = msgspec.field(name="session/conversation")
    facts: tuple[str, ...]
    """`uid@version`, or the uid alone where nobody noted the version."""
    kind: BlockKind | None = None
    """None for use."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Line).decode


class Taken(NamedTuple):
    """Lines that were set aside to be folded."""

    last_injected: Mapping[str, datetime]
    """By uid."""
    used: tuple[_Line, ...]
    """The newest of each fact that was used; they are kept."""
    lines: int
    stamp: int
    """Of their file."""


class Use:
    """One home's; asked from the turns' lane only. New lines go to `path`, those being folded lie beside it."""

    def __init__(self, path: Path, disk: Disk, now: Callable[[], datetime]) -> None:
        self._path = path
        self._aside = path.with_suffix(".old.jsonl")
        self._disk = disk
        self._now = now
        self._told: OrderedDict[str, set[str]] = OrderedDict()
        """By conversation what it was told and has not used yet, as far as is known; the newest."""

    def load(self) -> None:
        """Remember what the conversations that are noted were told."""
        for line in self._noted():
            self._remember(line)

    def told_in(self, session: str) -> frozenset[str]:
        """What the conversations of a session were told and did not use yet: `uid@version`."""
        return frozenset(told for name in self._conversations_of(session) for told in self._told[name])

    def note_used(self, session: str, told: frozenset[str]) -> None:
        """An agent has used these facts; a conversation's use of one is noted once. Never raises what a disk says."""
        at = self._now().replace(microsecond=0)
        for name in self._conversations_of(session):
            used = told & self._told[name]
            if used:
                self._add([_Line(at, name, tuple(sorted(used)))])

    def note(self, conversation: str, blocks: Iterable[Block]) -> None:
        """Add a line for each block that carries facts; synced with the next group. Never raises what a disk says."""
        at = self._now().replace(microsecond=0)
        lines = [_Line(at, conversation, block.told, block.kind) for block in blocks if block.fact_uids]
        if lines:
            self._add(lines)

    def take(self) -> Taken | None:
        """The lines that are to be folded next, oldest first; they stay on disk until `drop`. None when there are none.

        Those of a refresh that did not come to its end are the first: folding them twice changes nothing.
        """
        if not self._aside.exists():
            if not self._path.exists():
                return None
            self._set_aside()
        stamp = files.stamp_of(str(self._aside))
        lines = list(_lines(files.read(self._aside, 2 * MAX_BYTES)))
        return Taken(_newest(lines), _newest_used(lines), len(lines), stamp)

    def drop(self, taken: Taken) -> None:
        """They are folded. A file that took their place meanwhile stays for the next time."""
        if files.stamp_of(str(self._aside)) == taken.stamp:
            if taken.used:
                # First: a crash in between doubles them, and none is lost.
                self._disk.append(self._path, b"".join(_encode(line) + b"\n" for line in taken.used))
            self._disk.remove(self._aside)

    def moments(self) -> list[datetime]:
        """When blocks with facts were kept, as far as it is noted here; any thread may ask."""
        return [line.at for line in self._noted() if line.kind is not None]

    def used(self, uid: str) -> dict[str, datetime]:
        """By conversation when a fact was used, as far as it is noted; any thread may ask."""
        lines = (line for line in self._noted() if line.kind is None)
        return {line.conversation: line.at for line in lines if any(_uid(told) == uid for told in line.facts)}

    def of(self, uid: str) -> list[tuple[datetime, str, BlockKind, int | None]]:
        """When, in which conversation, as what and in which version a fact was injected, oldest first."""
        found: list[tuple[datetime, str, BlockKind, int | None]] = []
        for line in self._noted():
            for told in line.facts:
                name, _, version = told.partition("@")
                if name == uid and line.kind is not None:
                    found.append((line.at, line.conversation, line.kind, int(version) if version else None))
        return found

    def _noted(self) -> Iterator[_Line]:
        for path in (self._aside, self._path):
            with contextlib.suppress(FileNotFoundError, BeadError):
                yield from _lines(files.read(path, 2 * MAX_BYTES))

    def _add(self, lines: list[_Line]) -> None:
        for line in lines:
            self._remember(line)
        try:
            if _size(self._path) >= MAX_BYTES:
                self._set_aside()
            self._disk.append(self._path, b"".join(_encode(line) + b"\n" for line in lines))
        except BeadError as error:
            log.warning("the use of facts is not noted", facts=sum(len(line.facts) for line in lines), error=error.code)

    def _remember(self, line: _Line) -> None:
        told = self._told.setdefault(line.conversation, set())
        self._told.move_to_end(line.conversation)
        if line.kind is None:
            told.difference_update(line.facts)
        else:
            told.update(line.facts)
        while len(self._told) > _CONVERSATIONS:
            self._told.popitem(last=False)

    def _conversations_of(self, session: str) -> list[str]:
        return [name for name in self._told if name.startswith(f"{session}-")]

    def _set_aside(self) -> None:
        self._disk.remove(self._aside)
        self._disk.move(self._path, self._aside)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _lines(data: bytes) -> Iterator[_Line]:
    """The lines that can be read; a crash may have torn one."""
    for raw in data.splitlines():
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            line = _decode(raw)
            if line.at.tzinfo is not None:
                yield line


def _newest(lines: Iterable[_Line]) -> dict[str, datetime]:
    """When each fact was injected last."""
    last: dict[str, datetime] = {}
    for line in lines:
        for told in line.facts if line.kind is not None else ():
            uid = _uid(told)
            last[uid] = max(line.at, last.get(uid, line.at))
    return last


def _newest_used(lines: Iterable[_Line]) -> tuple[_Line, ...]:
    """One line a fact: when and where it was used last."""
    last = {
        _uid(told): _Line(line.at, line.conversation, (told,))
        for line in lines
        if line.kind is None
        for told in line.facts
    }
    return tuple(list(last.values())[-_USED_FACTS:])


def _uid(told: str) -> str:
    return told.partition("@")[0]
