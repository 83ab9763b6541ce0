"""Injection: the process is killed at, or gets an error from, each call that changes its home; then all must hold.

Needs `inline.install` before the store is imported: only then is the n-th call of a name the same call in every run.
"""

import asyncio
import functools
import gc
import itertools
import multiprocessing
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.torture import check, processes, script, syscalls
from tests.torture.check import Claims
from tests.torture.events import Event, from_lines, to_line
from tests.torture.scenes import Scene
from tests.torture.script import Append, Commit, MarkFact, Step
from tests.torture.syscalls import SYNCS, Call, Fault
from tests.torture.workload import run_round

ERRORS = ("EIO", "ENOSPC")
TORN_AT = (0.0, 0.5, 0.999)
"""How much of an append has reached the file when the process is killed in the middle of its write."""
_ATTEMPTS = 3
"""A run that made other calls before the fault than the one that was planned with is done again."""
_AFTER_FAILED_SYNC = frozenset({"close", "unlink", "unlinkat"})


class Task(NamedTuple):
    """One injection: a scene, a fault, and where it must strike."""

    scene: str
    fault: Fault
    target: str
    at: str
    torn: float | None = None
    """Part of the write before the fatal call that is there afterwards; None: all of it."""

    @property
    def kind(self) -> str:
        """For the table."""
        return "TORN" if self.torn is not None else self.fault.kind


class Result(NamedTuple):
    """What an injection showed."""

    task: Task
    was_hit: bool
    violations: list[str]


class Run(NamedTuple):
    """One traced run of the workload."""

    events: tuple[Event, ...]
    calls: list[Call]
    code: int
    was_injected: bool


def warm_up(folder: Path) -> None:
    """Everything that is imported or made once happens here, not in the children."""
    asyncio.run(run_round(folder / "warm", 1, lambda event: None, 0))
    shutil.rmtree(folder / "warm")
    gc.collect()
    gc.freeze()


def run(scene: Scene, folder: Path, fault: Fault | None, *, together: bool = False) -> Run:
    """A round on the scene's home at `folder/home`, with `fault` in it."""
    home, trace, log = folder / "home", folder / "trace", folder / "log"
    scene.set_up(home)
    log.unlink(missing_ok=True)

    def work(tell: Callable[[bytes], None]) -> None:
        asyncio.run(run_round(home, scene.round, lambda event: tell(to_line(event)), 0, together=together))

    child = processes.Child(work, log)
    # What watches the home for a person's edits has threads of its own; they change nothing and are not counted.
    strace = syscalls.attach(child.pid, trace, fault, follow=together)
    child.start()
    ended = child.listen()
    strace.communicate()
    events = tuple(from_lines(ended.told))
    return Run(events, syscalls.read_calls(trace, home), ended.code, syscalls.was_injected(trace))


def tasks(scene: Scene, folder: Path, *, may_complain: bool = False) -> list[Task]:
    """Every injection that the scene's round offers; `may_complain` for stores that are wrong on purpose.

    Raises:
        RuntimeError: the round fails without any fault, or makes other calls in every run.
    """
    calls = _calls_of_every_run(scene, folder, may_complain)
    idle = [step.verb for at, step in enumerate(script.steps(scene.round)) if not _changes_the_home(calls, at, step)]
    if idle:
        raise RuntimeError(
            f"no call of {', '.join(idle)} was seen; does another thread make them? see tests.torture.inline"
        )
    return [*_simple(scene, calls), *_torn(scene, calls)]


def _changes_the_home(calls: Sequence[Call], at: int, step: Step) -> bool:
    """Whether the step made a mutating call, as each kind that always must has."""
    if not isinstance(step, Append | MarkFact | Commit) or step.verb == "repeat":
        return True
    return any(call.is_mutating and call.at == f"begin {at}" for call in calls)


def _calls_of_every_run(scene: Scene, folder: Path, may_complain: bool) -> list[Call]:
    before: list[Call] = []
    for _ in range(_ATTEMPTS + 1):
        done = run(scene, folder, None)
        complaints = check.complaints(done.events)
        if (complaints and not may_complain) or done.code:
            raise RuntimeError(f"the {scene.name} round fails without a fault: {complaints or done.code}")
        if _names(done.calls) == _names(before):
            return done.calls
        before = done.calls
    raise RuntimeError(f"the {scene.name} round makes other calls each time; nothing could be injected in order")


def sample(found: Sequence[Task], limit: int, seed: int) -> list[Task]:
    """At most `limit` of the tasks, drawn evenly from every kind of fault at every kind of call."""
    groups: dict[tuple[str, str, str], list[Task]] = {}
    for task in found:
        groups.setdefault((task.kind, task.fault.name, task.scene), []).append(task)
    rng = random.Random(seed)
    for group in groups.values():
        rng.shuffle(group)
    ordered = [task for row in _rows(list(groups.values())) for task in row]
    return ordered[:limit]


def inject_all(scenes: dict[str, Scene], found: Iterable[Task], folder: Path, workers: int) -> Iterator[Result]:
    """Do every task, `workers` at a time; results come as they are ready."""
    work = functools.partial(_inject, scenes, folder)
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        yield from pool.imap_unordered(work, found, chunksize=1)


