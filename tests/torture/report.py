"""The figures of a run: a table for people, and `evals/results/torture.json` with commit and machine."""

import subprocess
from pathlib import Path

import msgspec

from bead_evals.bench.results import Machine, machine, now
from tests.torture.parts import Options, Tally

RESULTS = Path(__file__).parents[2] / "evals" / "results" / "torture.json"
_TESTED = ("services/bead_store", "shared", "tests/torture")


class Report(msgspec.Struct, frozen=True):
    """One run of the kit."""

    bench: str
    date: str
    commit: str | None
    is_dirty: bool
    """The store, what it stands on, or the kit differed from `commit`."""
    machine: Machine
    options: Options
    cases: int
    violated: int
    seconds: float
    parts: list[Tally]


def report(options: Options, tallies: list[Tally], load_before: float) -> Report:
    """The document of a run that has just ended."""
    commit, is_dirty = _commit()
    return Report(
        bench="torture",
        date=now(),
        commit=commit,
        is_dirty=is_dirty,
        machine=machine(load_before),
        options=options,
        cases=sum(tally.cases for tally in tallies),
        violated=sum(tally.violated for tally in tallies),
        seconds=round(sum(tally.seconds for tally in tallies), 1),
        parts=tallies,
    )


def save(document: Report, path: Path) -> None:
    """Keep it, readable in a diff."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")


def table(tallies: list[Tally]) -> str:
    """A line for each kind of each part, then the first violations."""
    rows = [f"{'part':10} {'kind':14} {'cases':>6}"]
    for tally in tallies:
        rows += [f"{tally.part:10} {kind:14} {count:6}" for kind, count in sorted(tally.by_kind.items())]
        more = "".join(f", {name.replace('_', ' ')} {count}" for name, count in tally.numbers.items())
        rows.append(
            f"{tally.part:10} {'all':14} {tally.cases:6}  violations {tally.violated}, missed {tally.missed},"
            f" {tally.seconds:g} s{more}"
        )
    for tally in tallies:
        for example in tally.examples[:10]:
            rows += [f"{tally.part}: {example.case}", *(f"    {line}" for line in example.violations[:3])]
    return "\n".join(rows)


def _commit() -> tuple[str | None, bool]:
    here = Path(__file__).parents[2]
    try:
        head = _git(here, "rev-parse", "HEAD")
        return head, bool(_git(here, "status", "--porcelain", "--", *_TESTED))
    except (OSError, subprocess.CalledProcessError):
        return None, False


def _git(folder: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()
