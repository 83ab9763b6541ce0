"""How editors save a file, step by step, as seen with strace; and waiting for what the store makes of it."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

NOTICED_WITHIN_S = 2.0
_BETWEEN_LOOKS_S = 0.02

T = TypeVar("T")


def vim(path: Path, text: str) -> None:
    """A swap file, the old file renamed away as a backup, the new one written under the name, both others removed."""
    swap, probe, backup = path.with_name(f".{path.name}.swp"), path.with_name("4913"), path.with_name(f"{path.name}~")
    swap.write_bytes(b"b0VIM 9.0")
    probe.write_bytes(b"")
    probe.unlink()
    path.rename(backup)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    backup.unlink()
    swap.unlink()


def code(path: Path, text: str) -> None:
    """A new file beside it, renamed over it."""
    new = path.with_name(f"{path.name}.vsctmp")
    new.write_text(text, encoding="utf-8")
    new.rename(path)


def in_place(path: Path, text: str) -> None:
    """The same file, emptied and written."""
    with path.open("r+", encoding="utf-8") as file:
        file.truncate()
        file.write(text)


def emacs(path: Path, text: str) -> None:
    """A lock link, a backup by copy, then written in place."""
    lock = path.with_name(f".#{path.name}")
    lock.symlink_to("me@host.1:1")
    path.with_name(f"{path.name}~").write_bytes(path.read_bytes())
    in_place(path, text)
    lock.unlink()


EDITORS: tuple[Callable[[Path, str], None], ...] = (vim, code, in_place, emacs)


async def soon(look: Callable[[], Awaitable[T]], wanted: Callable[[T], bool], within_s: float = NOTICED_WITHIN_S) -> T:
    """What `look` finds as soon as it is `wanted`; fails with what it found last."""
    found = await look()
    try:
        async with asyncio.timeout(within_s):
            while not wanted(found):
                await asyncio.sleep(_BETWEEN_LOOKS_S)
                found = await look()
    except TimeoutError:
        raise AssertionError(f"not so within {within_s} s; found {found!r}") from None
    return found


def touch(path: Path) -> None:
    """A new time, nothing else."""
    state = path.stat()
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 5_000_000_000))
