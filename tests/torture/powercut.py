"""Power cuts: every state the disk may have been left in, at each flush and between them, opened again by the store.

The workload runs on a real ext4 over a disk that logs (`blockdev`). Between two flushes a disk may have kept any part
of what it was sent, in any order; such states are drawn at random, by blocks.
"""

import asyncio
import functools
import multiprocessing
import os
import random
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.torture import blockdev, check, disk, processes, syscalls
from tests.torture.blockdev import Operation
from tests.torture.check import Claims
from tests.torture.events import Event, from_lines, to_line
from tests.torture.syscalls import Fault
from tests.torture.workload import THREAD, run_round

GROUP_FSYNC_MS = 50
HOME = "home"


_OF_A_VERB = 1
"""Borders of each verb that are looked at first."""


class Round(NamedTuple):
    """A round of the workload, in a process of its own."""

    number: int
    killed_at: Fault | None = None


class Told(NamedTuple):
    """An event, and how long the disk's log was when it was heard; the process waited meanwhile."""

    log_bytes: int
    event: Event


class Recording(NamedTuple):
    """A workload as the disk saw it."""

    base: Path
    """The image before the workload."""
    operations: list[Operation]
    told: list[Told]
    last_round: int
    """The first operation of the last round."""


class State(NamedTuple):
    """The power went away after the operation `at`; of what was not flushed, `kept` had reached the disk."""

    at: int
    kept: tuple[int, ...]
    """Operations after the last flush."""
    kind: str
    """`flushed`: nothing of them; `ordered`: all; `some`: a part drawn at random."""


class Outcome(NamedTuple):
    """What a state showed."""

    state: State
    during: str
    """The verb that ran when the power went away."""
    violations: list[str]


def record(folder: Path, rounds: Sequence[Round]) -> Recording:
    """Rounds of the workload on a logged disk; the last image is left behind."""
    folder.mkdir(exist_ok=True)
    base, live = folder / "base.img", folder / "live.img"
    disk.make_ext4(base)
    shutil.copyfile(base, live)
    told: list[Told] = []
    with disk.logged(live, folder) as logged, disk.mounted(logged.device, folder / "mount") as mount:
        for each in rounds:
            start = logged.log.stat().st_size
            _record_round(mount / HOME, each, logged.log, folder, told)
        end = logged.log.stat().st_size
    operations = [operation for operation in blockdev.read_log(folder / "log") if operation.end <= end]
    last_round = sum(operation.end <= start for operation in operations)
    return Recording(base, operations, told, last_round)


def _record_round(home: Path, each: Round, log: Path, folder: Path, told: list[Told]) -> None:
    child = processes.Child(
        lambda tell: asyncio.run(run_round(home, each.number, lambda event: tell(to_line(event)), GROUP_FSYNC_MS)),
        folder / "workload.log",
        in_step=True,
    )
    if each.killed_at:
        syscalls.attach(child.pid, folder / "trace", each.killed_at)
    child.start()
    ended = child.listen(lambda line: told.extend(Told(log.stat().st_size, event) for event in from_lines(line)))
    complaints = check.complaints(entry.event for entry in told)
    expected = -9 if each.killed_at else 0
    if ended.code != expected or complaints:
        raise RuntimeError(f"the workload fails on a healthy disk: {complaints or ended.code}")


def restated(folder: Path, number: int) -> Recording:
    """A round killed right after its new file `number` got its name, unsynced; the next process is told it all again.

    What that one answers from the kernel's memory must be on the disk nevertheless.
    """
    # By the thread that writes facts: others remove no file once the home is there.
    return record(folder, (Round(1), Round(2, Fault("unlink", number, "KILL")), Round(2)))


def repeated(folder: Path) -> Recording:
    """A round killed before the group fsync of its first turns; they are sent once more, and are there already."""
    next_file = folder / "mount" / HOME / "sessions" / f"session-2-{THREAD}.jsonl"
    return record(folder, (Round(1), Round(2, Fault("openat", 1, "KILL", str(next_file))), Round(2)))


