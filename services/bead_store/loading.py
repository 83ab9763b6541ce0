"""Reads every key of a home at the start: a small one right here, a large one in processes of its own.

With a hundred thousand facts, reading them in a thread would hold the event loop back for seconds; processes use
every core, and what they send back is packed already. They start from nothing and hold no lock of ours.
"""

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import NamedTuple

import msgspec
import structlog

from bead_store import layout
from bead_store.reading import Entry, KeyReader

SMALL = 5_000
"""Folders that are read in this process: about a quarter of a second, less than processes need to start."""
_CHUNK = 1_000
"""Folders that a process takes at a time."""
_MOST_PROCESSES = 4

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Entry]).decode

log = structlog.get_logger()


class Place(NamedTuple):
    """Where the facts lie, and what to assume where their headers are silent."""

    facts: str
    owner: str
    home_id: str


def load(place: Place, small: int = SMALL) -> Iterator[Entry]:
    """Every key below the facts' folder; in processes when there are more than `small` folders to read."""
    found, folders = layout.spread(place.facts, small)
    yield from _read(place, found)
    if len(folders) <= small:
        yield from _read_below(place, folders)
        return
    try:
        yield from _in_processes(place, folders)
    except (BrokenProcessPool, OSError) as error:
        # Killed for want of memory, or no process can be had: slower, but memory is there.
        log.warning("the home is read in one process", error=type(error).__name__)
        yield from _read_below(place, folders)


def _in_processes(place: Place, folders: list[layout.Folder]) -> Iterator[Entry]:
    """What the folders hold, in order; the caller may see some twice when this fails half way."""
    count = min(_MOST_PROCESSES, os.cpu_count() or 1)
    rest = iter(folders)
    chunks = iter(lambda: list(islice(rest, _CHUNK)), [])
    # Not forked: a child of this process would share its lock and its threads' half-done work.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context) as pool:
        for packed in pool.map(read_packed, *zip(*((place, chunk) for chunk in chunks), strict=True)):
            yield from _decode(packed)


def read_packed(place: Place, folders: list[layout.Folder]) -> bytes:
    """The entries in and below `folders`, as one message; runs in a process of its own."""
    return _encode(list(_read_below(place, folders)))


def _read_below(place: Place, folders: list[layout.Folder]) -> Iterator[Entry]:
    for folder in folders:
        yield from _read(place, layout.walk_from(folder))


def _read(place: Place, found: Iterator[layout.KeyFiles | layout.Note] | list[layout.KeyFiles]) -> Iterator[Entry]:
    reader = KeyReader(*place)
    for each in found:
        if isinstance(each, layout.KeyFiles):
            yield reader.entry(each.key, each.versions)
