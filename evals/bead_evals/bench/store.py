"""`bead bench store`: bead's writes beside the bare system calls, its reading beside a YAML library's, and its start.

Both sides of a pair take turns in one run on one disk, so that a slow moment meets both; what counts is the ratio of
the medians. The bare sequences are the least that the same promise needs: see `bare`.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import uvloop

from bead_evals.bench import results, storecases
from bead_evals.bench.failures import BenchFailed
from bead_evals.bench.homes import build_home
from bead_evals.bench.storecases import Pair, Start, Work

RESULT_FILE = "evals/results/bench-store.json"
_BIG_FACTS, _BIG_RAW_BYTES = 100_000, 1_000_000_000

Say = Callable[[str], None]


class Report(msgspec.Struct, frozen=True):
    """One run."""

    bench: str
    date: str
    commit: str | None
    is_dirty: bool
    machine: results.Machine
    rounds: int
    pairs: list[Pair]
    starts: list[Start]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `bead bench store`."""
    parser.add_argument("--quick", action="store_true", help="few rounds and a small home: a smoke test")
    parser.add_argument("--rounds", type=int, help="writes of each kind (100; quick: 10)")
    parser.add_argument("--facts", type=int, help="facts in the home that is read (10000; quick: 500)")
    parser.add_argument("--big", action="store_true", help="also start on 100,000 facts and 1 GB of conversations")
    parser.add_argument("--dir", type=Path, metavar="DIR", help="measure on the disk that holds DIR (default: TMPDIR)")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON document")
    parser.add_argument(
        "--save", nargs="?", const=RESULT_FILE, type=Path, metavar="FILE", help=f"save it ({RESULT_FILE})"
    )


def main(argv: list[str]) -> int:
    """Measure, print, save. 0 done, also when a limit is missed; 1 refused, 2 usage."""
    parser = argparse.ArgumentParser(prog="bead bench store", description=__doc__)
    add_arguments(parser)
    return run(parser.parse_args(argv))


def run(args: argparse.Namespace) -> int:
    """`main` for arguments that are parsed already."""
    try:
        report = _measure(args, _say)
    except BenchFailed as failure:
        print(f"bead bench store: {failure}", file=sys.stderr)
        return failure.exit_code
    document = msgspec.json.format(msgspec.json.encode(report), indent=1)
    if args.save:
        Path(args.save).parent.mkdir(parents=True, exist_ok=True)
        Path(args.save).write_bytes(document + b"\n")
    print(document.decode() if args.json else table(report))
    return 0


def table(report: Report) -> str:
    """The report as text."""
    lines = [f"{'':<44}{'bead ms':>10}{'p95':>9}{'bare ms':>10}{'p95':>9}{'ratio':>8}  limit"]
    for pair in report.pairs:
        verdict = "" if pair.limit is None else f"{pair.limit:g}x {'holds' if pair.holds else 'MISSED'}"
        lines.append(
            f"{pair.name:<44}{pair.ours.p50_ms:>10.2f}{pair.ours.p95_ms:>9.2f}"
            f"{pair.bare.p50_ms:>10.2f}{pair.bare.p95_ms:>9.2f}{pair.ratio:>8.2f}  {verdict}"
        )
    lines.append("")
    lines += [_start_line(start) for start in report.starts]
    load = report.machine
    lines.append(f"{load.cpu}, {load.cores} cores, load {load.load_before:.1f} before and {load.load_after:.1f} after")
    return "\n".join(lines)


def _start_line(start: Start) -> str:
    return (
        f"start on {start.facts:,} facts and {start.raw_bytes / 1e6:,.0f} MB of conversations: {start.seconds:.2f} s;"
        f" CPU {start.own_cpu_s:.2f} s, in children {start.children_cpu_s:.2f} s; longest silence of the loop"
        f" {start.longest_stall_ms:.0f} ms (idle {start.idle_stall_ms:.0f}); {start.bytes_per_fact:,.0f} bytes a fact"
    )


def _measure(args: argparse.Namespace, say: Say) -> Report:
    load_before = results.load_average()
    rounds = args.rounds or (10 if args.quick else 100)
    facts = args.facts or (500 if args.quick else 10_000)
    if rounds < 1 or facts < 1:
        raise BenchFailed("there must be at least one round and one fact", 2)
    with _workspace(args.dir) as work:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:  # as `bead up` and `bead serve` do
            pairs = runner.run(storecases.write_pairs(work, rounds, say))
        say(f"building a home of {facts:,} facts")
        home = build_home(work.path / "home", facts)
        say("reading it")
        pairs += storecases.read_pairs(home, facts)
        starts = [asyncio.run(storecases.start(home, facts, 0))]
        if args.big:
            say("building a home of 100,000 facts and 1 GB")
            big = build_home(work.path / "big", _BIG_FACTS, _BIG_RAW_BYTES)
            starts.append(asyncio.run(storecases.start(big, _BIG_FACTS, _BIG_RAW_BYTES)))
    commit, is_dirty = results.commit()
    machine = results.machine(load_before)
    return Report("store", results.now(), commit, is_dirty, machine, rounds, pairs, starts)


@contextmanager
def _workspace(place: Path | None) -> Iterator[Work]:
    if place is not None and not place.is_dir():
        raise BenchFailed(f"{place} is not a folder", 2)
    path = Path(tempfile.mkdtemp(prefix="bead-bench-", dir=place))
    try:
        yield Work(path)
    finally:
        shutil.rmtree(path)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