def _inject(scenes: dict[str, Scene], folder: Path, task: Task) -> Result:
    own = folder / f"worker-{os.getpid()}"
    own.mkdir(exist_ok=True)
    try:
        return inject(scenes[task.scene], task, own)
    except (RuntimeError, TimeoutError) as error:
        return Result(task, True, [f"{type(error).__name__}: {error}"])


def inject(scene: Scene, task: Task, folder: Path) -> Result:
    """One injection, and everything it left wrong."""
    for _ in range(_ATTEMPTS):
        done = run(scene, folder, task.fault)
        struck = next((call for call in done.calls if (call.name, call.number) == task.fault[:2]), None)
        if done.was_injected and struck is not None and struck.target == task.target:
            return Result(task, True, _judged(scene, task, folder, done, struck))
    return Result(task, False, [])


def _judged(scene: Scene, task: Task, folder: Path, done: Run, struck: Call) -> list[str]:
    home = folder / "home"
    if task.torn is not None:
        _tear(home, done.calls[done.calls.index(struck) - 1], task.torn)
    wrong = [f"in the process: {event.code}" for event in done.events if event.kind == "broke"]
    wrong += _unclean_end(task, done)
    if task.fault.kind != "KILL" and task.fault.name in SYNCS:
        wrong += after_failed_sync(done, struck)
    claims = Claims.after_kill((*scene.events, *done.events))
    after: Callable[[], list[str]] = functools.partial(check.aftermath, home, claims, scene.round + 1)
    return wrong + list(processes.answer_of(after, folder / "check.log"))


def after_failed_sync(done: Run, struck: Call) -> list[str]:
    """A failed fsync is never acknowledged, never tried again, the last thing written, and shown in health."""
    wrong: list[str] = []
    at = done.calls.index(struck)
    for call in done.calls[at + 1 :]:
        is_again = call.name in SYNCS and call.target == struck.target
        if is_again or (call.is_mutating and call.name not in _AFTER_FAILED_SYNC | SYNCS):
            wrong.append(f"after a failed fsync of {struck.target}: {call.name} of {call.target}")
    kind, _, step = struck.at.partition(" ")
    mine = [event for event in done.events if kind == "begin" and str(event.step) == step and event.kind == "done"]
    if mine and _is_of_a_fact(struck.target) and not _was_durable_before(done.calls, at):
        wrong.append(f"ACKNOWLEDGED although the fsync of {struck.target} failed")
    health = next((event for event in done.events if event.kind == "health"), None)
    was_asked_before = kind == "health"
    if health is not None and not was_asked_before and (health.ready or not health.degraded):
        wrong.append("health does not show the failed fsync")
    return wrong


def _is_of_a_fact(target: str) -> bool:
    """Of something that is promised at once, not by the group fsync."""
    return target.startswith(("store/facts", "store/queue", "store/.tmp", "store/projects")) or target == "store"


def _was_durable_before(calls: Sequence[Call], at: int) -> bool:
    """The step's new file had its name, and that was synced, before the call `at`: a mark on the old one failed."""
    linked = False
    for call in calls[:at]:
        if call.at != calls[at].at:
            continue
        if call.name in ("link", "linkat"):
            linked = True
        elif linked and call.name in SYNCS and ".tmp" not in call.target:
            return True
    return False


def _unclean_end(task: Task, done: Run) -> list[str]:
    """A killed process must be dead; any other must have come to its end by itself."""
    if task.fault.kind == "KILL":
        return [] if done.code == -9 else [f"the process ended with {done.code}, not by the kill"]
    return [] if done.code == 0 and done.events[-1].kind == "closed" else [f"the process ended with {done.code}"]


def _simple(scene: Scene, calls: Sequence[Call]) -> Iterator[Task]:
    for call in calls:
        # Letting go of the lock changes nothing that is kept.
        strikes_home = call.is_mutating and (call.name, call.target) != ("close", ".lock")
        if strikes_home or call.is_told:
            yield Task(scene.name, Fault(call.name, call.number, "KILL"), call.target, call.at)
        if strikes_home:
            for error in ERRORS:
                yield Task(scene.name, Fault(call.name, call.number, error), call.target, call.at)


def _torn(scene: Scene, calls: Sequence[Call]) -> Iterator[Task]:
    """Killed in the middle of an append: at the call after its write, and the file cut as far as it was not written."""
    for call, following in itertools.pairwise(calls):
        if call.length and _is_appended(call.target):
            for part in TORN_AT:
                fault = Fault(following.name, following.number, "KILL")
                yield Task(scene.name, fault, following.target, call.at, part)


def _is_appended(target: str) -> bool:
    return target.startswith(("store/raw", "sessions")) or target.endswith(".log")


def _tear(home: Path, write: Call, part: float) -> None:
    path = home / write.target
    missing = max(1, round(write.length * (1 - part)))
    os.truncate(path, path.stat().st_size - missing)


def _names(calls: Sequence[Call]) -> list[tuple[str, str]]:
    return [(call.name, call.target) for call in calls]


def _rows(groups: Sequence[Sequence[Task]]) -> Iterator[list[Task]]:
    for at in range(max(map(len, groups), default=0)):
        yield [group[at] for group in groups if at < len(group)]


def by_kind(results: Iterable[Result]) -> Counter[str]:
    """How many injections of each kind struck."""
    return Counter(result.task.kind for result in results if result.was_hit)
