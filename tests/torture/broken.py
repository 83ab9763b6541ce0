"""Stores that are wrong on purpose: the kit must find each of them, or it would find nothing (positive controls).

They change what the operating system is asked for, not the store's own code, so that they stay true of any store.
"""

import contextlib
import os
import stat
from collections.abc import Callable
from typing import Protocol

_sync, _link, _rename = os.fsync, os.link, os.rename

PathLike = str | os.PathLike[str]


class _HasFileno(Protocol):
    def fileno(self) -> int: ...


File = int | _HasFileno


def _sync_nothing(fd: File) -> None:
    """The data stays in the kernel's memory until it likes to write it."""


def _sync_files_only(fd: File) -> None:
    """Names are never synced: a file can be gone though its bytes are there."""
    if not stat.S_ISDIR(os.fstat(_number(fd)).st_mode):
        _sync(fd)


def _number(fd: File) -> int:
    return fd if isinstance(fd, int) else fd.fileno()


def _ignore_a_failed_sync(fd: File) -> None:
    """The disk's complaint is thrown away."""
    with contextlib.suppress(OSError):
        _sync(fd)


def _sync_again(fd: File) -> None:
    """A failed sync is tried again, and the second one succeeds: the kernel has forgotten the lost page."""
    try:
        _sync(fd)
    except OSError:
        _sync(fd)


def _link_in_place(source: PathLike, target: PathLike) -> None:
    """The final name is there before the bytes are."""
    if os.path.exists(target):
        raise FileExistsError(target)
    _write_in_place(source, target)


def _rename_in_place(source: PathLike, target: PathLike) -> None:
    """The old file is written over."""
    _write_in_place(source, target)
    os.unlink(source)


def _write_in_place(source: PathLike, target: PathLike) -> None:
    with open(source, "rb") as file:
        data = file.read()
    with open(target, "wb", buffering=0) as out:
        for half in (data[: len(data) // 2], data[len(data) // 2 :]):
            out.write(half)
        _sync(out.fileno())


def _no_sync() -> None:
    os.fsync = _sync_nothing


def _no_directory_sync() -> None:
    os.fsync = _sync_files_only


def _sync_errors_ignored() -> None:
    os.fsync = _ignore_a_failed_sync


def _sync_retried() -> None:
    os.fsync = _sync_again


def _in_place() -> None:
    os.link, os.rename = _link_in_place, _rename_in_place  # type: ignore[assignment]  # keyword arguments nobody uses


CONTROLS: dict[str, Callable[[], None]] = {
    "no-sync": _no_sync,
    "no-directory-sync": _no_directory_sync,
    "in-place": _in_place,
    "sync-errors-ignored": _sync_errors_ignored,
    "sync-retried": _sync_retried,
}

FOUND_BY_INJECTION = {
    "in-place": "as left: torn file",
    "sync-errors-ignored": "after a failed fsync",
    "sync-retried": "after a failed fsync",
}
"""And what is said then."""
FOUND_BY_POWER_CUT = {"no-sync": "LOST: write", "no-directory-sync": "LOST"}


def apply(name: str) -> None:
    """Make this process and its children wrong in the way of `name`."""
    CONTROLS[name]()
