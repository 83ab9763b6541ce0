"""Reads and empties files of an agent's store without being led out of it (T9).

Every component is opened through its parent's descriptor and no link is followed, so that a swap between a look and an
opening leads nowhere. A file is emptied through the descriptor it was read through, and only while file, inode, size,
time and hash are still what was read.
"""

import errno
import fcntl
import hashlib
import os
import secrets
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import TracebackType

MAX_FILE_BYTES = 1 << 20
MAX_NAMES = 10_000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_WORDS = {
    errno.ELOOP: "it is a link",
    errno.ENOTDIR: "a part of its path is a link or no folder",
    errno.EACCES: "it may not be read",
    errno.ENOENT: "it is gone",
}


class NotSafe(Exception):
    """A file or folder that is left alone; the text says why, in plain words."""


class Changed(NotSafe):
    """It is not any more what was read."""


@contextmanager
def alone(file: int) -> Iterator[None]:
    """Nobody else has this file open, and whoever opens it waits until we are done; as far as the system can say so.

    A lease (fcntl(2)), where system and file system have them. Elsewhere the look just before is all there is.

    Raises:
        Changed: another program has it open.
    """
    if not hasattr(fcntl, "F_SETLEASE"):
        yield
        return
    # What tells a holder that somebody waits would end this process; SIGURG does nothing by itself.
    fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError as error:
        if error.errno == errno.EAGAIN:
            raise Changed("another program has it open") from None
        yield
        return
    try:
        yield
    finally:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)


