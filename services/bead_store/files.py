"""Reads files of one home, and tells two states of one apart; never follows a link, never reads a device.

Writing is `disk`'s. Which files, is the callers' affair.
"""

import contextlib
import errno
import os
import stat
from pathlib import Path

from bead.errors import DamagedFile, Unavailable

TEMPORARY_PREFIX = ".tmp-"
"""Of files that are being written."""
FILE_MODE = 0o600
READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""How a file is opened to be read."""
_NOTHING_LEFT = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""It is this process or this machine that cannot open anything now; the file is well."""


def read(path: Path | str, limit: int, start: int = 0) -> bytes:
    """The bytes of a regular file of at most `limit` bytes from `start` on; links and devices are never followed.

    Raises:
        FileNotFoundError: no such file.
        DamagedFile: it is too large, no regular file, or the disk cannot read it.
        Unavailable: this process may open no more files.
    """
    try:
        descriptor = os.open(path, READ)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in _NOTHING_LEFT:
            raise unreadable(Path(path), error) from None
        reason = "is a symbolic link" if error.errno == errno.ELOOP else f"cannot be opened ({error.strerror})"
        raise damaged(Path(path), None, reason) from None
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise damaged(Path(path), None, "is not a regular file")
        if state.st_size > limit:
            raise damaged(Path(path), None, f"has {state.st_size} bytes, more than the {limit} bead reads")
        if start:
            os.lseek(descriptor, start, os.SEEK_SET)
        return _read_all(descriptor, max(0, state.st_size - start))
    except OSError as error:
        raise damaged(Path(path), None, f"cannot be read ({error.strerror})") from None
    finally:
        close(descriptor)


def close(descriptor: int) -> None:
    """Let go of a file whose bytes were read, or are synced: what a disk says then changes nothing that was told.

    The number is free afterwards whatever was answered, so it is never closed again.
    """
    with contextlib.suppress(OSError):
        os.close(descriptor)


def names_in(folder: Path) -> list[str]:
    """The names in a folder, none when there is no such folder.

    Raises:
        Unavailable: it cannot be listed, which is not the same as being empty.
    """
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise unreadable(folder, error) from None


def unreadable(path: Path, error: OSError) -> Unavailable:
    """What a person should read when something could not be looked at; it may be all right."""
    return Unavailable(f"{path} cannot be read now ({error.strerror}); try again")


def stamp(state: os.stat_result) -> int:
    """A number that differs for a file that was written or replaced; the same in every process."""
    return hash((state.st_ino, state.st_mtime_ns, state.st_size))


def stamp_of(path: str) -> int:
    """The stamp of what lies at `path`; 0 when there is nothing."""
    try:
        return stamp(os.lstat(path))
    except OSError:
        return 0


def damaged(path: Path, line: int | None, reason: str) -> DamagedFile:
    """The error that names a file, a line and what is wrong there, never what it says."""
    place = f"{path}:{line}" if line else str(path)
    return DamagedFile(f"{place}: {reason}", path=str(path), line=line, reason=reason)


def _read_all(descriptor: int, size: int) -> bytes:
    data = os.read(descriptor, size + 1)
    while len(data) < size:
        more = os.read(descriptor, size - len(data))
        if not more:
            break
        data += more
    return data
