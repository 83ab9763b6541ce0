"""The catalogue: the current fact of every key, in memory, as the files say.

A key whose highest version cannot be read is unavailable; its older value never comes back for it (I1).
Reads files, writes none. Looked at from the event loop, changed from the facts' lane only. What was changed by
somebody else is told to `foreign`, whoever comes across it first.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Protocol

from bead.errors import DamagedFile, NotFound
from bead.facts import FactVersion, Status
from bead_store import layout, loading, packed
from bead_store.disk import Disk
from bead_store.frontmatter import Place
from bead_store.reading import Entry, KeyReader


class ForeignWrites(Protocol):
    """Is told what somebody else has done to a key; in the facts' lane."""

    def settle(self, before: Entry | None, after: Entry | None, versions: tuple[int, ...]) -> bool:
        """Before anybody sees the new state; `versions` were written by somebody else. Whether files were changed."""
        ...

    def tell(self, key: str, *, is_gone: bool) -> None:
        """When everybody sees the new state."""
        ...


class Catalogue:
    """Every key below one facts' folder."""

    def __init__(self, facts: Path, owner: str, home_id: str, disk: Disk) -> None:
        self._facts = facts
        self._place = loading.Place(str(facts), owner, home_id)
        self._reader = KeyReader(*self._place)
        self._disk = disk
        self._entries: dict[str, Entry] = {}
        self._damaged: set[str] = set()
        self._keys: list[str] = []
        self.foreign: ForeignWrites | None = None
        """Set once by the owner, before anything is noticed."""
        self.on_change: Callable[[str], None] | None = None
        """Told of every key that reads otherwise now, in the facts' lane; not of those that `load` finds."""

    def load(self) -> list[str]:
        """Read the highest version of every key; the temporary files that a crash has left among them."""
        loaded = loading.load(self._place)
        self._entries = {entry.key: entry for entry in loaded.entries}
        self._keys = sorted(self._entries)
        self._damaged = {key for key, entry in self._entries.items() if entry.trouble}
        return loaded.leftovers

    def refresh(self, key: str) -> Entry | None:
        """Look at the files of one key again, as every write does first and last; None when it has none."""
        before = self._entries.get(key)
        after = self._look(key, before, only_newest=True)
        self._take(key, before, after, has_gone=self._has_gone(before, after))
        return self._entries.get(key)

    def notice(self, key: str, *, patient: bool) -> bool:
        """Look at a key that somebody else may have changed; whether there is nothing more to wait for.

        While `patient`, a file that cannot be read, or a highest version that has gone away, is left for another look:
        editors empty a file before they fill it, and move it away before they put the new one in its place.
        """
        before = self._entries.get(key)
        after = self._look(key, before)
        if after == before:
            return True
        has_gone = self._has_gone(before, after)
        if patient and (has_gone or (after is not None and after.trouble)):
            return False
        self._take(key, before, after, has_gone=has_gone)
        return True

    def put(self, key: str, version: int, data: bytes, stamp: int) -> None:
        """Take up a version that was written here a moment ago, above all others; the disk is not asked again.

        `stamp` is what the file looked like when it was written: what a person makes of it later shows.
        """
        before = self._entries.get(key)
        versions, stamps = (before.versions, before.stamps) if before else ((), ())
        assert not versions or version > versions[-1], "only a new highest version is put"
        self._keep(key, self._reader.entry(key, (*versions, version), "", (*stamps, stamp), data))

    def current(self, key: str) -> FactVersion:
        """The highest version of `key`.

        Raises:
            NotFound: no such key.
            DamagedFile: its highest version cannot be read.
        """
        entry = self._entries.get(key)
        if entry is None:
            raise NotFound(f"nothing is stored under '{key}'")
        fact = entry.fact
        if fact is None:
            raise entry.damage or NotFound(f"nothing is stored under '{key}'")
        return fact

    def page(self, scope: str | None, after: str | None, limit: int) -> tuple[tuple[FactVersion, ...], str | None]:
        """Readable current facts by key from behind `after`, and the key to go on after when there are more."""
        prefix = f"{scope}/" if scope else ""
        found: list[FactVersion] = []
        for key in self._keys[bisect_right(self._keys, after or prefix) :]:
            if not key.startswith(prefix):
                break
            entry = self._entries.get(key)  # the facts' lane may have taken it away a moment ago
            fact = entry.fact if entry else None
            if fact is None:
                continue
            if len(found) == limit:
                return tuple(found), found[-1].key
            found.append(fact)
        return tuple(found), None

    def history(self, key: str) -> tuple[FactVersion, ...]:
        """Every readable version of `key`, oldest first; reads the files.

        Raises:
            NotFound: no such key.
        """
        versions = layout.versions_in(layout.directory_of(self._facts, key))
        if not versions:
            raise NotFound(f"nothing is stored under '{key}'")
        uid = self.uid(key)
        return tuple(
            fact.model_copy(update={"uid": uid, **_told_status(fact, versions[-1])})
            for version in versions
            if (fact := self._reader.readable(key, version))
        )

    def uid(self, key: str) -> str:
        """The random name of a key; for files that never had one, always the same for this home and key."""
        entry = self._entries.get(key)
        fact = entry.fact if entry else None
        return fact.uid if fact else self._reader.uid(key, entry.versions if entry else ())

    def keys_of(self, uids: Collection[str]) -> list[tuple[str, str]]:
        """The keys whose current version has one of these uids, with it; looks at every fact. From any thread."""
        named = ((entry.key, packed.uid_of(entry.message)) for entry in self.entries() if entry.message is not None)
        return [(key, uid) for key, uid in named if uid in uids]

    def entries(self) -> Iterator[Entry]:
        """Every key's entry, a snapshot."""
        return iter(list(self._entries.values()))

    def keys_below(self, folder: str) -> list[str]:
        """The known keys that are `folder` or lie in it; all of them for an empty name."""
        if not folder:
            return list(self._keys)
        inside = self._keys[bisect_left(self._keys, f"{folder}/") : bisect_left(self._keys, f"{folder}0")]
        return [folder, *inside] if folder in self._entries else inside

    def damage(self) -> list[DamagedFile]:
        """What makes keys unavailable, one error each, by key."""
        found = (self._entries[key].damage for key in sorted(self._damaged) if key in self._entries)
        return [error for error in found if error]

    @property
    def damaged_count(self) -> int:
        """How many keys are unavailable."""
        return len(self._damaged)

    def notes(self) -> tuple[layout.Note, ...]:
        """Files below the facts' folder that are left alone; walks the whole folder."""
        return tuple(found for found in layout.walk(self._facts) if isinstance(found, layout.Note))

    def read_version(self, key: str, version: int) -> tuple[bytes, FactVersion, Place]:
        """One version's file, what it says (without `uid` when it has none), and its place.

        Raises:
            DamagedFile: it cannot be read.
        """
        return self._reader.version(key, version)

    def _look(self, key: str, before: Entry | None, *, only_newest: bool = False) -> Entry | None:
        """The key as its files are now; `before` itself when they look as they did.

        With `only_newest` older versions are taken to be as they were: `notice` is told when they are not.
        """
        listed = layout.versions_in(layout.directory_of(self._facts, key))
        looked = zip(listed, self._reader.stamps(key, listed, before if only_newest else None), strict=True)
        there = [(version, made) for version, made in looked if made]  # others were taken away since they were listed
        if not there:
            return None
        versions, stamps = tuple(version for version, _ in there), tuple(made for _, made in there)
        if before and (before.versions, before.stamps) == (versions, stamps):
            return before
        named = before.fact if before else None
        return self._reader.entry(key, versions, named.uid if named else "", stamps)

    def _has_gone(self, before: Entry | None, after: Entry | None) -> bool:
        """Whether somebody else has taken a version away."""
        if after is before:
            return False
        gone = {*(before.versions if before else ())} - {*(after.versions if after else ())}
        paths = (f"{self._place.facts}/{before.key}/v{version}.md" for version in gone) if before else ()
        return any(not self._disk.took_away(path) for path in paths)

    def _take(self, key: str, before: Entry | None, after: Entry | None, *, has_gone: bool) -> None:
        """Make `after` what everybody sees, once what somebody else did to it is seen to."""
        versions = self._foreign_versions(before, after)
        is_foreign = self.foreign is not None and bool(versions or has_gone)
        if self.foreign and is_foreign and self.foreign.settle(before, after, versions):
            after = self._look(key, after)
        self._keep(key, after)
        if self.foreign and is_foreign:
            self.foreign.tell(key, is_gone=after is None)

    def _keep(self, key: str, entry: Entry | None) -> None:
        if self.on_change and entry is not self._entries.get(key):
            self.on_change(key)
        if entry is None:
            if self._entries.pop(key, None):
                self._keys.remove(key)
            self._damaged.discard(key)
            return
        if key not in self._entries:
            insort(self._keys, key)
        self._entries[key] = entry
        if entry.trouble:
            self._damaged.add(key)
        else:
            self._damaged.discard(key)

    def _foreign_versions(self, before: Entry | None, after: Entry | None) -> tuple[int, ...]:
        """Versions that are new or look different, and were not written by us. A file that was only touched is none."""
        if after is None or after is before:
            return ()
        known = before.stamps_by_version() if before else {}
        is_same = before is not None and before.hash == after.hash and not after.trouble
        return tuple(
            version
            for version, stamp in zip(after.versions, after.stamps, strict=True)
            if known.get(version) != stamp
            and not self._disk.wrote(stamp)
            and not (is_same and version == after.highest)
        )


def _told_status(fact: FactVersion, highest: int) -> dict[str, Status]:
    """The highest version is the current one and those below it are superseded, whatever their files say (I1).

    A crash may have left the old word in an older file; a person may have deleted the newest.
    """
    if fact.version < highest:
        return {"status": Status.SUPERSEDED} if fact.status is Status.CURRENT else {}
    return {"status": Status.CURRENT} if fact.status is Status.SUPERSEDED else {}
