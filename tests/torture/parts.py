"""The parts of the kit, each run from its beginning to a tally: injection, threads, power cuts, refusing disks."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from tests.torture import broken, disk, inject, powercut, refusal, scenes, script, syscalls, threads
from tests.torture.inject import Task
from tests.torture.syscalls import SYNCS

MEMORY_DISK = Path("/dev/shm")
_MOST_EXAMPLES = 50
_RESTATED = (1, 2, 3, 4, 5, 6)
"""Which new files of a round are killed before their names are synced, see `powercut.restated`."""
_CRASHED_STATES = 20
_TOLD_EVERY_S = 5.0


class Options(msgspec.Struct, frozen=True):
    """How much of it."""

    seed: int = 1
    workers: int = 2
    injections: int = 1_000_000
    threads: int = 600
    states: int = 600
    is_whole: bool = True
    """Every refusing disk, not a few of them."""
    control: str = ""
    """A store that is wrong on purpose, see `broken`."""


class Example(msgspec.Struct, frozen=True):
    """A case that went wrong, precisely enough to do it again."""

    case: str
    violations: list[str]


class Tally(msgspec.Struct):
    """What a part found."""

    part: str
    cases: int = 0
    missed: int = 0
    """Faults whose call did not come; they count as nothing."""
    violated: int = 0
    """Cases with at least one violation."""
    by_kind: dict[str, int] = {}
    by_verb: dict[str, int] = {}
    examples: list[Example] = []
    numbers: dict[str, int] = {}
    """Whatever else is worth knowing."""
    seconds: float = 0.0

    def count(self, case: str, kind: str, verb: str, violations: list[str]) -> None:
        """Add one case."""
        self.cases += 1
        self.by_kind[kind] = self.by_kind.get(kind, 0) + 1
        self.by_verb[verb] = self.by_verb.get(verb, 0) + 1
        if violations:
            self.violated += 1
            if len(self.examples) < _MOST_EXAMPLES:
                self.examples.append(Example(case, [line[:300] for line in violations[:6]]))


T = TypeVar("T")
Progress = Callable[[str], None]
Part = Callable[[Options, Path, Progress], Tally]


def injection(options: Options, folder: Path, progress: Progress) -> Tally:
    """Every mutating call of every verb: killed, EIO, ENOSPC, torn. The pools must be inline."""
    syscalls.require_strace()
    tally = Tally("inject")
    inject.warm_up(folder)
    homes = scenes.build(folder)
    _apply_control(options)
    found = [
        task
        for scene in homes.values()
        for task in inject.tasks(scene, _made(folder / "plan"), may_complain=bool(options.control))
    ]
    tally.numbers["possible"] = len(found)
    chosen = inject.sample(_telling(found, options.control), options.injections, options.seed)
    for result in _told(inject.inject_all(homes, chosen, folder, options.workers), len(chosen), progress, tally):
        if result.was_hit:
            verb = _verb(result.task, homes[result.task.scene].round)
            tally.count(_case(result.task), result.task.kind, verb, result.violations)
        else:
            tally.missed += 1
    return tally


def real_threads(options: Options, folder: Path, progress: Progress) -> Tally:
    """Random kills with everything at the same time."""
    syscalls.require_strace()
    tally = Tally("threads")
    homes = scenes.build(folder)
    _apply_control(options)
    chosen = threads.kills(list(homes), options.threads, options.seed)
    for result in _told(threads.kill_all(homes, chosen, folder, options.workers), len(chosen), progress, tally):
        if result.was_hit:
            tally.count(_case(result.task), "KILL", result.task.fault.name, result.violations)
        else:
            tally.missed += 1
    return tally


def power_cuts(options: Options, folder: Path, progress: Progress) -> Tally:
    """States of a real ext4 after the power went away."""
    disk.require_tools()
    tally = Tally("power")
    _apply_control(options)
    recording = powercut.record(folder / "plain", (powercut.Round(1), powercut.Round(2)))
    operations = recording.operations
    tally.numbers["block_writes"] = sum(not operation.is_flush for operation in operations)
    tally.numbers["flushes"] = sum(operation.is_flush for operation in operations)
    chosen = powercut.states(recording, options.states, options.seed)
    _cut_all(recording, chosen, folder, options, progress, tally)
    return tally


def power_cuts_after_a_kill(options: Options, folder: Path, progress: Progress) -> Tally:
    """What a process finds of one that was killed before it, and answers for, must outlive the power, too."""
    disk.require_tools()
    syscalls.require_strace()
    tally = Tally("again")
    for kind, recording in _crashed_before(folder, options):
        chosen = powercut.last_states(recording, _CRASHED_STATES)
        _cut_all(recording, chosen, folder, options, progress, tally, kind)
    return tally


def _crashed_before(folder: Path, options: Options) -> Iterator[tuple[str, powercut.Recording]]:
    yield "repeated", powercut.repeated(folder / "repeated")
    for number in _RESTATED if options.is_whole else _RESTATED[:1]:
        yield "restated", powercut.restated(folder / f"restated-{number}", number)


def _cut_all(
    recording: powercut.Recording,
    chosen: list[powercut.State],
    folder: Path,
    options: Options,
    progress: Progress,
    tally: Tally,
    kind: str = "",
) -> None:
    for outcome in _told(powercut.cut_all(recording, chosen, folder, options.workers), len(chosen), progress, tally):
        state = outcome.state
        case = f"{kind or state.kind}: operation {state.at}, {len(state.kept)} of the writes since the last flush kept"
        tally.count(case, kind or state.kind, outcome.during, outcome.violations)


def refusing_disks(options: Options, folder: Path, progress: Progress) -> Tally:
    """Full disks, limits on files, and devices that fail."""
    disk.require_tools()
    tally = Tally("refusal")
    step_count = len(script.steps(1))
    few = slice(None, None, 1 if options.is_whole else 8)
    trials = {
        "tmpfs full": refusal.full_disks(folder, refusal.TINY_DISKS[few]),
        "RLIMIT_FSIZE": refusal.file_limits(folder, refusal.FILE_LIMITS[few]),
        "device EIO": refusal.failing_devices(folder, range(0, step_count - 1, 2 if options.is_whole else 13)),
    }
    for kind, found in trials.items():
        for trial in _told(found, 0, progress, tally):
            tally.count(trial.name, kind, kind, trial.violations)
            for name, count in (("acknowledged", trial.acknowledged), ("refused", trial.refused)):
                tally.numbers[name] = tally.numbers.get(name, 0) + count
    return tally


PARTS: dict[str, Part] = {
    "inject": injection,
    "threads": real_threads,
    "power": power_cuts,
    "again": power_cuts_after_a_kill,
    "refusal": refusing_disks,
}


def run_part(name: str, options: Options, progress: Progress) -> Tally:
    """One part in a folder of its own, which is gone afterwards."""
    started = time.monotonic()
    with _scratch() as folder:
        tally = PARTS[name](options, folder, progress)
    tally.seconds = round(time.monotonic() - started, 1)
    return tally


@contextmanager
def _scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="bead-torture-", dir=MEMORY_DISK if MEMORY_DISK.is_dir() else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


def _apply_control(options: Options) -> None:
    if options.control:
        broken.apply(options.control)


def _telling(found: list[Task], control: str) -> list[Task]:
    """For a control only the faults that can show it."""
    if control.startswith("sync-"):
        return [task for task in found if task.kind != "KILL" and task.fault.name in SYNCS]
    if control == "in-place":
        return [task for task in found if task.kind == "KILL" and task.fault.name == "write"]
    return found


def _told(results: Iterable[T], count: int, progress: Progress, tally: Tally) -> Iterator[T]:
    last = time.monotonic()
    for at, result in enumerate(results, 1):
        yield result
        if time.monotonic() - last >= _TOLD_EVERY_S:
            last = time.monotonic()
            of = f" of {count}" if count else ""
            progress(f"{tally.part}: {at}{of}, {tally.violated} with violations")


def _case(task: Task) -> str:
    torn = f", {task.torn:.0%} of the write before it kept" if task.torn is not None else ""
    return f"{task.scene}, {task.at}: {task.kind} at {task.fault.name} number {task.fault.number} {task.target}{torn}"


def _verb(task: Task, number: int) -> str:
    kind, _, step = task.at.partition(" ")
    if kind == "start":
        return "open"
    if kind in ("begin", "done") and step:
        return script.steps(number)[int(step)].verb
    return "close"
