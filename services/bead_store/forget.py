"""Forget: leave no byte of a fact, and make sure that it is finished, whatever happens in between (I5, I6, I7).

The order makes a crash at any point harmless: an intent with ids, then tombstones, then the fact's files are taken out
of the facts' folder and kept beside the intent. They tell what to look for in turns, conversations, queue, drafts and
episodes; only when nothing is left there are they overwritten and removed. What is still open at the start is finished
before the store answers anybody. The index is not told: it follows the change feed, and its word is waited for.
"""

import asyncio
import os
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec

from bead import keys
from bead.errors import DamagedFile
from bead.home import Home
from bead.tasks import Tasks
from bead.wire.store import (
    ChangeKind,
    ConfirmForget,
    ForgetHit,
    ForgetKeys,
    ForgetPlace,
    ForgetPreview,
    ForgetReceipt,
    IndexState,
)
from bead_store import erasure, files, header, layout
from bead_store.audit import Audit
from bead_store.catalogue import Catalogue
from bead_store.changes import Changes
from bead_store.confirmations import LIFE_S, Confirmations
from bead_store.conversations import Conversations
from bead_store.episodes import Episodes
from bead_store.files import Disk
from bead_store.frontmatter import MAX_FILE_BYTES, Reader, normal_body
from bead_store.intents import Intent, Intents, Operation
from bead_store.lanes import Lane
from bead_store.raw import RawLog
from bead_store.redaction import Wanted, look_for
from bead_store.tombstones import Tombstones
from bead_store.traces import Traces
from bead_store.values import MIN_SEARCHED_CHARS

CONSUMER = "index"
INDEX_WAIT_S = 5.0
_BETWEEN_TURNS = 0
_DOCUMENT = "document-"
"""Begin of the names of taken files that are no versions: what they say is not looked for."""
_LEFT = "{path}: it holds the text and is none of bead's files; look at it and remove it by hand"


class _Version(NamedTuple):
    """What a version's file tells a forget, however damaged it is."""

    body: str
    sources: tuple[str, ...]
    is_whole: bool


@dataclass
class _Work:
    """One forget on its way."""

    intent: str
    uids: tuple[str, ...]
    names: tuple[str, ...]
    places: list[ForgetPlace] = field(default_factory=list)

    def saw(self, place: str, looked_at: tuple[int, str], removed: int, how: str, left: Iterable[str] = ()) -> None:
        """Note what was done in one place, for the receipt."""
        count, unit = looked_at
        self.places.append(
            ForgetPlace(place=place, looked_at=count, unit=unit, removed=removed, how=how, left=tuple(left))
        )


@dataclass(frozen=True)
class Lanes:
    """The threads of the parts: each part is changed in its own only."""

    facts: Lane
    turns: Lane
    slow: Lane


