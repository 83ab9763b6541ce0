"""Reads and replaces one file of a person's: through links, in one step, with its mode, or not at all."""

import os
import stat
import tempfile
from pathlib import Path
from typing import NamedTuple

from bead.errors import Refused

NEW_MODE = 0o644
MOST_BYTES = 8 << 20
"""A larger file is no profile and no settings."""


class Found(NamedTuple):
    """A file as it is now. `data` is None where there is none."""

    path: Path
    """Where it really lies: of a link, its end."""
    data: bytes | None
    mode: int

    def __repr__(self) -> str:  # settings hold credentials
        return f"Found({str(self.path)!r}, {len(self.data) if self.data is not None else 'no'} bytes)"


def read(path: Path) -> Found:
    """The file behind `path`.

    Raises:
        Refused: it cannot be read, or is no file.
    """
    real = Path(os.path.realpath(path))
    try:
        state = real.stat()
    except FileNotFoundError:
        return Found(real, None, NEW_MODE)
    except OSError as error:
        raise Refused(f"{path} cannot be read ({error.strerror}); nothing was changed there") from None
    if not stat.S_ISREG(state.st_mode) or state.st_size > MOST_BYTES:
        raise Refused(f"{path} is no file that bead may change; nothing was changed there")
    try:
        return Found(real, real.read_bytes(), stat.S_IMODE(state.st_mode))
    except OSError as error:
        raise Refused(f"{path} cannot be read ({error.strerror}); nothing was changed there") from None


def require_writable(found: Found) -> None:
    """Raise Refused where the person, or whoever makes their files, has made it read-only."""
    if found.data is not None and not found.mode & stat.S_IWUSR:
        raise Refused(f"{found.path} is read-only; nothing was changed there")
    nearest = found.path.parent
    while not nearest.exists():
        nearest = nearest.parent
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise Refused(f"{nearest} is read-only; nothing was changed there")


def missing_folders(path: Path) -> tuple[Path, ...]:
    """Folders that writing `path` makes, the outermost first."""
    found: list[Path] = []
    folder = path.parent
    while not folder.exists():
        found.append(folder)
        folder = folder.parent
    return tuple(reversed(found))


def replace(path: Path, data: bytes, mode: int) -> None:
    """Let `path` (no link) hold `data`, durably and in one step.

    Raises:
        Refused: the disk, or somebody else's folder, does not let it.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        owner = path.stat() if path.exists() else None
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with open(handle, "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), mode)
            if owner is not None and (owner.st_uid, owner.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        raise Refused(f"{path} cannot be written ({error.strerror}); it is as it was") from None


def remove(path: Path) -> None:
    """Remove a file; no word where there is none. Raises Refused."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise Refused(f"{path} cannot be removed ({error.strerror})") from None
