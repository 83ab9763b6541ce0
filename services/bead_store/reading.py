"""One key's files as an entry of the catalogue: which versions there are, what the highest says, how they look on disk.

Reads files, keeps nothing. Used by the catalogue and by the processes that read a large home (`loading`).
"""

import hmac
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

import msgspec

from bead.errors import DamagedFile
from bead.facts import FactVersion
from bead_store import files, ownfile, packed
from bead_store.frontmatter import MAX_FILE_BYTES, Place, parse_fact
from bead_store.supersession import current_version

_UID_HEX = 32
_HASH_BYTES = 16
_NEWEST = 2
_UNDATED = datetime(1, 1, 1, tzinfo=UTC)
"""Stands for "the header does not say"; only then the file's own time is asked for."""


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is known about one key. The fact itself is packed: a hundred thousand of them are held in memory."""

    key: str
    versions: tuple[int, ...]
    stamps: tuple[int, ...]
    """How each version's file looked when it was read, see `files.stamp`."""
    hash: str
    """Of everything about the key that a derived copy holds; empty when it cannot be read."""
    message: bytes | None
    """The fact, packed."""
    trouble: tuple[str, int | None, str] | None
    """Path, line and reason why the highest version cannot be read; exactly one of this and `message` is there."""

    @property
    def highest(self) -> int:
        """Number of the current version."""
        return self.versions[-1]

    @property
    def fact(self) -> FactVersion | None:
        """The current version, None when it cannot be read."""
        return packed.unpack(self.key, self.highest, self.message) if self.message is not None else None

    @property
    def damage(self) -> DamagedFile | None:
        """Why the highest version cannot be read."""
        return files.damaged(Path(self.trouble[0]), *self.trouble[1:]) if self.trouble else None

    def stamps_by_version(self) -> dict[int, int]:
        """How each version's file looked."""
        return dict(zip(self.versions, self.stamps, strict=True))


class KeyReader:
    """Reads the files of keys below one facts' folder."""

    def __init__(self, facts: str, owner: str, home_id: str) -> None:
        self._facts = facts
        self._owner = owner
        self._home_id = home_id

    def stamps(self, key: str, versions: tuple[int, ...], known: Entry | None = None) -> tuple[int, ...]:
        """How the files of these versions look now; 0 for one that has just gone away.

        With `known` only the newest are looked at, and the older ones taken from there: a write touches no others.
        """
        older = versions[:-_NEWEST]
        kept = known.stamps[: len(older)] if known and known.versions[: len(older)] == older else ()
        return kept + tuple(files.stamp_of(f"{self._facts}/{key}/v{version}.md") for version in versions[len(kept) :])

    def entry(
        self,
        key: str,
        versions: tuple[int, ...],
        known_uid: str = "",
        stamps: tuple[int, ...] | None = None,
        data: bytes | None = None,
    ) -> Entry:
        """What the files of a key with these versions, ascending, say; `known_uid` names it when its file does not.

        `stamps` must have been taken before: a file that changes meanwhile looks different from what is noted.
        `data` is what the highest version's file holds, where the caller knows.
        """
        stamps = stamps if stamps is not None else self.stamps(key, versions)
        highest = current_version(versions)
        assert highest is not None, "a key with files has a highest version"
        try:
            data, current = self._current(key, highest, data)
        except DamagedFile as error:
            facts = error.facts
            return Entry(key, versions, stamps, "", None, (facts["path"], facts["line"], facts["reason"]))
        current.uid = current.uid or known_uid or self.uid(key, versions[:-1])
        digest = blake2b(data, digest_size=_HASH_BYTES)
        digest.update(f"{versions} {current.uid}".encode())
        return Entry(key, versions, stamps, digest.hexdigest(), packed.pack(current), None)

    def _current(self, key: str, version: int, data: bytes | None) -> tuple[bytes, packed.Packed]:
        try:
            if data is None:
                data = files.read(f"{self._facts}/{key}/v{version}.md", MAX_FILE_BYTES)
        except FileNotFoundError:
            data = b""
        own = ownfile.read(data, key, version)
        if own is not None:
            return data, own
        data, fact, _ = self.version(key, version)
        return data, packed.of_fact(fact)

    def version(self, key: str, version: int) -> tuple[bytes, FactVersion, Place]:
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

    def readable(self, key: str, version: int) -> FactVersion | None:
        """What one version's file says, None when it cannot be read."""
        try:
            return self.version(key, version)[1]
        except DamagedFile:
            return None

    def uid(self, key: str, versions: tuple[int, ...]) -> str:
        """The random name of a key as one of these versions has it, the newest first; else one made from its key."""
        for version in reversed(versions):
            fact = self.readable(key, version)
            if fact is not None and fact.uid:
                return fact.uid
        return hmac.new(self._home_id.encode(), key.encode(), "sha256").hexdigest()[:_UID_HEX]
