"""Opens a backup into a home that is empty, and takes out what has been forgotten since, before any store opens it.

Everything is decrypted and checked in `.restoring` inside the home, the tombstones are replayed there, and only then
the files get their places. A store refuses a home with such a folder; another restore begins it again, or, when only
the moves were left, finishes them. Whoever calls has the identity: the store itself never decrypts.
"""

import io
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from bead import age
from bead.errors import BeadError, DamagedFile, Exists, Refused
from bead.home import Home
from bead_store import files, layout, turnfile
from bead_store.backups import INDEX, Entry, Index, is_whole, object_path, read_marker
from bead_store.disk import DIRECTORY_MODE, Disk
from bead_store.files import FILE_MODE
from bead_store.spans import Spans
from bead_store.told import told
from bead_store.tombstones import Tombstones

STAGE = ".restoring"
_READY = "ready"
_MAX_INDEX_BYTES = 512 << 20
_MAX_BYTES = 1 << 30
_KEPT = frozenset(
    {"tombstones.log", "tombstone.key", "tokens", "format", "config.yaml", ".lock", "home-id", STAGE, "lost+found"}
)
"""What a home may hold and still be empty; the backup's own replace them."""


class Restored(NamedTuple):
    """What came back."""

    files: int
    forgotten: int
    """Facts, documents and conversations left out, and sessions changed, because of tombstones."""


def restore(folder: Path, home: Home, identity: age.Opener, newer: Home | None = None) -> Restored:
    """Put the backup in `folder` into `home`; nothing of it is there before everything was verified.

    What `newer` (or the home itself, when it holds tombstones) has forgotten since the backup does not come back.

    Raises:
        Exists: the home holds something.
        Refused: there is no backup in the folder.
        DamagedFile: an object is missing, was changed, or is for somebody else.
    """
    read_marker(folder)
    stage = home.root / STAGE
    if (stage / _READY).exists():
        return Restored(_move(stage, home), 0)
    _require_empty(home)
    index = _read_index(folder, identity)
    home.root.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    shutil.rmtree(stage, ignore_errors=True)
    for entry in index.entries:
        _decrypt(folder, entry, stage / _checked(entry.path), identity)
    forgotten = _replay(Home(stage), [each for each in (newer, home) if each is not None])
    _sync(stage)
    Disk().create(stage / _READY, b"")
    return Restored(_move(stage, home), forgotten)


def check(folder: Path, identity: age.Opener) -> int:
    """How many files a restore would bring back; every object is decrypted.

    Raises:
        DamagedFile: see `restore`.
    """
    read_marker(folder)
    index = _read_index(folder, identity)
    for entry in index.entries:
        _open_object(folder, entry, io.BytesIO(), identity)
    return len(index.entries)


# -- opening ----------------------------------------------------------------------------------------------------------


def _require_empty(home: Home) -> None:
    there = [name for name in files.names_in(home.root) if name not in _KEPT]
    for name in there:
        path = home.root / name
        if any(each.is_file() for each in path.rglob("*")) or not path.is_dir():
            raise Exists(f"{home.root} is not empty ({name}); restore into an empty home: --home DIR or BEAD_HOME")


def _read_index(folder: Path, identity: age.Opener) -> Index:
    path = folder / INDEX
    try:
        data = age.decrypt(files.read(path, _MAX_INDEX_BYTES), [identity])
        return msgspec.json.decode(data, type=Index)
    except FileNotFoundError:
        raise _damaged(path, "is missing; the first run of this backup did not come to its end") from None
    except (age.AgeError, msgspec.DecodeError) as error:
        raise _damaged(path, _why(error)) from None


def _decrypt(folder: Path, entry: Entry, target: Path, identity: age.Opener) -> None:
    target.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, FILE_MODE), "wb") as file:
        _open_object(folder, entry, file, identity)


def _open_object(folder: Path, entry: Entry, target: io.BufferedIOBase, identity: age.Opener) -> None:
    found = object_path(folder, entry)
    if not is_whole(found):
        raise _damaged(found.path, "is missing or not the one that was written")
    try:
        with open(found.path, "rb") as source:
            age.decrypt_stream(source, target, [identity])  # type: ignore[arg-type]  # a BinaryIO in all but name
    except age.AgeError as error:
        raise _damaged(found.path, _why(error)) from None


