"""Intents: what is on disk before an operation of several steps begins and is gone when it is finished (I2).

A record holds ids and keyed hashes, never a key or a text. Beside it lies a folder for files that the operation has
taken out of their place and not destroyed yet. What to finish, and how, is the operation's own (`forget`, `rekey`,
`verdicts`, `dream.undo`).
"""

import secrets
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

import msgspec

from bead.errors import DamagedFile, Unavailable
from bead_store import files
from bead_store.disk import Disk

_MAX_BYTES = 64 << 20
SOUGHT = "sought"
"""Name of the text that a forget looks for; it goes with the files that were taken."""


class Operation(StrEnum):
    """What is being done."""

    FORGET = "forget"
    REKEY = "rekey"
    ACCEPT = "accept"
    REJECT = "reject"
    SEAL = "seal"
    UNSEAL = "unseal"
    MOVE_SEALED = "move sealed"
    """Bring a sealed key under another one, named like a rekey."""
    APPROVE = "approve"
    """A draft becomes a fact; `item` is its id."""
    DISCARD = "discard"
    UNDO = "undo"
    """Take back a dream run; `item` is its id."""


class Intent(msgspec.Struct, frozen=True, omit_defaults=True):
    """One unfinished operation."""

    operation: Operation
    uids: tuple[str, ...] = ()
    """Facts that it is about."""
    names: tuple[str, ...] = ()
    """Keyed hashes of their keys (`Tombstones.name`); for a rekey the old one and the new one."""
    item: str | None = None
    """A review item, or a dream run."""
    versions: tuple[int, ...] = ()
    """Of a seal or unseal: the versions that must be there before those they were made from go."""
    turns: tuple[str, ...] = ()
    """Sources of the turns that are being overwritten: half overwritten, their text does not tell any more."""
    sessions: tuple[str, ...] = ()
    """Source paths of sessions of which every turn goes."""
    waits_for_index: bool = False
    """Everything is done here; the index has not said yet that it is done there."""
    epoch: str = ""
    seq: int = 0
    """The change that the index must have applied, in this epoch; in a later epoch its first word is enough."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Intent).decode


class Intents:
    """Open intents of one home; changed from the facts' lane only."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        self._folder = folder
        self._disk = disk
        self.open: dict[str, Intent] = {}
        self.damage: list[DamagedFile] = []
        """Records that cannot be read: what they were about may be half done."""

    def load(self) -> None:
        """Read what a crash left open, oldest first."""
        self.open, self.damage = {}, []
        names = files.names_in(self._folder)
        paths = [self._folder / name for name in names if name.endswith(".json") and not name.startswith(".")]
        for path in sorted(paths, key=lambda each: (each.stat().st_mtime_ns, each.name)):
            try:
                self.open[path.stem] = _decode(files.read(path, _MAX_BYTES))
            except msgspec.DecodeError:
                self.damage.append(files.damaged(path, None, "is no record of an operation; look at what is half done"))
            except DamagedFile as error:
                self.damage.append(error)
        if not self.damage:
            self._erase_orphans(names)

    def begin(self, intent: Intent, sought: bytes = b"") -> str:
        """Write it down, durable on return; its id.

        `sought` is kept beside it while it is open, for an operation that could not be finished without: it is there
        before the record, and one without a record is erased by the next start.
        """
        id = secrets.token_hex(8)
        if sought:
            self._disk.create(self.folder(id) / SOUGHT, sought)
        try:
            self._disk.create(self._path(id), _encode(intent))
        except Unavailable:
            with suppress(Unavailable):  # then the next start does what was wanted, or finds that it cannot
                self._disk.remove(self._path(id))
            raise
        self.open[id] = intent
        return id

    def change(self, id: str, intent: Intent) -> None:
        """The operation has come further."""
        self._disk.replace(self._path(id), _encode(intent))
        self.open[id] = intent

    def finish(self, id: str) -> None:
        """The operation is done."""
        self._disk.remove(self._path(id))
        self.open.pop(id, None)

    def folder(self, id: str) -> Path:
        """Where the operation may put files that it has taken away."""
        return self._folder / id

    def taken(self, id: str) -> list[Path]:
        """The files there, in the order in which they were taken."""
        return [self.folder(id) / name for name in sorted(files.names_in(self.folder(id)))]

    def _erase_orphans(self, names: list[str]) -> None:
        for name in names:
            folder = self._folder / name
            if name not in self.open and folder.is_dir() and not folder.is_symlink():
                if (folder / SOUGHT).exists():
                    self._disk.erase(folder / SOUGHT)
                self._disk.remove_empty(folder, self._folder)

    def _path(self, id: str) -> Path:
        return self._folder / f"{id}.json"
