"""The steps of a forget, each in the lane of what it changes; doing one again changes nothing (I2, I5, I6).

A crash at any point is harmless: the intent is on disk, tombstones come before files, and the files that were taken
away, with the text that was asked for, lie beside the intent until nothing else holds what they say. The order of the
steps, and what is asked and answered, is `forget`'s; what there is to take is `forgetlook`'s.
"""

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import msgspec

from bead.errors import DamagedFile
from bead.home import Home
from bead.wire.store import ChangeKind, ForgetPlace
from bead_store import blanking, erasure, files, layout, spans
from bead_store.audit import Audit
from bead_store.catalogue import Catalogue
from bead_store.changes import Changes
from bead_store.conversations import Conversations
from bead_store.copies import Copies, Gone
from bead_store.disk import Disk
from bead_store.episodes import Episodes
from bead_store.forgetlook import Looking, Selection, Turns, documents, is_of_session, markdown_below
from bead_store.intents import SOUGHT, Intent, Intents, Operation
from bead_store.lanes import Lane
from bead_store.raw import RawLog
from bead_store.receipts import Receipts
from bead_store.redaction import Wanted
from bead_store.seeking import MAX_BYTES
from bead_store.told import Version, told, wanted_of
from bead_store.tombstones import Tombstones
from bead_store.traces import Traces
from bead_store.values import MIN_SEARCHED_CHARS
from bead_store.vault import Vault

CONSUMER = "index"
UID_CHARS = 32
_BETWEEN_TURNS = 0
_DOCUMENT = "document-"
"""Begin of the names of taken files that are no versions: what they say is not looked for."""
_LEFT = "{path}: it holds the text and is none of bead's files; look at it and remove it by hand"


@dataclass
class Work:
    """One forget on its way."""

    intent: str
    uids: tuple[str, ...]
    names: tuple[str, ...]
    keys: tuple[str, ...] | None = None
    """The keys, while the process that was asked for them lives; else they are found by their names."""
    turns: Turns | None = None
    """Turns that a look has found a moment ago, with `states` from before it."""
    states: dict[str, str] = field(default_factory=dict)
    is_seal: bool = False
    """Whether what goes has gone into the vault: nothing is refused afterwards, and the vault keeps it."""
    places: list[ForgetPlace] = field(default_factory=list)
    left_in_sessions: list[str] = field(default_factory=list)

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


@dataclass(frozen=True)
class Parts:
    """What a forget changes."""

    home: Home
    disk: Disk
    catalogue: Catalogue
    raw: RawLog
    episodes: Episodes
    conversations: Conversations
    traces: Traces
    tombstones: Tombstones
    intents: Intents
    changes: Changes
    audit: Audit
    copies: Copies
    receipts: Receipts
    vault: Vault
    lanes: Lanes
    now: Callable[[], datetime]


