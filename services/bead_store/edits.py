"""What other programs do to the files while the store runs: noticed, checked, audited and told to readers.

A hand edit is accepted in place. It keeps the trust the key had (I4), a credential in it is replaced by its marker
(I12), and a highest version that cannot be read makes its key unavailable (I1). Editors save in several steps, so a
path is looked at when it has been quiet for a moment, and a file that cannot be read is given a little longer.
Which paths changed is `watch`'s to find out; whether the store wrote them itself is known to `catalogue` and `raw`.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import structlog

from bead import keys
from bead.errors import BeadError, InvalidKey
from bead.facts import Trust
from bead.wire.store import ChangeKind
from bead_store import layout
from bead_store.audit import Audit
from bead_store.catalogue import Catalogue
from bead_store.changes import Changes
from bead_store.credentials import Credentials
from bead_store.disk import Disk
from bead_store.episodes import Episodes
from bead_store.files import TEMPORARY_PREFIX
from bead_store.frontmatter import Rewrite, rewrite_fact
from bead_store.lanes import Lane
from bead_store.raw import Foreign, RawLog
from bead_store.reading import Entry

QUIET_S = 0.3
"""A path is looked at when nothing was told about it for so long."""
LONGEST_S = 1.0
"""And at the latest so long after the first word about it, while a program keeps writing."""
PATIENCE_S = 1.5
"""How long after the first word a file that cannot be read may still be one that is half saved."""
_GIVE_UP_S = 30.0
_BATCH = 100

log = structlog.get_logger()


class FactEdits:
    """The catalogue's `ForeignWrites`: what to do about versions that somebody else has written. In the facts' lane."""

    def __init__(
        self, catalogue: Catalogue, *, disk: Disk, audit: Audit, changes: Changes, credentials: Credentials
    ) -> None:
        self._catalogue = catalogue
        self._disk = disk
        self._audit = audit
        self._changes = changes
        self._credentials = credentials
        self._trusts: dict[str, Trust] = {}
        """What the keys had that cannot be read at the moment."""

    def settle(self, before: Entry | None, after: Entry | None, versions: tuple[int, ...]) -> bool:
        """Write the audit lines, and see to trust and credentials before anybody sees the new text."""
        uid = self._uid(before, after)
        for version in versions:
            verb = "edited" if before and version in before.versions else "added"
            self._audit.record(verb, uid, version=version)
        for version in sorted({*(before.versions if before else ())} - {*(after.versions if after else ())}):
            self._audit.record("removed", uid, version=version)
        trust = self._trust_of(before)
        if after is None or after.trouble:
            self._remember_trust(after, trust)
            return False
        is_redacted = [self._redact(after.key, uid, version) for version in versions]
        return self._restore_trust(after, trust) or any(is_redacted)

    def _remember_trust(self, damaged: Entry | None, trust: Trust | None) -> None:
        if damaged and trust:
            self._trusts[damaged.key] = trust

    def tell(self, key: str, *, is_gone: bool) -> None:
        """Tell readers."""
        self._changes.publish(ChangeKind.FACT, key, gone=is_gone)

    def _restore_trust(self, entry: Entry, trust: Trust | None) -> bool:
        fact = entry.fact
        if trust is None or fact is None or fact.trust is trust:
            return False
        data, _, place = self._catalogue.read_version(entry.key, fact.version)
        # The stamp of the look that found the edit: what is saved meanwhile is found by the next one.
        self._disk.replace(place.path, rewrite_fact(data, Rewrite(trust=trust), place), entry.stamps[-1])
        return True

    def _redact(self, key: str, uid: str, version: int) -> bool:
        if not self._credentials.redact_fact(key, version):
            return False
        self._audit.record("redacted", uid, version=version)
        return True

    def _trust_of(self, before: Entry | None) -> Trust | None:
        fact = before.fact if before else None
        if fact:
            return fact.trust
        return self._trusts.pop(before.key, None) if before else None

    def _uid(self, before: Entry | None, after: Entry | None) -> str:
        for entry in (before, after):
            fact = entry.fact if entry else None
            if fact:
                return fact.uid
        entry = after or before
        assert entry is not None, "something was there or is there"
        return self._catalogue.uid(entry.key)


@dataclass
class _Word:
    """Something was told about a path."""

    first: float
    due: float


@dataclass(frozen=True)
class _Item:
    """What is to be looked at."""

    kind: str
    """`key`, `session` or `episode` (its file), or `folder` (which holds some of these)."""
    name: str


class HandEdits:
    """Collects paths on the event loop and looks at them, each kind in its lane."""

    def __init__(
        self,
        facts: Path,
        raw: Path,
        *,
        catalogue: Catalogue,
        sessions: RawLog,
        episodes: Episodes,
        audit: Audit,
        fact_lane: Lane,
        turn_lane: Lane,
        read_lane: Lane,
    ) -> None:
        self._facts = facts
        self._raw = raw
        self._catalogue = catalogue
        self._sessions = sessions
        self._episodes = episodes
        self._audit = audit
        self._fact_lane = fact_lane
        self._turn_lane = turn_lane
        self._read_lane = read_lane
        self._loop = asyncio.get_running_loop()
        self._words: dict[_Item, _Word] = {}
        self._some = asyncio.Event()

    def noticed(self, path: str) -> None:
        """Look at `path` soon; cheap, so it may be told the same thing often."""
        item = self._item(path)
        if item:
            self._tell(item, self._loop.time())

    async def run(self) -> None:
        """Look at what was noticed, until cancelled."""
        while True:
            await self._some.wait()
            wait_s = min(word.due for word in self._words.values()) - self._loop.time()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
            await self._look_at_due(self._loop.time())
            if not self._words:
                self._some.clear()

    def _item(self, path: str) -> _Item | None:
        place = Path(path)
        if place.name.startswith(TEMPORARY_PREFIX):
            return None
        if place.is_relative_to(self._facts):
            if layout.version_number(place.name) is None:
                return _Item("folder", str(place))
            return _key_item(place.parent.relative_to(self._facts).as_posix())
        if place.is_relative_to(self._raw):
            return _Item("session" if place.suffix == ".md" else "folder", path)
        if place.is_relative_to(self._episodes.folder):
            return _Item("episode" if place.suffix == ".md" else "folder", path)
        return None

    def _tell(self, item: _Item, now: float) -> None:
        word = self._words.get(item)
        if word is None:
            self._words[item] = _Word(now, now + QUIET_S)
            self._some.set()
        else:
            word.due = min(now + QUIET_S, max(word.due, word.first + LONGEST_S))

    async def _look_at_due(self, now: float) -> None:
        due = [item for item, word in self._words.items() if word.due <= now][:_BATCH]
        words = {item: self._words.pop(item) for item in due}
        try:
            await self._look_at_folders([item.name for item in due if item.kind == "folder"], now)
            await self._look_at_sessions([item.name for item in due if item.kind == "session"])
            await self._fact_lane.run(self._look_at_episodes, [item.name for item in due if item.kind == "episode"])
            patience = {item.name: now < words[item].first + PATIENCE_S for item in due if item.kind == "key"}
            unsettled = await self._fact_lane.run(self._unsettled, patience)
        except BeadError as error:
            log.error("edited files could not be looked at", error=error.code)
            return
        for key in unsettled:
            item = _Item("key", key)
            first = words[item].first
            if now < first + _GIVE_UP_S:
                self._words[item] = _Word(first, max(first + PATIENCE_S, now + QUIET_S))

    def _unsettled(self, patience: dict[str, bool]) -> list[str]:
        """The keys that have to be looked at again."""
        return [key for key, patient in patience.items() if not self._is_settled(key, patient)]

    def _is_settled(self, key: str, patient: bool) -> bool:
        try:
            return self._catalogue.notice(key, patient=patient)
        except BeadError as error:
            # The disk refused an audit line, or the file was saved once more: the key is looked at again.
            log.warning("an edited file could not be looked at", error=error.code)
            return False

    async def _look_at_folders(self, folders: list[str], now: float) -> None:
        """A folder came or went, or the path was an editor's own file: what it concerns is looked at."""
        for folder in folders:
            for item in await self._read_lane.run(self._items_of, Path(folder)):
                self._tell(item, now)

    def _items_of(self, folder: Path) -> list[_Item]:
        if folder.is_relative_to(self._raw):
            return [_Item("session", str(path)) for path in self._sessions.paths_in(folder)]
        if folder.is_relative_to(self._episodes.folder):
            return [_Item("episode", str(path)) for path in self._episodes.paths_in(folder)]
        key = folder.relative_to(self._facts).as_posix().removeprefix(".")
        found: Iterable[layout.Found] = ()
        if folder.is_dir() and not folder.is_symlink():
            found = layout.walk_from(layout.Folder(str(folder), key))
        there = (each.key for each in found if isinstance(each, layout.KeyFiles))
        return [_Item("key", each) for each in {*self._catalogue.keys_below(key), *there}]

    async def _look_at_sessions(self, paths: list[str]) -> None:
        if not paths:
            return
        for found in await self._turn_lane.run(self._noticed_sessions, paths):
            await self._fact_lane.run(self._audit.record, f"turns-{found.verb}", found.session)

    def _look_at_episodes(self, paths: list[str]) -> None:
        for path in paths:
            if verb := self._episodes.notice(Path(path)):
                self._audit.record(f"episode-{verb}", Path(path).stem)

    def _noticed_sessions(self, paths: list[str]) -> list[Foreign]:
        return [found for path in paths if (found := self._sessions.notice(Path(path)))]


def _key_item(key: str) -> _Item | None:
    try:
        return _Item("key", str(keys.parse(key)))
    except InvalidKey:
        return None  # its folder is noted by 'bead doctor'
