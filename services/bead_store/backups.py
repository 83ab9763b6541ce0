"""Backups: a mirror of the home in a folder, one age file for each file, that the store can write and not read.

    DIR/bead-backup.json        which home, so that no two share a folder; the one thing in the clear
    DIR/identity.age            the vault's identity as it lies in the home, under the person's passphrase
    DIR/objects/ab/<random>.age one file of the home each
    DIR/index.age               which object is which file, with the hash of its encrypted bytes

What was written when is noted in the home (`store/backups/<id>.json`) under keyed hashes of the files' names, so that
a key that is forgotten is not in it. A run first writes what has changed beside what is there, then, in the facts'
lane, what has changed meanwhile, the new index and the notes; only then old objects go. One that is killed on the way
leaves the old backup whole. Opening one again is `restoring`'s affair.
"""

import hmac
import io
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import msgspec

from bead.errors import BeadError, Refused, Unavailable
from bead.home import Home
from bead.wire.backup import BackupDone
from bead_store import files
from bead_store.copies import Copies, Gone, Outcome
from bead_store.disk import Disk
from bead_store.files import TEMPORARY_PREFIX

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

    from bead.age import Recipient

KIND = "backup"
FORMAT = 1
MARKER, INDEX, IDENTITY, OBJECTS = "bead-backup.json", "index.age", "identity.age", "objects"
_NEVER = frozenset({".lock", "runtime.json", "tokens", "index.db", "index.db-wal", "index.db-shm", ".restoring"})
"""Of this process, secrets that a new home makes anew, or derived."""
_INTENTS = "store/intents"
_NOTES = "store/backups"
_MAX_NOTES_BYTES = 256 << 20
_MAX_MARKER_BYTES = 64 << 10
_PIECE_BYTES = 1 << 20


class Entry(msgspec.Struct, frozen=True):
    """One file in the index."""

    path: str
    """From the home's root."""
    object: str
    sealed: str
    """SHA-256 of the encrypted bytes: a swapped object is another one."""


class Index(msgspec.Struct, frozen=True):
    """What `index.age` holds."""

    format: int
    home_id: str
    made: str
    entries: tuple[Entry, ...]


class Note(msgspec.Struct, frozen=True):
    """What the home remembers of one object."""

    object: str
    sealed: str
    state: tuple[int, int, int]
    """Inode, time of change and size of the file it was made from."""


Notes = dict[str, Note]
"""By the keyed hash of the file's name."""


class _Found(NamedTuple):
    """A file of the home."""

    path: str
    size: int

    def __repr__(self) -> str:  # names are keys
        return f"_Found(size={self.size})"


class Place(NamedTuple):
    """One backup and what is known of it."""

    folder: Path
    notes_file: Path
    notes: Notes


_decode_notes = msgspec.json.Decoder(Notes).decode


