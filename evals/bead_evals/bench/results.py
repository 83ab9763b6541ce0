"""The result document of a bench: what is saved, printed with `--json`, and turned into tables."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import msgspec


class TargetResult(msgspec.Struct, frozen=True):
    """One target at one body size. Times in milliseconds, unrounded; None where nothing could be measured."""

    name: str
    requests: int
    ttfb_p50: float
    """From the first byte sent to the arrival of the first event."""
    ttfb_p95: float
    added_p50: float
    """Median over the rounds of (this target's median minus direct's median of the same round)."""
    added_p95: float
    """95th percentile of the samples, each against direct's median of its round."""
    ratio: float | None
    """`added_p50` divided by the bare passthrough's."""
    ratio_low: float | None
    ratio_high: float | None
    """95 % bootstrap interval over rounds; None below five rounds, and for direct and bare, which are 0 and 1."""
    opening_p50: float
    """`ttfb_p50` of opening requests alone: a conversation that the target has never seen, on a fresh connection."""
    cpu_ms: float | None
    """CPU of the process tree per request, while its own requests ran and in the short pause behind them."""
    cpu_all_ms: float | None
    """CPU of the process tree over the whole size, other targets' turns included, per request: with deferred work."""
    transit_p50: float | None
    """An event's way from the upstream's write to the client; direct has a way as well."""
    peak_mb: float | None
    inserted_bytes_p50: float | None
    memory_blocks: dict[str, int]
    """How many requests reached the upstream with so many memory blocks; the key is the number."""
    round_medians: list[float]
    """`ttfb` median of each round, so that anybody can compute again."""


class SizeResult(msgspec.Struct, frozen=True):
    """All targets at one body size."""

    size_bytes: int
    targets: list[TargetResult]


class Machine(msgspec.Struct, frozen=True):
    """Where it was measured."""

    cpu: str
    cores: int
    kernel: str
    python: str
    load_before: float
    load_after: float


class Settings(msgspec.Struct, frozen=True):
    """What was asked for."""

    rounds: int
    warmup: int
    turns: int
    lanes: int
    events: int
    spacing_ms: float
    facts: int


class Report(msgspec.Struct, frozen=True):
    """One run of `bead bench proxy`."""

    bench: str
    date: str
    commit: str | None
    is_dirty: bool
    """The working tree differed from `commit`, the files aside that a bench itself writes."""
    machine: Machine
    settings: Settings
    sizes: list[SizeResult]


def size_label(size_bytes: int) -> str:
    """`30 KB`, `1.5 MB`: decimal units, no digit more than needed."""
    return f"{size_bytes / 1e6:g} MB" if size_bytes >= 1_000_000 else f"{size_bytes / 1e3:g} KB"


def now() -> str:
    """The current time, to the second, as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def load_average() -> float:
    """Runnable processes over the last minute."""
    return os.getloadavg()[0]


def machine(load_before: float) -> Machine:
    """This machine; `load_before` was read before the bench began."""
    return Machine(
        cpu=_cpu_model(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        kernel=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        load_before=load_before,
        load_after=load_average(),
    )


def commit() -> tuple[str | None, bool]:
    """The commit of this source tree and whether files differ from it; (None, False) outside a repository."""
    here = Path(__file__).parent
    try:
        head = _git(here, "rev-parse", "HEAD")
        return head, bool(_git(here, "status", "--porcelain", "--", ":/", ":/!evals/results", ":/!README.md"))
    except (OSError, subprocess.CalledProcessError):
        return None, False


def _git(folder: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
