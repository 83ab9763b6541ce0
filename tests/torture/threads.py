"""The same kills with the store's real threads: facts, appends and group fsyncs run beside each other.

Here the n-th call of a thread is not the same one in every run, so the kills are drawn at random; what they miss,
`inject` has met.
"""

import functools
import multiprocessing
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.torture import check, processes
from tests.torture.check import Claims
from tests.torture.inject import Result, Task, run
from tests.torture.scenes import Scene
from tests.torture.syscalls import Fault

_MOST_CALLS = {"write": 30, "fsync": 25, "link": 8, "rename": 8, "unlink": 12, "openat": 60, "close": 60, "mkdir": 6}
"""By name, about how many calls one thread makes in a round."""


def kills(scenes: Sequence[str], count: int, seed: int) -> list[Task]:
    """Kills at some call of some thread."""
    rng = random.Random(seed)
    names = list(_MOST_CALLS)
    chosen = [names[at % len(names)] for at in range(count)]
    return [
        Task(rng.choice(scenes), Fault(name, rng.randint(1, _MOST_CALLS[name]), "KILL"), "", "threads")
        for name in chosen
    ]


def kill_all(scenes: dict[str, Scene], found: Sequence[Task], folder: Path, workers: int) -> Iterator[Result]:
    """Do every kill; one whose call was never reached has not struck."""
    work = functools.partial(_kill, scenes, folder)
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        yield from pool.imap_unordered(work, found, chunksize=1)


def _kill(scenes: dict[str, Scene], folder: Path, task: Task) -> Result:
    own = folder / f"worker-{os.getpid()}"
    own.mkdir(exist_ok=True)
    scene = scenes[task.scene]
    try:
        done = run(scene, own, task.fault, together=True)
        wrong = [f"in the process: {event.code}" for event in done.events if event.kind == "broke"]
        claims = Claims.after_kill((*scene.events, *done.events))
        after = functools.partial(check.aftermath, own / "home", claims, scene.round + 1)
        return Result(task, done.code == -9, wrong + list(processes.answer_of(after, own / "check.log")))
    except (RuntimeError, TimeoutError) as error:
        return Result(task, True, [f"{type(error).__name__}: {error}"])