class Forgetting:
    """Asked from the event loop; one forget at a time."""

    def __init__(
        self,
        home: Home,
        *,
        disk: Disk,
        catalogue: Catalogue,
        raw: RawLog,
        episodes: Episodes,
        conversations: Conversations,
        traces: Traces,
        tombstones: Tombstones,
        intents: Intents,
        changes: Changes,
        audit: Audit,
        lanes: Lanes,
        tasks: Tasks,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home = home
        self._disk = disk
        self._catalogue = catalogue
        self._raw = raw
        self._episodes = episodes
        self._conversations = conversations
        self._traces = traces
        self._tombstones = tombstones
        self._intents = intents
        self._changes = changes
        self._audit = audit
        self._lanes = lanes
        self._tasks = tasks
        self._confirmations = Confirmations(clock)
        self._one = asyncio.Lock()

    async def preview(self, request: ForgetKeys) -> ForgetPreview:
        """What a forget of exactly these keys would take.

        Raises:
            InvalidKey: one of them is no key.
        """
        asked = _distinct(request.keys)
        there = await self._lanes.facts.run(lambda: [key for key in asked if self._catalogue.refresh(key)])
        hits, turns = await self._lanes.slow.run(self._look, there)
        subject = await self._lanes.facts.run(self._subject, asked)
        return ForgetPreview(
            hits=tuple(hits),
            missing=tuple(key for key in asked if key not in there),
            turns=turns,
            confirm=self._confirmations.issue(*subject) if there else None,
            expires_s=LIFE_S,
        )

    async def forget(self, request: ConfirmForget) -> ForgetReceipt:
        """Forget exactly these keys; nothing is left here when this returns.

        Raises:
            NotConfirmed: the word is not that of a preview of these keys as they are now.
            Unavailable: the disk refused; what was begun is finished at the next start or by the next forget.
        """
        asked = _distinct(request.keys)
        async with self._one:
            await self._finish_stuck()
            subject = await self._lanes.facts.run(self._subject, asked)
            self._confirmations.redeem(request.confirm, *subject)
            # In a task of its own: a caller who goes away does not stop it half way.
            work = self._tasks.start(self._forget(asked), name="forget")
            return await asyncio.shield(work)

    async def resume(self, id: str, intent: Intent) -> None:
        """Finish what a crash or a full disk left open, as far as it is ours to do."""
        if intent.waits_for_index:
            if not self._has_index():  # its file was deleted meanwhile, and what it held with it
                await self._lanes.facts.run(self._intents.finish, id)
        else:
            # The last file of a key may be taken already, and the folder that names it still be there.
            await self._lanes.facts.run(self._disk.remove_empty_below, self._home.facts)
            await self._finish(_Work(id, intent.uids, intent.names))

    async def acknowledged(self) -> None:
        """The index has said something: close what waited for it."""
        if any(intent.waits_for_index for intent in self._intents.open.values()):
            await self._lanes.facts.run(self._close_applied)

    # -- the steps, each in the lane of what it changes --------------------------------------------------------------

    async def _forget(self, asked: tuple[str, ...]) -> ForgetReceipt:
        there, work = await self._lanes.facts.run(self._begin, asked)
        await self._finish(work)
        return ForgetReceipt(
            forgot=there,
            missing=tuple(key for key in asked if key not in there),
            level=2 if erasure.overwrites(self._file_system()) else 1,
            file_system=self._file_system(),
            places=tuple(work.places),
            index=await self._wait_for_index(work.intent),
        )

    def _begin(self, asked: tuple[str, ...]) -> tuple[tuple[str, ...], _Work]:
        there = tuple(key for key in asked if self._catalogue.refresh(key))
        uids = tuple(self._catalogue.uid(key) for key in there)
        names = tuple(self._tombstones.name(key) for key in there)
        return there, _Work(self._intents.begin(Intent(Operation.FORGET, uids, names)), uids, names)

    async def _finish(self, work: _Work) -> None:
        """Every step, also those that were done before a crash: doing one again changes nothing."""
        await self._lanes.facts.run(self._take_files, work)
        wanted = await self._lanes.slow.run(self._wanted, work)
        await self._redact_turns(work, wanted)
        await self._drop_blocks(work, wanted)
        await self._drop_traces(work)
        await self._lanes.facts.run(self._drop_documents, work, wanted)
        await self._lanes.facts.run(self._destroy, work)

    def _take_files(self, work: _Work) -> None:
        """Bury the values, then take the files away; the fact is gone for everybody from here on."""
        found = [entry.key for entry in self._catalogue.entries() if self._tombstones.name(entry.key) in work.names]
        bodies = buried = taken = unread = 0
        linked: list[str] = []
        for key in found:
            uid = self._catalogue.uid(key)
            if uid in work.uids:
                paths = self._files(key)
                told = [_told(path) for path in paths]
                bodies += sum(bool(version.body) for version in told)
                buried += self._tombstones.bury((version.body for version in told if version.body), uid)
                unread += sum(not version.is_whole for version in told)
                linked += [path.name for path in paths if path.lstat().st_nlink > 1]
                taken += self._take(key, paths, work)
        work.saw("tombstones", (bodies, "texts"), buried, "keyed hashes added: the values are refused from now on")
        left = [f"{name} has another name outside its folder (a hard link), which was not touched" for name in linked]
        left += [f"{unread} of these could not be read; what they said was not looked for elsewhere"] if unread else []
        how = "files overwritten with zeros and removed, with the folders that named the key"
        work.saw("facts", (taken, "files"), taken, how, left)

    def _take(self, key: str, paths: list[Path], work: _Work) -> int:
        folder = self._intents.folder(work.intent)
        first = len(self._intents.taken(work.intent))
        for number, path in enumerate(paths, first):
            self._disk.move(path, folder / f"{number:06}")
        self._disk.remove_empty(layout.directory_of(self._home.facts, key), self._home.facts)
        self._catalogue.refresh(key)
        self._changes.publish(ChangeKind.FACT, key, gone=True)
        return len(paths)

    def _wanted(self, work: _Work) -> Wanted:
        taken = self._intents.taken(work.intent)
        versions = (path for path in taken if not path.name.startswith(_DOCUMENT))
        return _look_for(versions, work.uids, self._intents.open[work.intent].turns)

    async def _redact_turns(self, work: _Work, wanted: Wanted) -> None:
        before = dict(await self._lanes.slow.run(self._raw.states))
        left: list[str] = []
        found = dict(await self._lanes.slow.run(lambda: list(self._raw.find(wanted, unread=left))))
        await self._lanes.facts.run(self._note_turns, work, found)
        redacted = 0
        for name in found:
            redacted += await self._lanes.turns.run(self._redact, name, wanted, left)
        # Turns that were captured while we looked.
        for name, state in await self._lanes.turns.run(self._raw.states):
            if before.get(name) != state and name not in found:
                redacted += await self._lanes.turns.run(self._redact, name, wanted, left)
        strays = await self._lanes.slow.run(lambda: list(self._raw.strays(wanted)))
        left += [_LEFT.format(path=path) for path in strays]
        how = f"text overwritten where it lay, marker lines kept; under {MIN_SEARCHED_CHARS} characters only by source"
        work.saw("raw turns", (len(before), "sessions"), redacted, how, left)

    def _note_turns(self, work: _Work, found: dict[str, tuple[frozenset[int], ...]]) -> None:
        intent = self._intents.open[work.intent]
        sources = [
            self._raw.source_of(name, ordinal)
            for name, (ordinals,) in found.items()
            for ordinal in sorted(ordinals - {_BETWEEN_TURNS})
        ]
        turns = tuple(dict.fromkeys((*intent.turns, *sources)))
        if turns != intent.turns:
            self._intents.change(work.intent, msgspec.structs.replace(intent, turns=turns))

    def _redact(self, session: str, wanted: Wanted, left: list[str]) -> int:
        try:
            return self._raw.redact(session, wanted)
        except DamagedFile as error:
            left.append(error.message)
            return 0

    async def _drop_blocks(self, work: _Work, wanted: Wanted) -> None:
        await self._lanes.turns.run(self._conversations.refuse, work.uids)
        names = await self._lanes.turns.run(self._conversations.names)
        dropped = 0
        left: list[str] = []
        for name in names:
            try:
                count = await self._lanes.turns.run(self._conversations.drop, name, wanted)
            except DamagedFile as error:
                left.append(error.message)
                continue
            dropped += count
            if count:
                self._changes.publish(ChangeKind.CONVERSATION, name)
        how = "taken out of files that were overwritten and replaced"
        work.saw("conversation blocks", (len(names), "conversations"), dropped, how, left)

    async def _drop_traces(self, work: _Work) -> None:
        lines, dropped = await self._traces.lane.run(self._traces.drop, work.uids)
        work.saw("traces", (lines, "lines"), dropped, "lines that name it taken out of files that were overwritten")

    def _drop_documents(self, work: _Work, wanted: Wanted) -> None:
        for name, folder in _documents(self._home):
            paths = _markdown_below(folder)
            left: list[str] = []
            gone = [path for path in paths if self._is_about(path, work.names, wanted, left)]
            for path in gone:
                # Moved first: one that a crash leaves half erased where it lay would be a damaged file for ever.
                self._disk.move(path, self._intents.folder(work.intent) / f"{_DOCUMENT}{secrets.token_hex(8)}")
                self._episodes.gone(path)
            work.saw(name, (len(paths), "files"), len(gone), "overwritten with zeros and removed", left)

    def _destroy(self, work: _Work) -> None:
        """The last of the text goes; from here on only the index may still have it."""
        for uid in work.uids:
            self._audit.record("forgot", uid)
        self._disk.sync_appended()
        for path in self._intents.taken(work.intent):
            self._disk.erase(path)
        self._disk.remove_empty(self._intents.folder(work.intent), self._home.intents)
        work.saw("audit log", (len(work.uids), "facts"), len(work.uids), "a line added for each, with its uid only")
        if self._has_index():
            waiting = Intent(
                Operation.FORGET,
                work.uids,
                waits_for_index=True,
                epoch=self._changes.epoch,
                seq=self._changes.seq,
            )
            self._intents.change(work.intent, waiting)
        else:
            self._intents.finish(work.intent)

    async def _wait_for_index(self, intent: str) -> IndexState:
        waiting = self._intents.open.get(intent)
        if waiting is None:
            return IndexState.NO_INDEX
        await self._changes.wait_applied(CONSUMER, waiting.seq, INDEX_WAIT_S)
        await self._lanes.facts.run(self._close_applied)
        return IndexState.PENDING if intent in self._intents.open else IndexState.APPLIED

    def _close_applied(self) -> None:
        if not self._changes.has_spoken(CONSUMER):
            return
        for id, intent in list(self._intents.open.items()):
            # In a later epoch the index has compared everything with the store before its first word.
            needed = intent.seq if intent.epoch == self._changes.epoch else 0
            if intent.waits_for_index and self._changes.applied(CONSUMER) >= needed:
                self._intents.finish(id)

    async def _finish_stuck(self) -> None:
        for id, intent in list(self._intents.open.items()):
            if intent.operation is Operation.FORGET:
                await self.resume(id, intent)

    # -- looking -----------------------------------------------------------------------------------------------------

    def _look(self, there: list[str]) -> tuple[list[ForgetHit], int]:
        wanted = {key: _look_for(self._files(key), [self._catalogue.uid(key)]) for key in there}
        unread: list[str] = []  # the receipt names them
        found = [turns for _, turns in self._raw.find(*wanted.values(), unread=unread)] if wanted else []
        hits = [
            ForgetHit(
                key=key,
                uid=self._catalogue.uid(key),
                project=_project_of(key),
                versions=len(layout.versions_in(layout.directory_of(self._home.facts, key))),
                turns=sum(len(turns[place]) for turns in found),
                blocks=sum(self._blocks(name, wanted[key]) for name in self._conversations.names()),
                queue=self._documents_about(key, wanted[key]),
                also_in=tuple(self._also_in(there, wanted[key])),
            )
            for place, key in enumerate(there)
        ]
        return hits, sum(len(frozenset().union(*turns)) for turns in found)

    def _blocks(self, conversation: str, wanted: Wanted) -> int:
        try:
            return self._conversations.count(conversation, wanted)
        except DamagedFile:
            return 0

    def _files(self, key: str) -> list[Path]:
        return _files_of(layout.directory_of(self._home.facts, key))

    def _documents_about(self, key: str, wanted: Wanted) -> int:
        names = (self._tombstones.name(key),)
        paths = (path for _, folder in _documents(self._home) for path in _markdown_below(folder))
        return sum(self._is_about(path, names, wanted, []) for path in paths)

    def _also_in(self, asked: list[str], wanted: Wanted) -> Iterable[str]:
        for entry in self._catalogue.entries():
            if entry.key not in asked and (fact := entry.fact) and wanted.holds(fact.body):
                yield entry.key

    def _is_about(self, path: Path, names: tuple[str, ...], wanted: Wanted, unread: list[str]) -> bool:
        """Whether a document's header names one of the keys, or it holds the text anywhere."""
        try:
            text = files.read(path, MAX_FILE_BYTES).decode("utf-8", "replace")
        except FileNotFoundError:
            return False
        except DamagedFile as error:
            unread.append(error.message)
            return False
        if wanted.holds(text):
            return True
        try:
            parts = header.split(text.encode(), path)
            key = Reader(header.parse(parts, path), path).text("key")
        except DamagedFile:
            return False
        return key is not None and self._tombstones.name(key) in names

    def _subject(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        """What a confirmation is bound to: the list, and the state of every key on it."""
        return tuple(part for key in asked for part in (key, *_state(layout.directory_of(self._home.facts, key))))

    def _has_index(self) -> bool:
        """Whether an index follows, or one has been here: its file still holds what it knew."""
        return self._changes.has_spoken(CONSUMER) or self._home.index_db.exists()

    def _file_system(self) -> str:
        return erasure.file_system(self._home.root)


def _distinct(asked: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(keys.parse(key)) for key in asked))


def _project_of(key: str) -> str | None:
    scope = keys.parse(key).scope
    return scope.removeprefix("project/") if scope.startswith("project/") else None


def _documents(home: Home) -> tuple[tuple[str, Path], ...]:
    return (
        ("review queue", home.queue),
        ("drafts", home.drafts),
        ("episodes", home.episodes),
        ("what undoes a night", home.dream),
    )


def _markdown_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.md") if not path.is_symlink())


def _files_of(directory: Path) -> list[Path]:
    """Everything in a key's folder that is no folder: other files first, the highest version last.

    While the highest version is there, the key and its uid are known, so a crash in between is found again.
    """
    try:
        names = [entry.name for entry in os.scandir(directory) if not entry.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [directory / name for name in sorted(names, key=lambda name: (layout.version_number(name) or 0, name))]


def _state(directory: Path) -> list[str]:
    """What a person saw in the preview: the texts, whatever marks they get in between."""
    found: list[str] = []
    for path in _files_of(directory):
        told = _told(path)
        state = path.lstat()
        found.append(f"{path.name} {told.body if told.is_whole else (state.st_size, state.st_mtime_ns)}")
    return found


def _told(path: Path) -> _Version:
    try:
        data = files.read(path, MAX_FILE_BYTES)
        parts = header.split(data, path)
    except (DamagedFile, FileNotFoundError):
        return _Version("", (), is_whole=False)
    try:
        sources = Reader(header.parse(parts, path), path).items("sources")
    except DamagedFile:
        sources = ()
    return _Version(normal_body(parts.body).strip(), sources, is_whole=True)


def _look_for(paths: Iterable[Path], uids: Iterable[str], turns: Iterable[str] = ()) -> Wanted:
    told = [_told(path) for path in paths]
    return look_for(
        (version.body for version in told if version.body),
        (*turns, *(source for version in told for source in version.sources)),
        uids,
    )
