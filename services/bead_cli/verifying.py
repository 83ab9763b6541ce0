"""Scans a whole home for a value in every disguise, byte by byte; never writes it, never trusts bead's own search.

The value reaches the processes that look through a pipe. What a disguise is, is `disguises`.
"""

import multiprocessing
import os
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from bead.age.header import VERSION_LINE
from bead_cli.disguises import Disguises, disguises, places

_PIECE_BYTES = 16 << 20
_OVERLAP_BYTES = 64 << 10
_MOST_PROCESSES = 4
_HERE_BYTES = 8 << 20
_BATCH = 100
_INDEX = "index.db"
_ENCRYPTED = (VERSION_LINE, b"-----BEGIN AGE ENCRYPTED FILE-----")


class Trace(NamedTuple):
    """One file that holds it."""

    path: str
    disguises: tuple[str, ...]
    hints: tuple[str, ...] = ()
    """Of an index: words of the value, which may be another text's."""
    is_encrypted: bool = False
    """Whether it is a file of age, whose content was not seen."""


class Verified(NamedTuple):
    """What a scan has seen."""

    files: int
    bytes: int
    traces: tuple[Trace, ...]
    hints: tuple[Trace, ...]
    unread: tuple[str, ...]
    encrypted: tuple[str, ...] = ()
    """Files of age, binary or armoured: nobody can look into them without their key."""


def verify(root: Path, value: str, tell: Callable[[int, int], None]) -> Verified:
    """Look at every file and every name below `root`; `tell` hears how many files of how many are done."""
    wanted = disguises(value)
    paths, size = _files(root)
    found: list[Trace] = []
    unread: list[str] = []
    encrypted: list[str] = []
    done = 0
    for batch, results in _batches(paths, size, wanted):
        done += batch
        tell(done, len(paths))
        for trace in results:
            if trace.is_encrypted:
                encrypted.append(trace.path)
            if trace.disguises or trace.hints:
                found.append(trace)
            elif not trace.is_encrypted:
                unread.append(trace.path)
    found += _names(root, wanted)
    traces = tuple(sorted(trace for trace in found if trace.disguises))
    hints = tuple(sorted(trace for trace in found if not trace.disguises))
    return Verified(len(paths), size, traces, hints, tuple(sorted(unread)), tuple(sorted(encrypted)))


def _batches(paths: list[str], size: int, wanted: Disguises) -> Iterator[tuple[int, list[Trace]]]:
    batches = [paths[at : at + _BATCH] for at in range(0, len(paths), _BATCH)]
    if size <= _HERE_BYTES:
        _prepare(wanted)
        for batch in batches:
            yield len(batch), look(batch)
        return
    context = multiprocessing.get_context("spawn")
    count = min(_MOST_PROCESSES, os.cpu_count() or 1)
    with ProcessPoolExecutor(count, mp_context=context, initializer=_prepare, initargs=(wanted,)) as pool:
        for batch, results in zip(batches, pool.map(look, batches), strict=True):
            yield len(batch), results


_wanted: list[Disguises] = []


def _prepare(wanted: Disguises) -> None:
    _wanted[:] = [wanted]


def look(paths: list[str]) -> list[Trace]:
    """The work of one process: what these files hold; one that cannot be read has neither disguise nor hint."""
    found: list[Trace] = []
    for path in paths:
        try:
            trace = _look_at(path)
        except FileNotFoundError:
            continue
        except OSError:
            trace = Trace(path, ())
        if trace is not None:
            found.append(trace)
    return found


def _look_at(path: str) -> Trace | None:
    traces: set[str] = set()
    hints: set[str] = set()
    is_encrypted = False
    for number, piece in enumerate(_pieces(path)):
        is_encrypted |= number == 0 and piece.startswith(_ENCRYPTED)
        more, vague = places(piece, _wanted[0])
        traces |= more
        hints |= vague
    is_index = os.path.basename(path).startswith(_INDEX)
    if not (traces or is_encrypted or (hints and is_index)):
        return None
    return Trace(path, tuple(sorted(traces)), tuple(sorted(hints)) if is_index else (), is_encrypted)


def _pieces(path: str) -> Iterator[bytes]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        before = b""
        while data := file.read(_PIECE_BYTES):
            yield before + data
            before = data[-_OVERLAP_BYTES:]


def _files(root: Path) -> tuple[list[str], int]:
    found: list[str] = []
    size = 0
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            try:
                state = os.lstat(path)
            except FileNotFoundError:
                continue
            if stat.S_ISREG(state.st_mode):
                found.append(path)
                size += state.st_size
    return found, size


def _names(root: Path, wanted: Disguises) -> Iterator[Trace]:
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            found, _ = places(os.fsencode(name), wanted, 0)
            if found:
                yield Trace(os.path.join(folder, name), ("in its name",))
