"""The things a bench sends requests to, each a process of its own, and the process that sends them.

Starting bead itself is `embedded`; what the numbers mean is `stats`. Another proxy becomes a
peer by yielding a `Target`.
"""

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec

from bead_evals.bench.client import Sample, Slice, SliceAnswer
from bead_evals.bench.failures import BenchFailed

START_LIMIT_S = 20.0
STOP_LIMIT_S = 10.0
MESSAGES_PATH = "/v1/messages?beta=true"

MALLOC_TUNING = {
    "MALLOC_MMAP_THRESHOLD_": "268435456",
    "MALLOC_TRIM_THRESHOLD_": "536870912",
    "MALLOC_ARENA_MAX": "2",
}
"""glibc keeps large buffers instead of returning and faulting them in again. The bare passthrough always gets it, so
the measure is the stronger one; bead under test gets only what it sets up itself."""


@dataclass(frozen=True)
class Target:
    """Where the requests of one row go. The names `direct` and `bare` are the zero and the unit of a run."""

    name: str
    url: str
    """The whole URL of the Messages route. May hold a capability: never printed, never saved."""
    pid: int | None = None
    """Root of the process tree whose CPU and memory are the target's."""
    injects_memory: bool = False
    keeps_bytes: bool = True
    """The upstream must receive exactly what was sent (with memory: more than that)."""


@contextmanager
def child_server(module: str, *args: str, environment: Mapping[str, str] | None = None) -> Iterator[tuple[str, int]]:
    """Run one of the bench's own servers; yields its base URL and its process id, and ends it afterwards.

    Raises BenchFailed when it does not tell its port within `START_LIMIT_S`.
    """
    env = {**environment_without("MALLOC_"), **MALLOC_TUNING, **(environment or {})}
    command = [sys.executable, "-m", f"bead_evals.bench.{module}", *args]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
    assert process.stdin and process.stdout
    try:
        ready, _, _ = select.select([process.stdout], [], [], START_LIMIT_S)
        line = process.stdout.readline() if ready else b""
        if not line:
            raise BenchFailed(f"the bench's own {module} did not start within {START_LIMIT_S:.0f} s", exit_code=3)
        yield f"http://127.0.0.1:{json.loads(line)['port']}", process.pid
    finally:
        process.stdin.close()
        stop(process)
        process.stdout.close()


class LoadClient:
    """The sending process. One slice at a time."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def run(self, target: Target, task: Slice) -> list[Sample]:
        """The samples of one slice. Raises BenchFailed with the target's name when a request fails."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(msgspec.json.encode(task) + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise BenchFailed("the load client ended before the bench did", exit_code=3)
        answer = msgspec.json.decode(line, type=SliceAnswer)
        if answer.error is not None:
            raise BenchFailed(f"{target.name}: {answer.error} (body of {task.size_bytes} bytes)")
        return answer.samples


@contextmanager
def load_client() -> Iterator[LoadClient]:
    """The load client as a process, ended afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bead_evals.bench.client"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**environment_without("MALLOC_"), **MALLOC_TUNING},
    )
    assert process.stdin and process.stdout
    try:
        yield LoadClient(process)
    finally:
        process.stdin.close()
        stop(process)
        process.stdout.close()


def stop(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process that was asked to end; end it by force after `STOP_LIMIT_S`."""
    try:
        process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def environment_without(*prefixes: str) -> dict[str, str]:
    """Our environment without the variables that begin with one of `prefixes`."""
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
