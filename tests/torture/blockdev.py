"""A disk that remembers: one file in a FUSE file system, under a loop device, every write and flush of it in a log.

From the log any state that a power cut could have left can be built again: what was flushed, and any part of what was
not. The disk can also be told to fail, and then answers every write and flush with EIO.

    python -m tests.torture.blockdev IMAGE LOG MOUNTPOINT        serves until it is unmounted
"""

import errno
import importlib
import os
import stat
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

DISK = "disk.img"
BLOCK = 4096
"""A disk writes this much at once or not at all."""
_HEAD = struct.Struct("<cQI")
_WRITE, _FLUSH = b"W", b"F"


class Operation(NamedTuple):
    """One request of the file system to its disk."""

    end: int
    """How long the log was with it."""
    is_flush: bool
    offset: int
    data: bytes


def read_log(log: Path) -> Iterator[Operation]:
    """Every operation in the order the disk got it, writes in pieces of a block."""
    data = log.read_bytes()
    at = 0
    while at < len(data):
        kind, offset, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size + length
        written = data[at - length : at]
        if kind == _FLUSH:
            yield Operation(at, True, 0, b"")
        for start in range(0, length, BLOCK):
            yield Operation(at, False, offset + start, written[start : start + BLOCK])


def failing_switch(log: Path) -> Path:
    """While this file exists the disk fails."""
    return log.with_name(f"{log.name}.fail")


class _Handlers:
    """Answers for the one file. Called by one thread."""

    use_ns = True

    def __init__(self, image: Path, log: Path) -> None:
        self._image = os.open(image, os.O_RDWR)
        self._size = os.fstat(self._image).st_size
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._failing = failing_switch(log)

    def getattr(self, path: str, fh: object = None) -> dict[str, int]:
        """The folder and its file."""
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o700, "st_nlink": 2}
        if path == f"/{DISK}":
            return {"st_mode": stat.S_IFREG | 0o600, "st_nlink": 1, "st_size": self._size}
        raise OSError(errno.ENOENT, "no such file")

    def readdir(self, path: str, fh: object) -> list[str]:
        """The one name."""
        return [".", "..", DISK]

    def open(self, path: str, flags: int) -> int:
        """Any number will do."""
        return 1

    def read(self, path: str, size: int, offset: int, fh: object) -> bytes:
        """From the image."""
        return os.pread(self._image, size, offset)

    def write(self, path: str, data: bytes, offset: int, fh: object) -> int:
        """Into the log, then into the image."""
        self._fail_if_told()
        os.write(self._log, _HEAD.pack(_WRITE, offset, len(data)) + bytes(data))
        return os.pwrite(self._image, data, offset)

    def fsync(self, path: str, datasync: int, fh: object) -> int:
        """A flush of the disk's cache."""
        self._fail_if_told()
        os.write(self._log, _HEAD.pack(_FLUSH, 0, 0))
        return 0

    def flush(self, path: str, fh: object) -> int:
        """Closing is no flush."""
        return 0

    def truncate(self, path: str, length: int, fh: object = None) -> int:
        """A disk keeps its size."""
        return 0

    def fallocate(self, *arguments: object) -> int:
        """Discards are not for this disk."""
        raise OSError(errno.EOPNOTSUPP, "not supported")

    def _fail_if_told(self) -> None:
        if self._failing.exists():
            raise OSError(errno.EIO, "told to fail")


def serve(image: Path, log: Path, mountpoint: Path) -> None:
    """Be the disk until somebody unmounts it.

    Raises:
        RuntimeError: FUSE is not there; the text says what to install.
    """
    try:
        fuse: Any = importlib.import_module("mfusepy")
    except (ImportError, OSError) as error:
        raise RuntimeError(
            f"the power cut tests need mfusepy (dev lock) and Debian's libfuse3-3 ({type(error).__name__})"
        ) from None
    operations = type("Disk", (_Handlers, fuse.Operations), {})
    fuse.FUSE(operations(image, log), str(mountpoint), foreground=True, nothreads=True, fsname="torture")


if __name__ == "__main__":
    serve(*(Path(argument) for argument in sys.argv[1:4]))
