"""The only place that writes: every change of a file is atomic and durable (I2), or is not there at all.

A new file is a temporary in the same directory, written whole, synced, linked to its name (never over another), and
its directory synced. A rewrite is the same with a rename. Appends survive the death of any process when they return
and are synced in groups (D12). A failed fsync is never tried again: the kernel has thrown the page away and reports it
once, so the store stops writing until it is started anew and reads what is there. Which files, is the callers' affair.
"""

import contextlib
import errno
import fcntl
import math
import os
import secrets
import stat
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from bead.errors import Unavailable, WritesStopped
from bead_store.files import FILE_MODE, READ, TEMPORARY_PREFIX, close, stamp, stamp_of

DIRECTORY_MODE = 0o700
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_REMEMBERED = 8_192
"""Stamps of own writes that are kept; a file event comes within seconds."""
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
_ZEROS = 1 << 20
_PROBE_BYTES = 16 << 10
"""More than most facts have: a disk with only room for a name is full still."""


class Disk:
    """Writes below one home. Usable from several threads, each on files of its own."""

    def __init__(self) -> None:
        self.stopped: str | None = None
        """Why nothing is written any more; None while all is well."""
        self.refusing: str | None = None
        """Why the last write could not be done, as long as none has worked since; no path, it may hold content."""
        self.on_append: Callable[[], None] | None = None
        """Called from the writing thread when there is something for `sync_appended`."""
        self._durable: set[Path] = set()
        self._loose: set[Path] = set()
        """Folders in which names have changed that may not be durable."""
        self._kept: set[int] = set()
        """Stamps of files that somebody else wrote and `keep` has synced."""
        self._wrote: OrderedDict[int, None] = OrderedDict()
        self._removed: OrderedDict[str, None] = OrderedDict()
        self._unsynced: dict[Path, int] = {}
        self._appending = threading.Lock()

    def create(self, path: Path, data: bytes) -> int:
        """Make `path` with `data`; durable on return. Its stamp.

        Raises:
            FileExistsError: the name is taken; the file there is untouched.
            Unavailable: the disk refused; nothing is left behind.
        """
        with self._writing(path):
            # The names of new folders are synced last: by then the file's own syncs have carried most of them.
            made_in = self._make_folders(path.parent)
            temporary, made = self._temporary(path.parent, data)
            self._loose.add(path.parent)
            try:
                os.link(temporary, path)
                self._removed.pop(str(path), None)
            finally:
                os.unlink(temporary)
            self._sync_directory(path.parent)
            for folder in made_in:
                self._sync_directory(folder.parent)
                self._durable.add(folder)
        return made

    def create_streamed(self, path: Path, write: Callable[[BinaryIO], None]) -> None:
        """Make `path` with what `write` writes, synced; its name is durable after `sync_folders` only.

        Raises:
            Unavailable: the disk refused; nothing is left behind.
        """
        with self._writing(path):
            self.make_directory(path.parent)
            temporary = path.parent / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
            descriptor = os.open(temporary, _NEW_FILE, FILE_MODE)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    write(file)
                    file.flush()
                    self._sync(descriptor, path)
                os.rename(temporary, path)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary)
                raise
            self._loose.add(path.parent)

    def sync_folders(self, root: Path) -> None:
        """Make the names that `create_streamed` gave below `root` durable."""
        with self._writing(root):
            for folder in sorted(self._loose):
                if folder.is_relative_to(root):
                    self._sync_directory(folder)

    def replace(self, path: Path, data: bytes, seen: int | None = None) -> None:
        """Put `data` in the place of what `path` holds; durable on return, and never half done.

        `seen` is the stamp of the file that `data` was made from: what a person has saved since is not written over.

        Raises:
            Unavailable: the disk refused, or the file is another one by now; it is whole.
        """
        with self._writing(path):
            self.make_directory(path.parent)
            temporary, _ = self._temporary(path.parent, data)
            try:
                if seen is not None and stamp_of(str(path)) != seen:
                    raise Unavailable(f"{path} is being edited by another program; try again in a moment")
                os.rename(temporary, path)
            except (OSError, Unavailable):
                os.unlink(temporary)
                raise
            self._sync_directory(path.parent)

    def keep(self, path: Path) -> None:
        """What lies at `path` is durable on return, whoever has written it: call before telling that it is there.

        Raises:
            Unavailable: nobody can tell whether it is.
        """
        with self._writing(path):
            self.make_directory(path.parent)
            stamp = stamp_of(str(path))
            is_known = stamp in self._wrote or stamp in self._kept
            if not is_known:
                descriptor = os.open(path, READ)
                try:
                    self._sync(descriptor, path)
                finally:
                    close(descriptor)
            if not is_known or path.parent in self._loose:
                self._sync_directory(path.parent)
            if not is_known:
                if len(self._kept) >= _REMEMBERED:
                    self._kept.clear()
                self._kept.add(stamp)

    def require_health(self) -> None:
        """Raises WritesStopped when what was appended may be lost: call before telling that something is there."""
        if self.stopped:
            raise WritesStopped(self.stopped)

    def probe(self, folder: Path) -> None:
        """After a refusal: try whether a file can be written in `folder` again; `refusing` is what that shows.

        A failed fsync is another matter: what the kernel lost comes back by no write, so `stopped` stays.

        Raises:
            Unavailable: the disk still refuses; nothing is left behind.
        """
        if self.refusing is None:
            return
        with self._writing(folder):
            temporary, _ = self._temporary(folder, bytes(_PROBE_BYTES))
            os.unlink(temporary)

    @property
    def is_settled(self) -> bool:
        """Whether everything that was written here is durable; it may be more often than this says so."""
        return not (self.stopped or self._loose or self._unsynced)

    def append(self, path: Path, data: bytes) -> None:
        """Add `data` to the end of `path`, all or nothing; synced by the next `sync_appended`.

        Raises:
            Unavailable: the disk refused; the file is as long as before.
        """
        with self._writing(path), self._appending:
            descriptor = self._descriptor(path)
            _append_whole(descriptor, data)
            self.refusing = None
            self._note(os.fstat(descriptor))
        if self.on_append:
            self.on_append()

    def append_loose(self, path: Path, data: bytes) -> None:
        """Add `data` to the end of `path`, all or nothing, and leave it to the kernel when it reaches the disk.

        For what may be lost with the power, so that it costs nobody else's fsync any time; one thread a file.

        Raises:
            Unavailable: the disk refused; the file is as long as before.
        """
        with self._writing(path):
            self.make_directory(path.parent)
            descriptor = os.open(path, _APPEND, FILE_MODE)
            try:
                _append_whole(descriptor, data)
                self._note(os.fstat(descriptor))
            finally:
                close(descriptor)

    def append_now(self, path: Path, data: bytes) -> None:
        """Add `data` to the end of `path`, all or nothing, durable on return; one thread a file.

        Raises:
            Unavailable: the disk refused; the file is as long as before.
        """
        with self._writing(path):
            self.make_directory(path.parent)
            is_new = not path.exists()
            descriptor = os.open(path, _APPEND, FILE_MODE)
            try:
                _append_whole(descriptor, data)
                self._sync(descriptor, path)
            finally:
                close(descriptor)
            if is_new:
                os.chmod(path, FILE_MODE)  # open obeys the umask
                self._sync_directory(path.parent)

    def overwrite(self, path: Path, spans: Iterable[tuple[int, bytes]]) -> None:
        """Put bytes in the place of as many that lie there; durable on return. For what must not stay on disk."""
        with self._writing(path):
            descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                for start, data in spans:
                    os.pwrite(descriptor, data, start)
                self._sync(descriptor, path)
                self._note(os.fstat(descriptor))
            finally:
                close(descriptor)

    def replace_erasing(self, path: Path, data: bytes) -> None:
        """`replace`, after which the old bytes are zeros: also where they are no file's any more."""
        with self._writing(path):
            old = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                self.replace(path, data)
                self._zero(old, path)
            finally:
                close(old)

    def erase(self, path: Path) -> bool:
        """Overwrite `path` with zeros and remove it, durable on return; False when it could only be removed.

        What a link leads to and what has another name besides is not ours to overwrite.
        """
        with self._writing(path):
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            except FileNotFoundError:
                return True
            except OSError:
                self.remove(path)
                return False
            try:
                state = os.fstat(descriptor)
                is_ours = stat.S_ISREG(state.st_mode) and state.st_nlink == 1
                if is_ours:
                    self._zero(descriptor, path)
            finally:
                close(descriptor)
            self.remove(path)
            return is_ours

    def remove(self, path: Path) -> None:
        """Take a name away, durable on return; fine when it is gone already."""
        with self._writing(path), contextlib.suppress(FileNotFoundError):
            os.unlink(path)
            self._note_removed(path)
            self._sync_directory(path.parent)

    def move(self, source: Path, target: Path) -> None:
        """Give a file another name in another folder, durable on return; `target` must be free."""
        with self._writing(target):
            self.make_directory(target.parent)
            os.rename(source, target)
            self._note_removed(source)
            self._sync_directory(target.parent)
            self._sync_directory(source.parent)

    def remove_empty(self, path: Path, root: Path) -> None:
        """Remove the folder `path` and those above it, below `root`, as far as they are empty."""
        with self._writing(path):
            while path != root and path.is_relative_to(root):
                try:
                    os.rmdir(path)
                except FileNotFoundError:
                    pass
                except OSError:
                    return
                self._durable.discard(path)
                path = path.parent
                self._sync_directory(path)

    def remove_empty_below(self, root: Path) -> None:
        """Remove every empty folder below `root`: a crash may have left one whose name is a person's text."""
        for folder, _, _ in os.walk(root, topdown=False):
            if folder != os.fspath(root):
                self.remove_empty(Path(folder), Path(folder).parent)

    def truncate(self, path: Path, size: int) -> None:
        """Cut a torn tail: what lies behind `size` was never acknowledged."""
        with self._writing(path), self._appending:
            descriptor = self._descriptor(path)
            os.ftruncate(descriptor, size)
            self._note(os.fstat(descriptor))

    def wrote(self, stamp: int) -> bool:
        """Whether the file with this stamp is one that was written here, not by a person's editor."""
        return stamp in self._wrote

    def took_away(self, path: str) -> bool:
        """Whether it was us who removed `path`, not a person."""
        return path in self._removed

    def sync_appended(self) -> None:
        """Make everything appended so far durable.

        Raises:
            WritesStopped: the disk lost something; nothing is written any more.
        """
        with self._appending:
            files, self._unsynced = self._unsynced, {}
        try:
            for path, descriptor in files.items():
                self._sync(descriptor, path)
        finally:
            for descriptor in files.values():
                close(descriptor)

    def make_directory(self, path: Path) -> None:
        """`path` and what is missing above it, each private and its name durable in its parent."""
        for folder in self._make_folders(path):
            self._sync_directory(folder.parent)
            self._durable.add(folder)

    def _make_folders(self, path: Path) -> list[Path]:
        """Make `path` and what is missing above it; those whose names are to be synced, the outermost first.

        Also one that was there: its maker may have died before its name was durable.
        """
        if path in self._durable:
            return []
        above: list[Path] = []
        if not path.is_dir():
            above = self._make_folders(path.parent)
            with contextlib.suppress(FileExistsError):
                os.mkdir(path, DIRECTORY_MODE)
                os.chmod(path, DIRECTORY_MODE)  # mkdir obeys the umask
        return [*above, path]

    def sweep(self, root: Path, min_age_s: float = 0.0, *, skip: Path | None = None) -> None:
        """Remove temporaries that a crash left below `root`, but not in `skip`.

        Those younger than `min_age_s` may be another process's at work.
        """
        newest = time.time() - min_age_s
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if Path(folder, name) != skip]
            self.remove_leftovers((f"{folder}/{name}" for name in names if name.startswith(TEMPORARY_PREFIX)), newest)

    def remove_leftovers(self, paths: Iterable[str], newest: float = math.inf) -> None:
        """Remove those of these temporaries that are not younger than `newest`, a time since the epoch."""
        for path in paths:
            with contextlib.suppress(OSError):
                if os.lstat(path).st_mtime <= newest:
                    os.unlink(path)

    def _temporary(self, directory: Path, data: bytes) -> tuple[Path, int]:
        """A synced file under a name of its own, and its stamp."""
        path = directory / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
        descriptor = os.open(path, _NEW_FILE, FILE_MODE)
        try:
            os.fchmod(descriptor, FILE_MODE)  # open obeys the umask
            _write_all(descriptor, data)
            self._sync(descriptor, path)
            made = self._note(os.fstat(descriptor))
        except BaseException:
            close(descriptor)
            os.unlink(path)
            raise
        close(descriptor)
        self.refusing = None
        return path, made

    def _note_removed(self, path: Path) -> None:
        self._removed[str(path)] = None
        while len(self._removed) > _REMEMBERED:
            self._removed.popitem(last=False)

    def _note(self, state: os.stat_result) -> int:
        made = stamp(state)
        self._wrote[made] = None
        while len(self._wrote) > _REMEMBERED:
            self._wrote.popitem(last=False)
        return made

    def _zero(self, descriptor: int, path: Path) -> None:
        rest = os.fstat(descriptor).st_size
        os.lseek(descriptor, 0, os.SEEK_SET)
        while rest > 0:
            rest -= os.write(descriptor, bytes(min(rest, _ZEROS)))
        self._sync(descriptor, path)

    def _descriptor(self, path: Path) -> int:
        """An open one for `path` as it is now: an editor may have put another file in its place since the last time."""
        descriptor = self._unsynced.get(path)
        with contextlib.suppress(FileNotFoundError):
            if descriptor is not None and os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
        if descriptor is not None:
            self._sync(descriptor, path)
            close(self._unsynced.pop(path))
        return self._open_to_append(path)

    def _open_to_append(self, path: Path) -> int:
        self.make_directory(path.parent)
        is_new = not path.exists()
        if is_new and path.parent not in self._unsynced:
            # First: a file that is there next time would not be new any more, and its name never synced.
            self._unsynced[path.parent] = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
        descriptor = os.open(path, _APPEND, FILE_MODE)
        # Kept open until it is synced: an error of the disk is told to descriptors that were open when it happened.
        self._unsynced[path] = descriptor
        if is_new:
            os.fchmod(descriptor, FILE_MODE)
        return descriptor

    def _sync_directory(self, path: Path) -> None:
        self._loose.add(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._sync(descriptor, path)
        finally:
            close(descriptor)
        self._loose.discard(path)

    def _sync(self, descriptor: int, path: Path) -> None:
        self.require_health()  # also between the steps of what another thread is doing
        try:
            if sys.platform == "darwin":  # fsync there leaves the data in the drive's cache
                fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            else:
                os.fsync(descriptor)
        except OSError as error:
            _drop_cached(descriptor)
            self.stopped = f"the disk failed to keep {path} ({error.strerror}); start bead again when it is healthy"
            raise WritesStopped(self.stopped) from None

    @contextlib.contextmanager
    def _writing(self, path: Path) -> Iterator[None]:
        if self.stopped:
            raise WritesStopped(self.stopped)
        try:
            yield
        except FileExistsError:
            raise
        except OSError as error:
            self.refusing = _refusal(error)
            raise refused_by_disk(path, error) from None


def refused_by_disk(path: Path, error: OSError) -> Unavailable:
    """What a person should read when the disk says no."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Unavailable(f"the disk is full: {path} was not written; make room and try again")
    return Unavailable(f"{path} cannot be written ({error.strerror})")


def _refusal(error: OSError) -> str:
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return f"the disk {'is full' if is_full else 'refuses to be written'} ({error.strerror}): nothing new is kept"


def _drop_cached(descriptor: int) -> None:
    """After a failed fsync: let readers see what the disk has, not the lost bytes that the kernel still holds."""
    if sys.platform != "darwin":  # there the call is missing
        with contextlib.suppress(OSError):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def _append_whole(descriptor: int, data: bytes) -> None:
    """All of `data` behind what is there, or none of it."""
    before = os.fstat(descriptor).st_size
    try:
        _write_all(descriptor, data)
    except OSError:
        os.ftruncate(descriptor, before)
        raise


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