class Backups:
    """The backups of one home. `prepare` runs in the slow lane, `finish` and `forget` in the facts'."""

    def __init__(
        self,
        home: Home,
        *,
        home_id: str,
        key: bytes,
        copies: Copies,
        disk: Disk,
        recipient: Callable[[], str],
    ) -> None:
        """`recipient` says whom to encrypt for, raising what a person should read when there is nobody."""
        self._home = home
        self._home_id = home_id
        self._key = key
        self._copies = copies
        self._own_disk = disk
        self._recipient = recipient
        copies.handlers[KIND] = self.forget

    def open(self, folder: Path) -> Place:
        """The backup in `folder`, begun when the folder is empty or not there yet.

        Raises:
            Refused: it is in the home, belongs to another home, or holds something else.
            Unavailable: it cannot be written.
        """
        if folder.is_relative_to(self._home.root) or self._home.root.is_relative_to(folder):
            raise Refused(f"{folder} and the home {self._home.root} must not lie in each other")
        self._recipient()
        disk = Disk()  # trouble with a stick must not stop the store
        there = set(files.names_in(folder)) - {"lost+found"}
        if MARKER not in there and there:
            raise Refused(f"{folder} is not empty and no backup of bead; name an empty folder")
        if MARKER not in there:
            document = {"format": FORMAT, "home_id": self._home_id}
            disk.create(folder / MARKER, json.dumps(document).encode())
        home_id = read_marker(folder)
        if home_id != self._home_id:
            raise Refused(f"{folder} is the backup of another home ({home_id}); name another folder")
        return self._place(folder)

    def prepare(self, place: Place) -> tuple[Notes, int]:
        """Check every object and write those that are missing, wrong or out of date; the backup is as it was.

        What was written or is still right, and how many were wrong.
        """
        wrong = {name for name, note in place.notes.items() if not is_whole(object_path(place.folder, note))}
        sound = {name: note for name, note in place.notes.items() if name not in wrong}
        return self._write_changed(place.folder, sound), len(wrong)

    def finish(self, place: Place, ready: Notes, wrong: int = 0, *, with_intents: bool = True) -> BackupDone:
        """Write what has changed since, the index and the notes; then take away what is in neither."""
        disk = Disk()
        there = {name: note for name, note in ready.items() if object_path(place.folder, note).path.exists()}
        found = list(self._files(with_intents=with_intents))
        notes = self._write_changed(place.folder, there, found)
        entries = tuple(
            Entry(each.path, note.object, note.sealed)
            for each in found
            if (note := notes.get(self._name(each.path))) is not None
        )
        index = Index(FORMAT, self._home_id, datetime.now(UTC).isoformat(timespec="seconds"), entries)
        self._copy_identity(place.folder, disk)
        disk.replace(place.folder / INDEX, self._encrypted(msgspec.json.encode(index)))
        kept = {name: notes[name] for name in map(self._name, (each.path for each in found)) if name in notes}
        self._own_disk.replace(place.notes_file, msgspec.json.encode(kept))
        removed = self._sweep(place.folder, kept, disk)
        before = {note.object for note in place.notes.values()}
        return BackupDone(
            path=str(place.folder),
            files=len(entries),
            written=sum(note.object not in before for note in kept.values()),
            removed=removed,
            wrong=wrong,
            bytes=sum(each.size for each in found),
        )

    def verify(self, folder: Path) -> BackupDone:
        """Compare every object with what was written; writes nothing.

        Raises:
            Refused: this home has written no backup there.
        """
        known = [copy for copy in self._copies.known() if (copy.kind, copy.path) == (KIND, str(folder))]
        if not known or read_marker(folder) != self._home_id:
            raise Refused(f"{folder} is no backup of this home")
        place = self._place(folder)
        wrong = sum(not is_whole(object_path(folder, note)) for note in place.notes.values())
        return BackupDone(path=str(folder), files=len(place.notes), wrong=wrong)

    def forget(self, folder: Path, gone: Gone, disk: Disk) -> Outcome:
        """Bring a backup in step with the home, which holds it no more. For `Copies`."""
        if read_marker(folder) != self._home_id:
            raise Refused("is the backup of another home now")
        place = self._place(folder)
        done = self.finish(place, place.notes, with_intents=False)
        return Outcome(done.removed)

    # -- parts --------------------------------------------------------------------------------------------------------

    def _place(self, folder: Path) -> Place:
        notes_file = self._home.root / _NOTES / f"{self._copies.note(KIND, folder)}.json"
        try:
            notes = _decode_notes(files.read(notes_file, _MAX_NOTES_BYTES))
        except (FileNotFoundError, msgspec.DecodeError, BeadError):
            notes = {}  # everything is written anew
        return Place(folder, notes_file, notes)

    def _files(self, *, with_intents: bool) -> Iterator[_Found]:
        root = str(self._home.root)
        for folder, folders, names in os.walk(root):
            below = os.path.relpath(folder, root)
            prefix = "" if below == "." else f"{below}/"
            folders[:] = sorted(
                name
                for name in folders
                if (prefix or name not in _NEVER)
                and f"{prefix}{name}" != _NOTES
                and (with_intents or f"{prefix}{name}" != _INTENTS)
            )
            for name in sorted(names):
                if (not prefix and name in _NEVER) or name.startswith(TEMPORARY_PREFIX):
                    continue
                state = _state(f"{folder}/{name}")
                if state is not None:
                    yield _Found(f"{prefix}{name}", state[2])

    def _write_changed(self, folder: Path, notes: Notes, found: list[_Found] | None = None) -> Notes:
        disk, recipient = Disk(), self._key_of_recipient()
        now: Notes = {}
        for each in self._files(with_intents=True) if found is None else found:
            name = self._name(each.path)
            old = notes.get(name)
            if old is not None and old.state == _state(self._home.root / each.path):
                now[name] = old
            elif (new := self._write(each.path, folder, disk, recipient)) is not None:
                now[name] = new
        disk.sync_folders(folder / OBJECTS)
        return now

    def _write(self, path: str, folder: Path, disk: Disk, recipient: "Recipient") -> Note | None:
        """A new object for a file of the home; None when the file has just gone."""
        from bead import age

        try:
            source = open(self._home.root / path, "rb", opener=_open_plain)
        except OSError:
            return None
        with source:
            status = os.fstat(source.fileno())
            name = secrets.token_hex(16)
            sealed = sha256()

            def write(target: BinaryIO) -> None:
                age.encrypt_stream(source, _Hashing(target, sealed.update), [recipient])

            disk.create_streamed(folder / OBJECTS / name[:2] / f"{name}.age", write)
            return Note(name, sealed.hexdigest(), (status.st_ino, status.st_mtime_ns, status.st_size))

    def _copy_identity(self, folder: Path, disk: Disk) -> None:
        """Whoever has the passphrase can open the backup on a machine where bead never was."""
        try:
            identity = files.read(self._home.identity, _MAX_MARKER_BYTES)
        except FileNotFoundError:
            return
        if not (folder / IDENTITY).exists() or (folder / IDENTITY).read_bytes() != identity:
            disk.replace(folder / IDENTITY, identity)

    def _sweep(self, folder: Path, notes: Notes, disk: Disk) -> int:
        wanted = {f"{note.object}.age" for note in notes.values()}
        removed = 0
        for below in files.names_in(folder / OBJECTS):
            for name in files.names_in(folder / OBJECTS / below):
                if name not in wanted:
                    disk.erase(folder / OBJECTS / below / name)
                    removed += 1
        return removed

    def _encrypted(self, data: bytes) -> bytes:
        from bead import age

        target = io.BytesIO()
        age.encrypt_stream(io.BytesIO(data), target, [self._key_of_recipient()])
        return target.getvalue()

    def _key_of_recipient(self) -> "Recipient":
        from bead import age

        try:
            return age.Recipient(self._recipient())
        except age.AgeError as error:
            raise Refused(f"backup.recipient names nobody to encrypt for: {error}") from None

    def _name(self, path: str) -> str:
        return hmac.new(self._key, b"backup " + path.encode("utf-8", "surrogateescape"), sha256).hexdigest()[:32]