class Steps:
    """Asked from the event loop; one forget at a time."""

    def __init__(self, parts: Parts, looking: Looking) -> None:
        self._parts = parts
        self._looking = looking
        self._home, self._disk, self._intents = parts.home, parts.disk, parts.intents
        self._lanes = parts.lanes

    def begin(self, there: tuple[str, ...], selection: Selection) -> Work:
        """Write down what is begun; in the facts' lane."""
        uids = tuple(self._uid(key) for key in there)
        names = tuple(self._parts.tombstones.name(key) for key in there)
        source = self._parts.raw.file_of(selection.session) if selection.session else None
        intent = Intent(Operation.FORGET, uids, names, sessions=(source,) if source else ())
        # Content, as the taken files beside it are: without it nobody could finish this after a crash.
        sought = (selection.match or "").encode("utf-8", "surrogatepass")
        return Work(self._intents.begin(intent, sought), uids, names, keys=there)

    def _uid(self, key: str) -> str:
        """A sealed fact's own is encrypted; its name stands for it."""
        is_plain = bool(layout.versions_in(layout.directory_of(self._home.facts, key)))
        return self._parts.catalogue.uid(key) if is_plain else self._parts.tombstones.name(key)[:UID_CHARS]

    async def finish(self, work: Work) -> None:
        """Every step, also those that were done before a crash."""
        await self._lanes.facts.run(self._take_files, work)
        await self._lanes.facts.run(self._drop_sealed, work)
        wanted = await self._lanes.slow.run(self._wanted, work)
        await self._redact_turns(work, wanted)
        await self._drop_blocks(work, wanted)
        await self._drop_traces(work)
        await self._lanes.facts.run(self._drop_documents, work, wanted)
        await self._drop_elsewhere(work, wanted)
        await self._lanes.facts.run(self._drop_copies, work, wanted)
        await self._lanes.facts.run(self._destroy, work)

    # -- facts --------------------------------------------------------------------------------------------------------

    def _take_files(self, work: Work) -> None:
        """Bury the values, then take the files away; the fact is gone for everybody from here on."""
        catalogue, tombstones = self._parts.catalogue, self._parts.tombstones
        bodies = buried = taken = unread = 0
        linked: list[str] = []
        sought = self._sought(work)
        buried += tombstones.bury(sought, work.intent)
        for key in self._keys(work):
            uid = catalogue.uid(key)
            if uid in work.uids:
                paths = self._looking.files(key)
                versions = [told(path) for path in paths]
                bodies += sum(bool(version.body) for version in versions)
                buried += tombstones.bury((version.body for version in versions if version.body), uid)
                unread += sum(not version.is_whole for version in versions)
                linked += [path.name for path in paths if path.lstat().st_nlink > 1]
                taken += self._take(key, paths, work)
        work.saw(
            "tombstones",
            (bodies + len(sought), "texts"),
            buried,
            "keyed hashes added: refused from now on, in any spelling",
        )
        left = [f"{name} has another name outside its folder (a hard link), which was not touched" for name in linked]
        left += [f"{unread} of these could not be read; what they said was not looked for elsewhere"] if unread else []
        how = "files overwritten with zeros and removed, with the folders that named the key"
        work.saw("facts", (taken, "files"), taken, how, left)

    def _keys(self, work: Work) -> list[str]:
        if work.keys is not None:
            return list(work.keys)
        if not work.names:
            return []
        name = self._parts.tombstones.name
        return [entry.key for entry in self._parts.catalogue.entries() if name(entry.key) in work.names]

    def _take(self, key: str, paths: list[Path], work: Work) -> int:
        folder = self._intents.folder(work.intent)
        first = len(self._intents.taken(work.intent))
        for number, path in enumerate(paths, first):
            self._disk.move(path, folder / f"{number:06}")
        self._disk.remove_empty(layout.directory_of(self._home.facts, key), self._home.facts)
        self._parts.catalogue.refresh(key)
        self._parts.changes.publish(ChangeKind.FACT, key, gone=True)
        return len(paths)

    def _drop_sealed(self, work: Work) -> None:
        """Sealed versions of the keys: encrypted, so nothing is known to look for elsewhere."""
        vault, name = self._parts.vault, self._parts.tombstones.name
        sealed = () if work.is_seal else tuple(each.key for each in vault.keys())
        removed = sum(vault.forget_key(key) for key in sealed if name(key) in work.names)
        work.saw("vault", (len(sealed), "keys"), removed, "sealed files overwritten with zeros and removed")

    def _sought(self, work: Work) -> list[str]:
        paths = [path for path in self._intents.taken(work.intent) if path.name == SOUGHT]
        return [files.read(path, MAX_BYTES).decode("utf-8", "surrogatepass") for path in paths]

    def _taken(self, work: Work) -> list[Path]:
        taken = self._intents.taken(work.intent)
        return [path for path in taken if path.name != SOUGHT and not path.name.startswith(_DOCUMENT)]

    def _wanted(self, work: Work) -> Wanted:
        intent = self._intents.open[work.intent]
        texts = self._sought(work)
        return wanted_of(self._taken(work), work.uids, turns=intent.turns, texts=texts, whole=intent.sessions)

    # -- turns --------------------------------------------------------------------------------------------------------

    async def _redact_turns(self, work: Work, wanted: Wanted) -> None:
        raw, left = self._parts.raw, work.left_in_sessions
        before = work.states or dict(await self._lanes.slow.run(raw.states))
        found = work.turns
        if found is None:
            found = await self._lanes.slow.run(
                lambda: {name: turns for name, (turns,) in raw.find(wanted, unread=left)}
            )
        said = await self._lanes.slow.run(self._said, found, wanted)
        await self._lanes.facts.run(self._note_turns, work, found, said)
        redacted = 0
        for name in found:
            redacted += await self._lanes.turns.run(self._redact, name, wanted, left)
        # Turns that were captured while we looked.
        for name, state in await self._lanes.turns.run(raw.states):
            if before.get(name) != state and name not in found:
                redacted += await self._lanes.turns.run(self._redact, name, wanted, left)
        strays = await self._lanes.slow.run(lambda: list(raw.strays(wanted)))
        left += [_LEFT.format(path=path) for path in strays]
        how = f"text overwritten where it lay, marker lines kept; under {MIN_SEARCHED_CHARS} characters only by source"
        work.saw("raw turns", (len(before), "sessions"), redacted, how, left)

    def _said(self, found: Turns, wanted: Wanted) -> list[str]:
        """What of these turns must not be captured again when a harness sends its history once more."""
        texts = (text for name, ordinals in found.items() for text in self._parts.raw.texts(name, ordinals))
        return [each for text in texts for each in spans.texts_of_turn(text, wanted.holds)]

    def _note_turns(self, work: Work, found: Turns, said: list[str]) -> None:
        value = self._value(work)
        self._parts.tombstones.bury_spans(((text, value) for text in said), work.intent)
        intent = self._intents.open[work.intent]
        sources = [
            self._parts.raw.source_of(name, ordinal)
            for name, ordinals in found.items()
            for ordinal in sorted(ordinals - {_BETWEEN_TURNS})
        ]
        turns = tuple(dict.fromkeys((*intent.turns, *sources)))
        if turns != intent.turns:
            self._intents.change(work.intent, msgspec.structs.replace(intent, turns=turns))

    def _value(self, work: Work) -> str:
        """With what the person must state again for these turns to be captured as they are."""
        bodies = [version.body for version in map(told, self._taken(work)) if version.body]
        return next(iter([*self._sought(work), *reversed(bodies)]), "")

    def _redact(self, session: str, wanted: Wanted, left: list[str]) -> int:
        try:
            return self._parts.raw.redact(session, wanted)
        except DamagedFile as error:
            left.append(error.message)
            return 0

    # -- what was made of facts and turns -----------------------------------------------------------------------------

    async def _drop_blocks(self, work: Work, wanted: Wanted) -> None:
        conversations, turns = self._parts.conversations, self._lanes.turns
        await turns.run(conversations.refuse, work.uids)
        names = await turns.run(conversations.names)
        dropped = 0
        left: list[str] = []
        for name in names:
            try:
                count = await turns.run(self._drop_blocks_of, work, name, wanted)
            except DamagedFile as error:
                left.append(error.message)
                continue
            dropped += count
            if count:
                self._parts.changes.publish(ChangeKind.CONVERSATION, name)
        how = "taken out of files that were overwritten and replaced"
        work.saw("conversation blocks", (len(names), "conversations"), dropped, how, left)

    def _drop_blocks_of(self, work: Work, name: str, wanted: Wanted) -> int:
        conversations = self._parts.conversations
        if not is_of_session(name, wanted):
            return conversations.drop(name, wanted)
        count = conversations.size(name)
        conversations.take_away(name, self._aside(work))
        return max(1, count)

    async def _drop_traces(self, work: Work) -> None:
        traces = self._parts.traces
        lines, dropped = await traces.lane.run(traces.drop, work.uids)
        work.saw("traces", (lines, "lines"), dropped, "lines that name it taken out of files that were overwritten")

    def _drop_documents(self, work: Work, wanted: Wanted) -> None:
        for name, folder in documents(self._home):
            paths = markdown_below(folder)
            left: list[str] = []
            gone = [path for path in paths if self._looking.is_about(path, work.names, wanted, left)]
            for path in gone:
                # Moved first: one that a crash leaves half erased where it lay would be a damaged file for ever.
                self._disk.move(path, self._aside(work))
                self._parts.episodes.gone(path)
            work.saw(name, (len(paths), "files"), len(gone), "overwritten with zeros and removed", left)

    async def _drop_elsewhere(self, work: Work, wanted: Wanted) -> None:
        count, paths = await self._lanes.slow.run(
            lambda: (len(self._looking.other_files()), self._looking.elsewhere(wanted))
        )
        left: list[str] = []
        blanked = 0
        for path in paths:
            # In the lane of traces: nothing else that is kept here is written while text is in it.
            blanked += await self._parts.traces.lane.run(self._blank, path, wanted, left)
        work.saw("other files", (count, "files"), blanked, "the text overwritten where it lay", left)

    def _blank(self, path: Path, wanted: Wanted, left: list[str]) -> int:
        try:
            data = files.read(path, MAX_BYTES)
            found = blanking.changes(path.name, data, wanted.holds)
            if found:
                self._disk.overwrite(path, found)
                data = files.read(path, MAX_BYTES)
            if wanted.holds(data.decode("utf-8", "replace")):
                left.append(
                    f"{path}: it holds the text, which cannot be taken out in place; look at it and change it by hand"
                )
        except FileNotFoundError:
            return 0
        except DamagedFile as error:
            left.append(error.message)
            return 0
        return bool(found)

    def _drop_copies(self, work: Work, wanted: Wanted) -> None:
        versions = [told(path) for path in self._taken(work)]
        turns = self._intents.open[work.intent].turns
        sessions = sorted({f"store/{source.partition('#')[0]}" for source in turns})
        gone = Gone(wanted, tuple([*_folders(versions), *sessions]))
        count, outcome = self._parts.copies.forget(gone)
        how = "taken out of the exports and backups that bead knows of"
        work.saw("exports and backups", (count, "copies"), outcome.removed, how, outcome.left)

    def _aside(self, work: Work) -> Path:
        return self._intents.folder(work.intent) / f"{_DOCUMENT}{secrets.token_hex(8)}"

    # -- the end ------------------------------------------------------------------------------------------------------

    def _destroy(self, work: Work) -> None:
        """The last of the text goes; from here on only the index may still have it."""
        for uid in work.uids or (work.intent,):
            self._parts.audit.record("sealed" if work.is_seal else "forgot", uid)
        self._disk.sync_appended()
        for path in self._intents.taken(work.intent):
            self._disk.erase(path)
        self._disk.remove_empty(self._intents.folder(work.intent), self._home.intents)
        lines = len(work.uids or (work.intent,))
        work.saw("audit log", (lines, "facts"), lines, "a line added for each, with its uid only")
        self._parts.receipts.keep(work.intent, self._parts.now(), work.uids, self.medium(), work.places)
        if self.has_index():
            changes = self._parts.changes
            waiting = Intent(
                Operation.FORGET, work.uids, waits_for_index=True, epoch=changes.epoch, seq=changes.seq
            )  # fmt: skip
            self._intents.change(work.intent, waiting)
        else:
            self._intents.finish(work.intent)

    def medium(self) -> tuple[int, str]:
        """The level that this disk allows, and its file system."""
        file_system = erasure.file_system(self._home.root)
        return (2 if erasure.overwrites(file_system) else 1), file_system

    def has_index(self) -> bool:
        """Whether an index follows, or one has been here: its file still holds what it knew."""
        return self._parts.changes.has_spoken(CONSUMER) or self._home.index_db.exists()


def _folders(versions: Iterable[Version]) -> list[str]:
    """The folders of the facts that were taken, as a backup may name them."""
    return sorted({f"store/facts/{version.key}/" for version in versions if version.key})
