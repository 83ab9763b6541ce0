"""Makes and checks the home: the tree of DESIGN section 3, private whatever the umask, with its tokens and its id."""

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import NamedTuple

from bead.errors import DamagedFile, HomeUnusable, Unavailable
from bead.home import Home
from bead_store import files
from bead_store.disk import DIRECTORY_MODE, Disk, refused_by_disk
from bead_store.formats import require_format

_TOKEN_BYTES = 32
"""43 characters in base64url."""
_TOKEN_FILE_LIMIT = 1024
_TOMBSTONE_KEY_BYTES = 32
_OPEN_TO_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class Prepared(NamedTuple):
    """What a home's services need to know about each other."""

    home_id: str
    bus_secret: str
    proxy_token: str
    admin_token: str
    tombstone_key: bytes

    def __repr__(self) -> str:  # the rest are secrets
        return f"Prepared(home_id={self.home_id!r})"


def prepare(home: Home) -> Prepared:
    """Make what is missing, tighten what is loose, and read the tokens. Safe to call from several processes.

    Raises:
        HomeUnusable: it cannot be written, belongs to somebody else, others can write to it, or the disk is full.
    """
    try:
        _own_directory(home.root)
        if (home.root / ".restoring").exists():
            raise HomeUnusable(f"a restore into {home.root} was not finished; run the same 'bead restore' again")
        for directory in (home.facts, home.raw, home.queue, home.sessions, home.token("bus").parent):
            _private_directories(directory, home.root)
        disk = Disk()
        require_format(home, disk)
        return Prepared(
            home_id=_secret(disk, home.home_id, secrets.token_hex(16)),
            bus_secret=_secret(disk, home.token("bus"), secrets.token_urlsafe(_TOKEN_BYTES)),
            proxy_token=_secret(disk, home.token("proxy"), secrets.token_urlsafe(_TOKEN_BYTES)),
            admin_token=_secret(disk, home.token("admin"), secrets.token_urlsafe(_TOKEN_BYTES)),
            tombstone_key=_tombstone_key(disk, home),
        )
    except OSError as error:
        raise HomeUnusable(refused_by_disk(Path(error.filename or home.root), error).message) from None
    except (Unavailable, DamagedFile) as error:
        raise error if isinstance(error, HomeUnusable) else HomeUnusable(error.message) from None


def _own_directory(root: Path) -> None:
    if root.exists() and not root.is_dir():
        raise HomeUnusable(f"{root} is not a folder; a home is a folder of its own, by default ~/.bead")
    root.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    state = root.stat()
    if state.st_uid != os.geteuid():
        raise HomeUnusable(
            f"{root} belongs to another user (uid {state.st_uid}, bead runs as uid {os.geteuid()}); set BEAD_HOME to a "
            f"folder of yours, or in containers BEAD_UID={state.st_uid or 'your uid, and give it the folder'}"
        )
    if state.st_mode & _OPEN_TO_OTHERS:
        raise HomeUnusable(f"{root} can be written by others; run 'chmod 700 {root}' and look at what is in it")
    _tighten(root, DIRECTORY_MODE)
    if not os.access(root, os.W_OK | os.X_OK):
        raise HomeUnusable(f"{root} cannot be written; make it writable or set BEAD_HOME to another folder")


def _private_directories(path: Path, root: Path) -> None:
    if path == root:
        return
    _private_directories(path.parent, root)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=DIRECTORY_MODE)
    if not path.is_dir():
        raise HomeUnusable(f"{path} is not a folder; move it away")
    _tighten(path, DIRECTORY_MODE)


def _tighten(path: Path, mode: int) -> None:
    if stat.S_IMODE(path.stat().st_mode) != mode:
        path.chmod(mode)


def _tombstone_key(disk: Disk, home: Home) -> bytes:
    """The key under which forgotten values are recognised; never another one than the log was written with."""
    path = home.tombstone_key
    if not path.exists():
        if home.tombstones.exists():
            raise HomeUnusable(
                f"{path} is missing, so what was forgotten could come back; restore it from a backup, "
                f"or remove {home.tombstones} to give up what it protects"
            )
        with contextlib.suppress(FileExistsError):
            disk.create(path, secrets.token_bytes(_TOMBSTONE_KEY_BYTES))
    _tighten(path, files.FILE_MODE)
    key = files.read(path, _TOKEN_FILE_LIMIT)
    if len(key) != _TOMBSTONE_KEY_BYTES:
        raise HomeUnusable(f"{path} does not hold {_TOMBSTONE_KEY_BYTES} bytes; restore it from a backup")
    return key


def _secret(disk: Disk, path: Path, fresh: str) -> str:
    """What `path` holds; `fresh` when there is none yet."""
    if not path.exists():
        with contextlib.suppress(FileExistsError):  # another process was faster: its secret counts
            disk.create(path, f"{fresh}\n".encode())
    _tighten(path, files.FILE_MODE)
    text = files.read(path, _TOKEN_FILE_LIMIT).decode("ascii", "replace").strip()
    if not text:
        raise HomeUnusable(f"{path} is empty; remove it and start again, a new one is made")
    return text
