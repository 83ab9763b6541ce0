"""Makes durable what a process that did not come to its end had written: what is read from now on outlives the power.

A killed process leaves names and bytes in the kernel's memory only. The next one sees them, answers `unchanged` or
`already there` for them, and that is a promise like any other (I2, I3). Called under the lock, before anybody is
answered. How it is known that the last process came to its end is `lock`'s.
"""

import ctypes
import errno
import fcntl
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bead.errors import WritesStopped
from bead_store.files import close

_syncfs: Any = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
"""One call makes a whole file system durable; None on systems that have none, macOS say."""
_DIRECTORY = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY
_FILE = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def settle(root: Path) -> None:
    """Everything below `root` that can be read is on the disk when this returns.

    Raises:
        WritesStopped: the disk failed to keep something; the text names it.
    """
    if _syncfs is not None:
        try:
            for folder in _one_a_file_system(root):
                _sync_file_system(folder)
            return
        except OSError:
            pass  # it tells of anybody's files, also of long ago; whether one of ours is lost is asked file by file
    _sync_each(root)


def _one_a_file_system(root: Path) -> Iterator[Path]:
    """`root`, and the folders in and below it that a person has put on another disk."""
    seen: set[int] = set()
    for folder in (root, *root.glob("*/"), *root.glob("*/*/")):
        device = folder.stat().st_dev
        if device not in seen:
            seen.add(device)
            yield folder


def _sync_file_system(folder: Path) -> None:
    descriptor = os.open(folder, _DIRECTORY)
    try:
        if _syncfs(descriptor):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(folder))
    finally:
        close(descriptor)


def _sync_each(root: Path) -> None:
    for folder, _, names in os.walk(root):
        for name in names:
            _sync(Path(folder, name), _FILE)
        _sync(Path(folder), _DIRECTORY)
    if sys.platform == "darwin":
        _empty_the_drives_cache(root)


def _sync(path: Path, flags: int) -> None:
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.EACCES, errno.ENXIO):
            return  # gone, or nothing that bead reads
        raise _failed(path, error) from None
    try:
        if stat.S_ISREG(mode := os.fstat(descriptor).st_mode) or stat.S_ISDIR(mode):
            os.fsync(descriptor)
    except OSError as error:
        raise _failed(path, error) from None
    finally:
        close(descriptor)


if sys.platform == "darwin":

    def _empty_the_drives_cache(root: Path) -> None:
        """There fsync has only given the bytes to the drive; once for all of them is enough, and costs as much."""
        descriptor = os.open(root, _DIRECTORY)
        try:
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        except OSError as error:
            raise _failed(root, error) from None
        finally:
            close(descriptor)


def _failed(path: Path, error: OSError) -> WritesStopped:
    return WritesStopped(f"the disk failed to keep {path} ({error.strerror}); start bead again when it is healthy")
