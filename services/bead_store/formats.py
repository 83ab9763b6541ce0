"""Which form a home's files have, what refuses another one, and how an older form becomes this one.

`format` in the home holds a number; homes from before it have form 1. A store opens its own form only: an older one
waits for `bead migrate`, which copies the home beside it first, and a newer one is never touched. A step may be ended
at any call and begun again, so each one finds what an earlier try has done.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from bead.errors import Exists, HomeUnusable, Unavailable
from bead.home import Home
from bead_store import files
from bead_store.copies import Copies
from bead_store.disk import Disk
from bead_store.lock import HomeLock

FORMAT = 1
"""The form that this version reads and writes."""
_FIRST = 1
_MAX_BYTES = 64
_PARTIAL = ".partial"

Step = Callable[[Home, Disk], None]
STEPS: Mapping[int, Step] = {}
"""What makes form N+1 of form N."""


class Migrated(NamedTuple):
    """What `migrate` did."""

    before: int
    after: int
    copy: Path | None
    """The home as it was."""


def read_format(home: Home) -> int:
    """The form of a home's files.

    Raises:
        HomeUnusable: the file says none.
    """
    try:
        text = files.read(_file(home), _MAX_BYTES).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return _FIRST
    if not text.isdecimal():
        raise HomeUnusable(f"{_file(home)} holds no number; restore it from a backup")
    return int(text)


def require_format(home: Home, disk: Disk, newest: int = FORMAT) -> None:
    """Note the form of a new home.

    Raises:
        HomeUnusable: the home has another form than `newest`.
    """
    if not _file(home).exists():
        is_new = not home.home_id.exists()
        disk.create(_file(home), f"{newest if is_new else _FIRST}\n".encode())
    found = read_format(home)
    if found > newest:
        raise HomeUnusable(
            f"{home.root} was written by a newer bead (form {found}, this one knows {newest}) and is left alone; use "
            f"that version, or the copy {copy_of(home, newest).name} that 'bead migrate' has made and told"
        )
    if found < newest:
        raise HomeUnusable(
            f"{home.root} was written by an older bead (form {found}, this one needs {newest}); run 'bead migrate', "
            "which copies it first"
        )


def copy_of(home: Home, form: int, folder: Path | None = None) -> Path:
    """Where `migrate` puts the home as it was in `form`: in `folder`, or beside the home."""
    return (folder or home.root.parent) / f"{home.root.name}.form-{form}"


async def migrate(
    home: Home, newest: int = FORMAT, steps: Mapping[int, Step] | None = None, folder: Path | None = None
) -> Migrated:
    """Bring a home to `newest`; the home as it was lies in `folder` (default: beside it) before the first step begins.

    Raises:
        StoreLocked: bead runs on it.
        HomeUnusable: it is newer, or there is no home.
        Exists: something else lies where the copy would.
    """
    if not home.home_id.exists():
        raise HomeUnusable(f"{home.root} holds no memory; there is nothing to migrate")
    async with HomeLock(home.lock, 0.0):
        before = read_format(home)
        if before > newest:
            require_format(home, Disk(), newest)
        if before == newest:
            return Migrated(before, before, None)
        copy = copy_of(home, before, folder)
        disk = Disk()
        _copy(home, copy, before)
        Copies(home.copies, disk).note("export", copy)  # a forget reaches it, or says that it does not
        for form in range(before, newest):
            (STEPS if steps is None else steps)[form](home, disk)
            disk.replace(_file(home), f"{form + 1}\n".encode())
        return Migrated(before, newest, copy)


def _copy(home: Home, target: Path, form: int) -> None:
    """All of the home, durable and compared; one from an earlier try is the home as it was and stays."""
    if target.exists():
        same = (target / home.home_id.name).exists() and (
            (target / home.home_id.name).read_bytes() == home.home_id.read_bytes()
        )
        if same and read_format(Home(target)) == form:
            return
        raise Exists(f"{target} is there already and no copy of this home; move it away")
    partial = target.with_name(target.name + _PARTIAL)
    shutil.rmtree(partial, ignore_errors=True)
    try:
        shutil.copytree(home.root, partial, symlinks=True, ignore=shutil.ignore_patterns(".lock", "index.db*"))
        for folder, _, names in os.walk(partial):
            for name in names:
                _require_same(home.root / Path(folder).relative_to(partial) / name, Path(folder, name))
        os.sync()
        os.rename(partial, target)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise Unavailable(f"the copy {target} could not be written ({error.strerror}); nothing was changed") from None


def _require_same(one: Path, other: Path) -> None:
    if one.is_symlink():
        return
    if one.read_bytes() != other.read_bytes():
        raise Unavailable(f"the copy of {one} is not the same; nothing was changed")


def _file(home: Home) -> Path:
    return home.root / "format"