def _checked(path: str) -> PurePosixPath:
    """A path of the index; it was authenticated, and is still not trusted to stay below the home."""
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or not parts.parts or parts.parts[0] == STAGE:
        raise Refused("the index of this backup names a file outside of the home")
    return parts


# -- replaying --------------------------------------------------------------------------------------------------------


def _replay(staged: Home, newer: list[Home]) -> int:
    _join_tombstones(staged, newer)
    if not staged.tombstones.exists():
        return 0
    key = files.read(staged.tombstone_key, 1024)
    tombstones = Tombstones(staged.tombstones, key, disk=Disk(), now=lambda: datetime.now(UTC))
    tombstones.load()
    if tombstones.damage:
        raise tombstones.damage
    count = sum(_drop_fact(found.directory, found.key, tombstones) for found in list(_facts(staged)))
    count += sum(_redact(path, tombstones.spans) for path in staged.raw.rglob("*.md"))
    for folder in (staged.queue, staged.drafts, staged.episodes, staged.dream, staged.reports, staged.sessions):
        for path in [each for each in folder.rglob("*") if each.is_file()]:
            if tombstones.spans.found(_text(path)):
                path.unlink()
                count += 1
    return count


def _join_tombstones(staged: Home, newer: list[Home]) -> None:
    """The log of the backup with every line that it does not have yet; only under the same key it means anything."""
    for home in newer:
        if not (home.tombstones.exists() and home.tombstone_key.exists()):
            continue
        if not staged.tombstone_key.exists() or home.tombstone_key.read_bytes() != staged.tombstone_key.read_bytes():
            raise Refused(
                f"{home.tombstones} was written under another key than this backup's: it is of another home; move it "
                "away if what it protects may come back"
            )
        there = staged.tombstones.read_bytes() if staged.tombstones.exists() else b""
        known = set(there.splitlines())
        lines = [line for line in home.tombstones.read_bytes().splitlines() if line and line not in known]
        staged.tombstones.write_bytes(there + b"".join(line + b"\n" for line in lines))
        staged.tombstones.chmod(FILE_MODE)


class _Fact(NamedTuple):
    directory: Path
    key: str


def _facts(home: Home) -> Iterator[_Fact]:
    for folder, _, names in os.walk(home.facts):
        if any(layout.version_number(name) for name in names):
            yield _Fact(Path(folder), Path(folder).relative_to(home.facts).as_posix())


def _drop_fact(directory: Path, key: str, tombstones: Tombstones) -> bool:
    """The whole key when one of its versions is refused: a highest version alone would revive an older value."""
    for path in [each for each in directory.iterdir() if each.is_file()]:
        with suppress(BeadError):
            if not tombstones.refuses(key, told(path).body):
                continue
            for each in [each for each in directory.iterdir() if each.is_file()]:
                each.unlink()
            with suppress(OSError):
                directory.rmdir()
            return True
    return False


def _redact(path: Path, spans: Spans) -> bool:
    data = path.read_bytes()
    scanned = turnfile.scan(data)
    now = data
    for start, end in sorted((*scanned.spans, *scanned.loose), reverse=True):
        text = data[start:end].decode("utf-8", "replace")
        clean = spans.redacted(text)
        if clean != text:
            now = now[:start] + clean.encode() + now[end:]
    if now != data:
        path.write_bytes(now)
    return now != data


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


# -- the end ----------------------------------------------------------------------------------------------------------


def _sync(stage: Path) -> None:
    for folder, _, names in os.walk(stage):
        for name in (*names, "."):
            descriptor = os.open(Path(folder, name), os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _move(stage: Path, home: Home) -> int:
    """Everything to its place; what a new home had there goes. Done again after a kill, it goes on."""
    count = 0
    for name in sorted(files.names_in(stage)):
        if name == _READY:
            continue
        target = home.root / name
        if target.is_dir():
            shutil.rmtree(target)
        os.rename(stage / name, target)
        count += 1 if target.is_file() else sum(each.is_file() for each in target.rglob("*"))
    _sync_folder(home.root)
    shutil.rmtree(stage)
    _sync_folder(home.root)
    return count


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _damaged(path: Path, reason: str) -> DamagedFile:
    return files.damaged(path, None, reason)


def _why(error: Exception) -> str:
    if isinstance(error, age.NoIdentityMatched):
        return "is encrypted for another identity"
    return "was changed or cut"
