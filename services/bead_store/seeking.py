"""Looks into many files for what is to be forgotten: a few right here, many in processes of their own.

A gigabyte of turns searched in a thread would hold every request back for seconds; processes use every core, give way
to the proxy, and are told what to look for through a pipe, never on a command line or in a file. Imports little, so
that a process starts quickly. Reads files, writes none.
"""

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from enum import StrEnum
from itertools import repeat
from typing import NamedTuple

from bead.errors import BeadError
from bead_store import files
from bead_store.redaction import Wanted, ordinals_to_redact

MOST_HERE_BYTES = 48 << 20
MOST_HERE_FILES = 4_000
"""What is searched in this process: about what processes need to start and to answer."""
MAX_BYTES = 256 << 20
_CHUNK_BYTES = 16 << 20
_CHUNK_FILES = 1_000
_MOST_PROCESSES = 4
_NICENESS = 10
_SOMEWHERE = frozenset({0})
_NOWHERE: frozenset[int] = frozenset()


class Kind(StrEnum):
    """What an answer says about a file."""

    SESSION = "session"
    """Which turns are wanted."""
    TEXT = "text"
    """Whether it holds one of the texts."""
    FOLDER = "folder"
    """Whether a file that lies in it does, or its own name."""


class Asked(NamedTuple):
    """One file or folder to look into."""

    kind: Kind
    path: str
    size: int = 0
    source: str = ""
    """Of a session: how facts name it."""


class Found(NamedTuple):
    """What was found in one that was asked about."""

    number: int
    """Its place in the question."""
    answers: tuple[frozenset[int], ...]
    """For each of `wanted` the turns; {0} for a text that is somewhere in it."""
    unread: str = ""
    """Why it could not be looked into."""


def seek(asked: Sequence[Asked], wanted: Sequence[Wanted]) -> list[Found]:
    """Those of `asked` that hold something wanted, or cannot be read. Blocks; never for the event loop."""
    if len(asked) <= MOST_HERE_FILES and sum(each.size for each in asked) <= MOST_HERE_BYTES:
        return look_into(list(enumerate(asked)), wanted)
    chunks = list(_chunks(asked))
    # Not forked: a child of this process would share its lock and its threads' half-done work.
    context = multiprocessing.get_context("spawn")
    try:
        count = min(_MOST_PROCESSES, os.cpu_count() or 1)
        with ProcessPoolExecutor(count, mp_context=context, initializer=_give_way) as pool:
            return [found for some in pool.map(look_into, chunks, repeat(tuple(wanted))) for found in some]
    except (BrokenProcessPool, OSError):
        # Killed for want of memory, or no process can be had: slower, and as thorough.
        return look_into(list(enumerate(asked)), wanted)


def look_into(asked: Sequence[tuple[int, Asked]], wanted: Sequence[Wanted]) -> list[Found]:
    """The work of one process."""
    found: list[Found] = []
    for number, each in asked:
        try:
            answers = _answers(each, wanted)
        except FileNotFoundError:
            continue
        except BeadError as error:
            found.append(Found(number, (), error.message))
            continue
        if any(answers):
            found.append(Found(number, answers))
    return found


def _answers(asked: Asked, wanted: Sequence[Wanted]) -> tuple[frozenset[int], ...]:
    if asked.kind is Kind.FOLDER:
        return _in_folder(asked.path, wanted)
    data = files.read(asked.path, MAX_BYTES)
    if not any(each.may_be_in(data, asked.source) for each in wanted):
        return ()
    if asked.kind is Kind.SESSION:
        return tuple(ordinals_to_redact(data, asked.source, wanted))
    text = data.decode("utf-8", "replace")
    return tuple(_SOMEWHERE if each.holds(text) else _NOWHERE for each in wanted)


def _in_folder(folder: str, wanted: Sequence[Wanted]) -> tuple[frozenset[int], ...]:
    name = os.path.basename(folder)
    answers = [_SOMEWHERE if each.holds(name) else _NOWHERE for each in wanted]
    with os.scandir(folder) as entries:
        paths = [entry.path for entry in entries if entry.is_file(follow_symlinks=False)]
    for path in paths:
        inside = _answers(Asked(Kind.TEXT, path), wanted)
        answers = [before | after for before, after in zip(answers, inside or repeat(_NOWHERE), strict=False)]
    return tuple(answers)


def _chunks(asked: Sequence[Asked]) -> Iterator[list[tuple[int, Asked]]]:
    some: list[tuple[int, Asked]] = []
    size = 0
    for number, each in enumerate(asked):
        some.append((number, each))
        size += each.size
        if size >= _CHUNK_BYTES or len(some) >= _CHUNK_FILES:
            yield some
            some, size = [], 0
    if some:
        yield some


def _give_way() -> None:
    """The proxy of this machine comes first."""
    os.nice(_NICENESS)
