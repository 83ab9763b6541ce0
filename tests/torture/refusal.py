"""Disks that refuse in earnest: full, out of names, with a limit on a file's size, or answering EIO from the device.

No call is faked here, so several of them fail one after the other, and the file system has its own say.
"""

import asyncio
import functools
import resource
import shutil
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bead.errors import BeadError
from tests.torture import blockdev, check, disk, processes, script
from tests.torture.check import Claims
from tests.torture.events import Event, from_lines, to_line
from tests.torture.powercut import GROUP_FSYNC_MS, HOME
from tests.torture.script import Append, Commit, Write
from tests.torture.workload import Tell, do_steps, opened, run_round

Work = Callable[[Tell], Coroutine[Any, Any, None]]

ROOM_KB, ROOM_INODES = 16 << 10, 4096
TINY_DISKS: Sequence[tuple[int, int]] = (
    *((size, ROOM_INODES) for size in (16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128, 144, 160, 168)),
    *((ROOM_KB, inodes) for inodes in (8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52)),
    (40, 24),
    (64, 32),
)
"""Kilobytes and inodes."""
FILE_LIMITS: Sequence[int] = (1, 40, 200, 400, 700, 1_000, 2_000, 4_000, 8_000, 16_000, 19_000)
"""Bytes."""
_FULL_ROUNDS = (1, 2)
_ROOM_ROUND = 3
_AFTER = 9


class Trial(NamedTuple):
    """One refusing disk, and what was wrong with how it was met."""

    name: str
    acknowledged: int
    refused: int
    violations: list[str]


def full_disks(folder: Path, disks: Sequence[tuple[int, int]] = TINY_DISKS) -> Iterator[Trial]:
    """Disks that fill up, get room while the store runs, and must be written to again."""
    for size_kb, inodes in disks:
        options = (f"size={size_kb}k", f"nr_inodes={inodes}", "mode=0700")
        with disk.mounted("tmpfs", folder / "tiny", options, "tmpfs") as mount:
            yield _full(f"{size_kb} KB, {inodes} inodes", mount, folder)


def _full(name: str, mount: Path, folder: Path) -> Trial:
    events: list[Event] = []

    def heard(line: bytes) -> None:
        events.extend(from_lines(line))
        if (events[-1].kind, events[-1].round) == ("health", _FULL_ROUNDS[-1]):
            _make_room(mount)

    home = mount / HOME
    rounds = (*_FULL_ROUNDS, _ROOM_ROUND)
    wrong = _run(lambda tell: _rounds(home, rounds, tell, 0), folder, heard)
    wrong += [f"after room was made: {line}" for line in check.complaints(e for e in events if e.round == _ROOM_ROUND)]
    _make_room(mount)
    return _trial(name, home, folder, events, Claims.after_kill(events), wrong)


def _make_room(mount: Path) -> None:
    disk.run("mount", "-o", f"remount,size={ROOM_KB}k,nr_inodes={ROOM_INODES}", str(mount))


def file_limits(folder: Path, limits: Sequence[int] = FILE_LIMITS) -> Iterator[Trial]:
    """A process that may not make files longer than so many bytes."""
    for limit in limits:
        home = folder / "limited"
        shutil.rmtree(home, ignore_errors=True)
        events: list[Event] = []
        work = functools.partial(_limited, home, limit)
        wrong = _run(work, folder, functools.partial(_note, events))
        yield _trial(f"files up to {limit} bytes", home, folder, events, Claims.after_kill(events), wrong)


def _note(events: list[Event], line: bytes) -> None:
    events.extend(from_lines(line))


async def _limited(home: Path, limit: int, tell: Tell) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    await run_round(home, 1, tell, 0)


def failing_devices(folder: Path, at_steps: Sequence[int]) -> Iterator[Trial]:
    """A disk that answers EIO from the begin of a step on, and is healed while the store still runs."""
    for step in at_steps:
        own = folder / f"eio-{step}"
        own.mkdir()
        disk.make_ext4(own / "live.img")
        with disk.logged(own / "live.img", own) as logged:
            yield _failing(step, logged, own)
        shutil.rmtree(own)


def _failing(step: int, logged: disk.LoggedDisk, folder: Path) -> Trial:
    switch, events = blockdev.failing_switch(logged.log), list[Event]()

    def heard(line: bytes) -> None:
        events.extend(from_lines(line))
        last = events[-1]
        if (last.kind, last.round, last.step) == ("begin", 1, step):
            switch.touch()
        elif (last.kind, last.round) == ("health", 2):
            switch.unlink()

    with disk.mounted(logged.device, folder / "mount", ["errors=remount-ro"]) as mount:
        wrong = _run(lambda tell: _rounds(mount / HOME, (1, 2, 3), tell, GROUP_FSYNC_MS), folder, heard)
    switch.unlink(missing_ok=True)
    wrong += _stopped(events)
    with disk.mounted(logged.device, folder / "mount") as mount:
        claims = Claims.after_power_cut(events, healthy_until=events.index(Event("begin", 1, step)))
        return _trial(f"EIO from step {step} on", mount / HOME, folder, events, claims, wrong)


def _stopped(events: Sequence[Event]) -> list[str]:
    """Once writes have stopped they stay so, healed disk or not, and health says it."""
    codes = [event.code for event in events]
    if "writes-stopped" not in codes:
        return ["no write was ever refused with 'writes-stopped'"]
    later = events[codes.index("writes-stopped") :]
    wrong = [f"ACKNOWLEDGED after writes had stopped: {check.verb_of(event)}" for event in later if _has_written(event)]
    return wrong + ["health does not show it" for event in later if event.kind == "health" and event.ready]


def _has_written(event: Event) -> bool:
    if event.kind != "done":
        return False
    step = script.steps(event.round)[event.step]
    return isinstance(step, Append | Commit) or (isinstance(step, Write) and event.verb != "unchanged")


async def _rounds(home: Path, numbers: Sequence[int], tell: Tell, group_fsync_ms: int) -> None:
    """Rounds in one process, on one open store; if it does not open, the last round is tried with a new one."""
    try:
        async with opened(home, group_fsync_ms) as store:
            for number in numbers:
                await do_steps(store, number, tell, group_fsync_ms)
    except BeadError as error:
        tell(Event("refused", numbers[0], code=error.code))
        tell(Event("health", numbers[-2], ready=False, degraded=(error.message,)))
        await run_round(home, numbers[-1], tell, group_fsync_ms)
    tell(Event("closed", numbers[-1]))


def _run(work: Work, folder: Path, heard: Callable[[bytes], None]) -> list[str]:
    log = folder / "refused.log"
    log.unlink(missing_ok=True)
    child = processes.Child(
        lambda tell: asyncio.run(work(lambda event: tell(to_line(event)))),
        log,
        in_step=True,
    )
    child.start()
    try:
        code = child.listen(heard).code
    except TimeoutError as error:
        return [str(error)]
    return [] if code == 0 else [f"the process ended with {code}: {log.read_text()[-300:]}"]


def _trial(name: str, home: Path, folder: Path, events: Sequence[Event], claims: Claims, wrong: list[str]) -> Trial:
    wrong += [f"in the process: {event.code}" for event in events if event.kind == "broke"]
    wrong += processes.answer_of(functools.partial(check.aftermath, home, claims, _AFTER), folder / "check.log")
    counts = [sum(event.kind == kind for event in events) for kind in ("done", "refused")]
    return Trial(name, counts[0], counts[1], wrong)
