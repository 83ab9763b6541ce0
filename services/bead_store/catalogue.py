"""The catalogue: the current fact of every key, in memory, as the files say.

A key whose highest version cannot be read is unavailable; its older value never comes back for it (I1).
Reads files, writes none. Looked at from the event loop, changed from the facts' lane only.
"""

import hmac
from bisect import bisect_right, insort
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from bead.errors import DamagedFile, NotFound
from bead.facts import FactVersion, Status
from bead_store import files, layout
from bead_store.frontmatter import MAX_FILE_BYTES, Place, parse_fact
from bead_store.supersession import current_version

_UID_HEX = 32
_HASH_BYTES = 16
_UNDATED = datetime(1, 1, 1, tzinfo=UTC)
"""Stands for "the header does not say"; only then the file's own time is asked for."""


class Entry(NamedTuple):
    """What is known about one key."""

    key: str
    versions: tuple[int, ...]
    fact: FactVersion | None
    damage: DamagedFile | None
    """Why the highest version cannot be read; exactly one of `fact` and `damage` is there."""
    hash: str
    """Of everything about the key that a derived copy holds."""


class Catalogue:
    """Every key below one facts' folder."""

    def __init__(self, facts: Path, owner: str, home_id: str) -> None:
        self._facts = facts
        self._owner = owner
        self._home_id = home_id
        self._entries: dict[str, Entry] = {}
        self._keys: list[str] = []
        self._notes: tuple[layout.Note, ...] = ()

    def load(self) -> None:
        """Read the highest version of every key."""
        notes: list[layout.Note] = []
        entries: dict[str, Entry] = {}
        for found in layout.walk(self._facts):
            if isinstance(found, layout.Note):
                notes.append(found)
            else:
                entries[found.key] = self._read(found)
        self._entries, self._keys, self._notes = entries, sorted(entries), tuple(notes)

    def refresh(self, key: str) -> Entry | None:
        """Look at the files of one key again; None when it has none."""
        versions = layout.versions_in(layout.directory_of(self._facts, key))
        if not versions:
            if self._entries.pop(key, None):
                self._keys.remove(key)
            return None
        if key not in self._entries:
            insort(self._keys, key)
        entry = self._entries[key] = self._read(layout.KeyFiles(key, versions))
        return entry

    def current(self, key: str) -> FactVersion:
        """The highest version of `key`.

        Raises:
            NotFound: no such key.
            DamagedFile: its highest version cannot be read.
        """
        entry = self._entries.get(key)
        if entry is None:
            raise NotFound(f"nothing is stored under '{key}'")
        if entry.fact is None:
            raise entry.damage or NotFound(f"nothing is stored under '{key}'")
        return entry.fact

    def page(self, scope: str | None, after: str | None, limit: int) -> tuple[tuple[FactVersion, ...], str | None]:
        """Readable current facts by key from behind `after`, and the key to go on after when there are more."""
        prefix = f"{scope}/" if scope else ""
        found: list[FactVersion] = []
        for key in self._keys[bisect_right(self._keys, after or prefix) :]:
            if not key.startswith(prefix):
                break
            fact = self._entries[key].fact
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
            if (fact := self._readable(key, version))
        )

    def uid(self, key: str) -> str:
        """The random name of a key; for files that never had one, always the same for this home and key."""
        entry = self._entries.get(key)
        if entry is not None and entry.fact is not None:
            return entry.fact.uid
        return self._own_uid(key, entry.versions if entry else ())

    def entries(self) -> Iterator[Entry]:
        """Every key's entry, a snapshot."""
        return iter(list(self._entries.values()))

    def damage(self) -> list[DamagedFile]:
        """What makes keys unavailable, one error each."""
        return [entry.damage for entry in self.entries() if entry.damage]

    def notes(self) -> tuple[layout.Note, ...]:
        """Files below the facts' folder that were left alone."""
        return self._notes

    def read_version(self, key: str, version: int) -> tuple[bytes, FactVersion, Place]:
        """One version's file, what it says (without `uid` when it has none), and its place.

        Raises:
            DamagedFile: it cannot be read.
        """
        path = Path(f"{self._facts}/{key}/v{version}.md")
        try:
            data = files.read(path, MAX_FILE_BYTES)
            place = Place(path, key, version, self._owner, _UNDATED)
            fact = parse_fact(data, place)
            if fact.valid_from is _UNDATED:
                place = place._replace(written=datetime.fromtimestamp(path.stat().st_mtime, UTC))
                fact = fact.model_copy(update={"valid_from": place.written})
        except FileNotFoundError:
            raise files.damaged(path, None, "has just gone away") from None
        return data, fact, place

    def _read(self, found: layout.KeyFiles) -> Entry:
        highest = current_version(found.versions)
        assert highest is not None, "a key with files has a highest version"
        try:
            data, fact, _ = self.read_version(found.key, highest)
        except DamagedFile as error:
            return Entry(found.key, found.versions, None, error, "")
        if not fact.uid:
            fact = fact.model_copy(update={"uid": self._own_uid(found.key, found.versions[:-1])})
        digest = blake2b(data, digest_size=_HASH_BYTES)
        digest.update(f"{found.versions} {fact.uid}".encode())
        return Entry(found.key, found.versions, fact, None, digest.hexdigest())

    def _own_uid(self, key: str, versions: tuple[int, ...]) -> str:
        for version in reversed(versions):
            fact = self._readable(key, version)
            if fact is not None and fact.uid:
                return fact.uid
        return hmac.new(self._home_id.encode(), key.encode(), "sha256").hexdigest()[:_UID_HEX]

    def _readable(self, key: str, version: int) -> FactVersion | None:
        try:
            return self.read_version(key, version)[1]
        except DamagedFile:
            return None


def _told_status(fact: FactVersion, highest: int) -> dict[str, Status]:
    """A version below the highest is superseded whatever its file says: a crash may have left the old word in it."""
    is_behind = fact.version < highest and fact.status is Status.CURRENT
    return {"status": Status.SUPERSEDED} if is_behind else {}
