"""Where a fact version lies, and which file names count: only exactly `v<N>.md` under a valid key.

Copies that sync tools and editors drop beside them (`v2 2.md`, `.v3.md.icloud`, `v2.md~`) are noted, never read.
"""

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from bead import keys
from bead.errors import InvalidKey
from bead_store.files import TEMPORARY_PREFIX, names_in

_VERSION_FILE = re.compile(r"v([1-9][0-9]{0,8})\.md\Z")
_NOT_WORTH_A_NOTE = frozenset({".DS_Store", ".localized", "desktop.ini", "Thumbs.db"})


class KeyFiles(NamedTuple):
    """A key and the version numbers that have a file, ascending."""

    key: str
    versions: tuple[int, ...]


class Folder(NamedTuple):
    """A folder below the facts', and the key it stands for if it holds versions."""

    path: str
    key: str


class Leftover(NamedTuple):
    """A temporary file; when a store starts, one that a crash has left."""

    path: str


class Note(NamedTuple):
    """Something below the facts' folder that is not a fact, and why it was left alone."""

    path: str
    reason: str


def directory_of(facts: Path, key: str) -> Path:
    """The folder of a valid key."""
    return facts / str(keys.parse(key))


def version_path(facts: Path, key: str, version: int) -> Path:
    """The file of one version."""
    return directory_of(facts, key) / f"v{version}.md"


@lru_cache(maxsize=4_096)
def version_number(name: str) -> int | None:
    """The number that a file name stands for; None for every name that is not exactly a version's."""
    match = _VERSION_FILE.match(name)
    return int(match[1]) if match else None


def versions_in(directory: Path) -> tuple[int, ...]:
    """The version numbers present in one key's folder, ascending.

    Raises:
        Unavailable: the folder cannot be listed.
    """
    names = names_in(directory)
    return tuple(sorted(number for name in names if (number := version_number(name)) is not None))


Found = KeyFiles | Leftover | Note


def walk(facts: Path) -> Iterator[Found]:
    """Every key with version files below `facts`, temporaries, and notes about everything else."""
    return walk_from(Folder(os.fspath(facts), ""))


def walk_from(start: Folder) -> Iterator[Found]:
    """The same for one folder and everything in it."""
    pending = [start]
    while pending:
        found, inside = _look(pending.pop())
        pending += inside
        yield from found


def spread(facts: str, enough: int) -> tuple[list[Found], list[Folder]]:
    """What is found on the way down until there are more than `enough` folders to look into, and these folders."""
    found: list[Found] = []
    folders = [Folder(facts, "")]
    while folders and len(folders) <= enough:
        level, folders = folders, []
        for folder in level:
            there, inside = _look(folder)
            found += there
            folders += inside
    return found, folders


def _look(folder: Folder) -> tuple[list[Found], list[Folder]]:
    """What is in one folder: its key or notes, and the folders inside."""
    found: list[Found] = []
    inside: list[Folder] = []
    versions: list[int] = []
    try:
        entries = _entries(folder.path)
    except OSError as error:
        reason = f"this folder cannot be read ({error.strerror}); its facts are missing"
        return [Note(folder.path, reason)], []
    for entry in entries:
        number = version_number(entry.name)
        if entry.is_dir(follow_symlinks=False):
            inside.append(Folder(entry.path, f"{folder.key}/{entry.name}" if folder.key else entry.name))
        elif number is not None:
            versions.append(number)
        elif entry.name.startswith(TEMPORARY_PREFIX):
            found.append(Leftover(entry.path))
        elif words := _note(entry.name):
            found.append(Note(entry.path, words))
    if versions:
        found.append(_key_files(folder.path, folder.key, versions))
    return found, inside


def _key_files(directory: str, key: str, versions: list[int]) -> KeyFiles | Note:
    try:
        keys.parse(key)
    except InvalidKey:
        return Note(directory, "this folder's name is no valid key; its files are not read")
    return KeyFiles(key, tuple(sorted(versions)))


def _entries(directory: str) -> list[os.DirEntry[str]]:
    with os.scandir(directory) as entries:
        found = list(entries)
    return sorted(found, key=attrgetter("name")) if len(found) > 1 else found


def _note(name: str) -> str | None:
    if name in _NOT_WORTH_A_NOTE:
        return None
    return "not a version file (only v<number>.md is); looks like a copy made by an editor or a sync tool"