def last_states(recording: Recording, limit: int) -> list[State]:
    """Borders of flushes in the last round: the first ones, and as many evenly from the rest."""
    tails = list(enumerate(_tails(recording.operations)))[recording.last_round :]
    borders = [state for at, tail in tails if _is_border(recording.operations, at) for state in _border(at, tail)]
    first, rest = borders[: limit // 2], borders[limit // 2 :]
    return [*first, *rest[:: max(1, 2 * len(rest) // limit)]]


def states(recording: Recording, limit: int, seed: int) -> list[State]:
    """At most `limit` states: each border of a flush, then parts of the tails drawn until there are enough."""
    rng = random.Random(seed)
    tails = list(enumerate(_tails(recording.operations)))
    borders = [state for at, tail in tails if _is_border(recording.operations, at) for state in _border(at, tail)]
    if len(borders) > limit // 2:
        borders = _of_every_verb(recording, borders, limit // 2, rng)
    found = dict.fromkeys(borders)
    inner = [(at, tail) for at, tail in tails if tail]
    for _ in range(20 * limit):
        if len(found) >= limit:
            break
        at, tail = rng.choice(inner)
        found[State(at, tuple(sorted(rng.sample(tail, rng.randint(0, len(tail))))), "some")] = None
    return list(found)


def _of_every_verb(recording: Recording, borders: Sequence[State], limit: int, rng: random.Random) -> list[State]:
    """`limit` of `borders`: some of each verb, so that a short one is not missed, then at random."""
    left = rng.sample(borders, len(borders))
    by_verb: dict[str, list[State]] = {}
    for state in left:
        by_verb.setdefault(_during(_said(recording, state)), []).append(state)
    first = [state for found in by_verb.values() for state in found[:_OF_A_VERB]]
    return list(dict.fromkeys([*first, *left]))[: max(limit, len(first))]


def _is_border(operations: Sequence[Operation], at: int) -> bool:
    """The last write before a flush, or the end."""
    return at + 1 == len(operations) or operations[at + 1].is_flush


def _border(at: int, tail: Sequence[int]) -> tuple[State, State]:
    return State(at, (), "flushed"), State(at, tuple(tail), "ordered")


def _tails(operations: Sequence[Operation]) -> Iterator[list[int]]:
    """For each operation the writes since the last flush, itself included."""
    tail: list[int] = []
    for at, operation in enumerate(operations):
        if operation.is_flush:
            tail = []
        else:
            tail = [*tail, at]
        yield tail


def cut_all(recording: Recording, chosen: Sequence[State], folder: Path, workers: int) -> Iterator[Outcome]:
    """Build and open every state, `workers` at a time; outcomes come as they are ready."""
    work = functools.partial(_cut, recording, folder)
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        yield from pool.imap_unordered(work, chosen, chunksize=1)


def _cut(recording: Recording, folder: Path, state: State) -> Outcome:
    own = folder / f"worker-{os.getpid()}"
    own.mkdir(exist_ok=True)
    said = _said(recording, state)
    try:
        violations = _open_again(recording, state, said, own)
    except (RuntimeError, TimeoutError) as error:
        violations = [f"{type(error).__name__}: {error}"]
    return Outcome(state, _during(said), violations)


def _open_again(recording: Recording, state: State, said: Sequence[Event], own: Path) -> list[str]:
    # A new file for each state: mount takes up a loop device of the same file again, with what it remembers of it.
    image = own / f"cut-{secrets.token_hex(8)}.img"
    build(recording, state, image)
    try:
        return _opened_again(image, said, own)
    finally:
        image.unlink()


def _opened_again(image: Path, said: Sequence[Event], own: Path) -> list[str]:
    with disk.mounted(str(image), own / "mount", ["loop"]) as mount:
        home = mount / HOME
        work = functools.partial(check.aftermath, home, Claims.after_power_cut(said), 9)
        found: list[str] = processes.answer_of(work, own / "check.log")
        return found


def build(recording: Recording, state: State, image: Path) -> None:
    """The disk as the power cut left it."""
    operations = recording.operations
    flushed = max((at for at in range(state.at + 1) if operations[at].is_flush), default=-1)
    shutil.copyfile(recording.base, image)
    with image.open("r+b") as file:
        for at in (*range(flushed + 1), *state.kept):
            file.seek(operations[at].offset)
            file.write(operations[at].data)


def _said(recording: Recording, state: State) -> list[Event]:
    """What the workload had told when the power went away."""
    return [entry.event for entry in recording.told if entry.log_bytes <= recording.operations[state.at].end]


def _during(said: Sequence[Event]) -> str:
    if not said or said[-1].step < 0:
        return "open and close"
    return check.verb_of(said[-1])
