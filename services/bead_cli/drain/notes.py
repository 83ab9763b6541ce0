"""What a hook leaves behind: a small file that says that there may be something to drain. No content, ids and a path.

A note only wakes the drain; missing every one of them loses nothing. Imports little: a hook has milliseconds.
"""

import json
import os
import time
from typing import Any

_FOLDER = ("spool", "drain")
_MAX_NOTES = 1_000
_MAX_BYTES = 4 << 10


def leave(home: str, note: dict[str, Any]) -> bool:
    """Put a note into a home that is there, durable on return; False when there is no home or too much lies there."""
    if not os.path.isfile(os.path.join(home, "home-id")):
        return False
    folder = _made(home)
    if len(os.listdir(folder)) >= _MAX_NOTES:
        return False
    name = f"{time.time_ns():020d}-{os.getpid()}"
    temporary = os.path.join(folder, f".{name}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        os.write(handle, json.dumps(note).encode()[:_MAX_BYTES])
        os.fsync(handle)
    finally:
        os.close(handle)
    os.rename(temporary, os.path.join(folder, f"{name}.json"))
    _sync(folder)
    return True


def waiting(home: str) -> list[tuple[str, dict[str, Any]]]:
    """Path and content of each note, oldest first; one that cannot be read says nothing and wakes the drain too."""
    folder = os.path.join(home, *_FOLDER)
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError:
        return []
    return [(os.path.join(folder, name), _read(os.path.join(folder, name))) for name in names]


def done(paths: list[str]) -> None:
    """What these notes asked for is done."""
    for path in paths:
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue


def _made(home: str) -> str:
    folder = home
    for name in _FOLDER:
        folder = os.path.join(folder, name)
        if not os.path.isdir(folder):
            os.makedirs(folder, 0o700, exist_ok=True)
            os.chmod(folder, 0o700)
            _sync(os.path.dirname(folder))
    return folder


def _sync(folder: str) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(path: str) -> dict[str, Any]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            found = json.loads(os.read(handle, _MAX_BYTES))
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