class Held(AbstractContextManager["Held"]):
    """One open file: what was read, and the descriptors through which it may be emptied."""

    def __init__(self, folder: int, name: str, file: int) -> None:
        self._folder, self._name, self._file = folder, name, file
        self._state = os.fstat(file)
        self.data = _read(file)
        self._hash = hashlib.sha256(self.data).digest()
        if _identity(os.fstat(file)) != _identity(self._state):
            raise Changed("it changed while it was read")

    def empty(self) -> None:
        """Leave nothing in it.

        Raises:
            Changed: it is not what was read, or another program has it open; nothing was done.
        """
        with alone(self._file):
            self._require_unchanged()
            os.ftruncate(self._file, 0)
        os.fsync(self._file)

    def remove(self) -> None:
        """Empty it, and take its name away while that still names this file."""
        self.empty()
        # Under a name of our own first: what somebody has put there meanwhile is looked at before it would go.
        aside = f".bead-drained-{secrets.token_hex(8)}"
        with suppress(FileNotFoundError):
            os.rename(self._name, aside, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            if self._is_left_empty(aside):
                os.unlink(aside, dir_fd=self._folder)
            else:
                self._give_back(aside)
            os.fsync(self._folder)

    def _give_back(self, aside: str) -> None:
        """Its name again; where something new has that, one that the next drain reads."""
        try:
            os.link(aside, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder, follow_symlinks=False)
            os.unlink(aside, dir_fd=self._folder)
        except FileExistsError:
            kept = f"kept-{aside[-8:]}-{self._name}"
            os.rename(aside, kept, src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def _is_left_empty(self, aside: str) -> bool:
        """Whether it is this file, nothing is in it, and nobody who opened it by its old name can still write."""
        found = os.stat(aside, dir_fd=self._folder, follow_symlinks=False)
        try:
            with alone(self._file):
                return os.path.samestat(found, self._state) and os.fstat(self._file).st_size == 0
        except Changed:
            return False

    def replace(self, data: bytes) -> None:
        """Put a file with `data` in its place, in one step: a crash leaves the old one or the new one.

        Raises:
            Changed: it is not what was read; nothing was done.
        """
        temporary = f".bead-drained-{secrets.token_hex(8)}"
        mode = stat.S_IMODE(self._state.st_mode)
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE, 0o600, dir_fd=self._folder)
        try:
            with open(file, "wb") as written:
                os.fchmod(file, mode)
                written.write(data)
                written.flush()
                os.fsync(file)
            with alone(self._file):
                self._require_unchanged()
                os.rename(temporary, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=self._folder)
            raise
        os.fsync(self._folder)

    def close(self) -> None:
        """Let go of it."""
        os.close(self._file)
        os.close(self._folder)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _require_unchanged(self) -> None:
        try:
            named = os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
        except FileNotFoundError:
            raise Changed("it is gone") from None
        same = _identity(named) == _identity(os.fstat(self._file)) == _identity(self._state)
        if not same or hashlib.sha256(_read(self._file)).digest() != self._hash:
            raise Changed("it has changed since it was read")


class Tree:
    """One open folder and what lies below it."""

    def __init__(self, folder: int, uid: int) -> None:
        self._folder, self._uid = folder, uid

    def folders(self, below: str = "") -> list[str]:
        """Names of the folders in `below`, no links; none when it is not there.

        Raises:
            NotSafe: `below` is a link or belongs to somebody else.
        """
        return self._names(below, stat.S_ISDIR)

    def files(self, below: str = "") -> list[str]:
        """Names of everything in `below` that is no folder; whether one can be read, `hold` says.

        Raises:
            NotSafe: as `folders`.
        """
        return self._names(below, lambda mode: not stat.S_ISDIR(mode))

    def hold(self, path: str, *, to_empty: bool = False) -> Held:
        """Open and read one file.

        Raises:
            NotSafe: it is left alone, and why.
        """
        folder, name = self._parent(path)
        file = -1
        try:
            file = self._open(folder, name, os.O_RDWR if to_empty else os.O_RDONLY)
            return Held(folder, name, file)
        except BaseException as error:
            if file >= 0:
                os.close(file)
            os.close(folder)
            if isinstance(error, OSError):
                raise NotSafe(_why(error)) from None
            raise

    def head(self, path: str, limit: int) -> bytes:
        """The first bytes of a file of any size; empty when it cannot be opened safely."""
        try:
            folder, name = self._parent(path)
        except NotSafe:
            return b""
        try:
            file = self._open(folder, name, os.O_RDONLY, cap=None)
        except (NotSafe, OSError):
            return b""
        finally:
            os.close(folder)
        try:
            return os.pread(file, limit, 0)
        finally:
            os.close(file)

    def _names(self, below: str, wanted: Callable[[int], bool]) -> list[str]:
        try:
            folder = self._walk([part for part in below.split("/") if part])
        except FileNotFoundError:
            return []
        except OSError as error:
            raise NotSafe(_why(error)) from None
        try:
            found = []
            for name in sorted(os.listdir(folder))[:MAX_NAMES]:
                with suppress(FileNotFoundError):
                    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
                    if wanted(mode):
                        found.append(name)
            return found
        finally:
            os.close(folder)

    def _parent(self, path: str) -> tuple[int, str]:
        *parts, name = path.split("/")
        if any(part in ("", ".", "..") or "\0" in part for part in (*parts, name)):
            raise NotSafe("its path leads elsewhere")
        try:
            return self._walk(parts), name
        except OSError as error:
            raise NotSafe(_why(error)) from None

    def _walk(self, parts: list[str]) -> int:
        at = os.dup(self._folder)
        try:
            for part in parts:
                below = os.open(part, _FOLDER, dir_fd=at)
                os.close(at)
                at = below
                require_private(os.fstat(at), self._uid)
            return at
        except BaseException:
            os.close(at)
            raise

    def _open(self, folder: int, name: str, flags: int, cap: int | None = MAX_FILE_BYTES) -> int:
        seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
        self._require_plain(seen, cap)
        file = os.open(name, flags | _FILE, dir_fd=folder)
        try:
            state = os.fstat(file)
            if not os.path.samestat(seen, state):
                raise Changed("it was swapped while it was opened")
            self._require_plain(state, cap)
        except BaseException:
            os.close(file)
            raise
        return file

    def _require_plain(self, state: os.stat_result, cap: int | None) -> None:
        if not stat.S_ISREG(state.st_mode):
            raise NotSafe("it is a link" if stat.S_ISLNK(state.st_mode) else "it is no regular file")
        if state.st_uid != self._uid:
            raise NotSafe("it belongs to somebody else")
        if state.st_nlink != 1:
            raise NotSafe("it has a second name (a hard link)")
        if cap is not None and state.st_size > cap:
            raise NotSafe(f"it is larger than {cap >> 10} KiB")


@contextmanager
def opened(root: str, uid: int) -> Iterator[Tree | None]:
    """The folder `root`, None when it is not there. A link to it is followed: where a store lies is the person's say.

    Raises:
        NotSafe: it belongs to somebody else, or others may write there.
    """
    try:
        folder = os.open(os.path.realpath(root, strict=True), _FOLDER)
    except (FileNotFoundError, NotADirectoryError):
        yield None
        return
    except OSError as error:
        raise NotSafe(_why(error)) from None
    try:
        require_private(os.fstat(folder), uid)
        yield Tree(folder, uid)
    finally:
        os.close(folder)


def require_private(state: os.stat_result, uid: int) -> None:
    """Raise NotSafe unless only this user can put something into the folder.

    A group of the same number as its user is the user's own (that is how many systems make accounts).
    """
    group_writes = state.st_mode & stat.S_IWGRP and state.st_gid != uid
    if state.st_uid != uid:
        raise NotSafe("its folder belongs to somebody else")
    if state.st_mode & stat.S_IWOTH or group_writes:
        raise NotSafe("others may write into its folder; 'chmod go-w' makes it yours alone")


def _identity(state: os.stat_result) -> tuple[int, ...]:
    return (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_nlink, state.st_mode)


def _read(file: int) -> bytes:
    data = b""
    while len(data) <= MAX_FILE_BYTES and (piece := os.pread(file, 1 << 16, len(data))):
        data += piece
    if len(data) > MAX_FILE_BYTES:
        raise NotSafe("it grew while it was read")
    return data


def _why(error: OSError) -> str:
    return _WORDS.get(error.errno or 0, f"the system says: {os.strerror(error.errno or 0)}")
