"""Reads every key of a home at the start: a small one right here, a large one in processes of its own.

With a hundred thousand facts, reading them in a thread would hold the event loop back for seconds; processes use
every core, and what they send back is packed already. They start from nothing and hold no lock of ours.
"""

import multiprocessing
import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, repeat
from typing import NamedTuple

import msgspec
import structlog

from bead_store import layout
from bead_store.reading import Entry, KeyReader

SMALL = 15_000
"""Folders that are read in this process: half a second of it, about what processes need to start and to answer."""
_CHUNK = 1_000
"""Folders that a process takes at a time."""
_MOST_PROCESSES = 4

log = structlog.get_logger()


class Loaded(msgspec.Struct, array_like=True):
    """What a home holds."""

    entries: list[Entry]
    leftovers: list[str]
    """Temporary files that a crash left."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Loaded).decode


class Place(NamedTuple):
    """Where the facts lie, and what to assume where their headers are silent."""

    facts: str
    owner: str
    home_id: str


def load(place: Place, small: int = SMALL) -> Loaded:
    """Every key below the facts' folder; in processes when there are more than `small` folders to read."""
    found, folders = layout.spread(place.facts, small)
    top = _read(place, found)
    below = _read_below(place, folders) if len(folders) <= small else _in_processes(place, folders)
    return Loaded([*top.entries, *below.entries], [*top.leftovers, *below.leftovers])


def _in_processes(place: Place, folders: list[layout.Folder]) -> Loaded:
    count = min(_MOST_PROCESSES, os.cpu_count() or 1)
    chunks = [folders[at : at + _CHUNK] for at in range(0, len(folders), _CHUNK)]
    loaded = Loaded([], [])
    # Not forked: a child of this process would share its lock and its threads' half-done work.
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(count, mp_context=context) as pool:
            for message in pool.map(read_packed, repeat(place), chunks):
                part = _decode(message)
                loaded.entries.extend(part.entries)
                loaded.leftovers.extend(part.leftovers)
    except (BrokenProcessPool, OSError) as error:
        # Killed for want of memory, or no process can be had: slower, but memory is there.
        log.warning("the home is read in one process", error=type(error).__name__)
        return _read_below(place, folders)
    return loaded


def read_packed(place: Place, folders: list[layout.Folder]) -> bytes:
    """What is in and below `folders`, as one message; runs in a process of its own."""
    return _encode(_read_below(place, folders))


def _read_below(place: Place, folders: list[layout.Folder]) -> Loaded:
    return _read(place, chain.from_iterable(layout.walk_from(folder) for folder in folders))


def _read(place: Place, found: Iterable[layout.Found]) -> Loaded:
    reader = KeyReader(*place)
    loaded = Loaded([], [])
    for each in found:
        if isinstance(each, layout.KeyFiles):
            loaded.entries.append(reader.entry(each.key, each.versions))
        elif isinstance(each, layout.Leftover):
            loaded.leftovers.append(each.path)
    return loaded