class Object(NamedTuple):
    """An object of a backup and the hash it must have."""

    path: Path
    sealed: str


def object_path(folder: Path, note: Note | Entry) -> Object:
    """Where an object lies."""
    return Object(folder / OBJECTS / note.object[:2] / f"{note.object}.age", note.sealed)


def is_whole(object: Object) -> bool:
    """Whether the object is there with the bytes that were written."""
    found = sha256()
    try:
        with open(object.path, "rb", opener=_open_plain) as file:
            while piece := file.read(_PIECE_BYTES):
                found.update(piece)
    except OSError:
        return False
    return found.hexdigest() == object.sealed


def read_marker(folder: Path) -> str:
    """The id of the home whose backup lies in `folder`.

    Raises:
        Refused: there is none, or one that a newer bead has written.
        Unavailable: it cannot be read.
    """
    try:
        document = json.loads(files.read(folder / MARKER, _MAX_MARKER_BYTES))
        written, home_id = int(document["format"]), str(document["home_id"])
    except FileNotFoundError:
        raise Refused(f"{folder} holds no backup of bead ({MARKER} is missing)") from None
    except (ValueError, KeyError, TypeError):
        raise Unavailable(f"{folder / MARKER} cannot be read; this backup needs a person") from None
    if written > FORMAT:
        raise Refused(f"{folder} was written by a newer bead (format {written}); use that version")
    return home_id


class _Hashing(io.BytesIO):
    """Passes bytes on and hashes them."""

    def __init__(self, target: BinaryIO, update: Callable[[bytes], None]) -> None:
        super().__init__()
        self._target, self._update = target, update

    def write(self, data: "Buffer") -> int:
        """See `BinaryIO.write`."""
        self._update(bytes(data))
        return self._target.write(data)


def _state(path: str | Path) -> tuple[int, int, int] | None:
    """Inode, time of change, size of a regular file; None for anything else."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return (status.st_ino, status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None


def _open_plain(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
