"""`bead bench recall`: how long choosing memories takes, beside raw FTS5 and beside the mere look-ups in a dictionary.

Facts, questions and home are made up; flushes to the disk are skipped, so only the writing of a fact would be slower
than told here. Numbers are compared within one run, in which all take turns. Measuring is `recalling`.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bead_evals.bench import excerpting, results
from bead_evals.bench.excerpting import ExcerptResult
from bead_evals.bench.failures import BenchFailed
from bead_evals.bench.recalling import SizeResult, Times, measure
from bead_evals.bench.results import Machine

SIZES = (1_000, 10_000)
QUICK_SIZES = (500,)
CHUNKS = (10_000, 100_000)
QUICK_CHUNKS = (500,)
RESULT_FILE = "evals/results/bench-recall.json"


class Report(msgspec.Struct, frozen=True):
    """One run of `bead bench recall`."""

    bench: str
    date: str
    commit: str | None
    is_dirty: bool
    machine: Machine
    requests: int
    writes: int
    sizes: list[SizeResult]
    excerpts: list[ExcerptResult] = []


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `bead bench recall`."""
    parser.add_argument("--quick", action="store_true", help="few facts and questions: a smoke test, no measurement")
    parser.add_argument("--facts", type=_sizes, metavar="N,…", help="facts in the store (1000,10000; quick: 500)")
    parser.add_argument(
        "--chunks", type=_sizes, metavar="N,…", help="chunks of past conversations (10000,100000; quick: 500)"
    )
    parser.add_argument("--json", action="store_true", help="print the result as one JSON document")
    parser.add_argument(
        "--save", nargs="?", const=RESULT_FILE, type=Path, metavar="FILE", help=f"save it ({RESULT_FILE})"
    )


def main(argv: list[str]) -> int:
    """Measure, print and save as asked. 0 done, 1 refused, 2 usage, 3 a part did not start."""
    parser = argparse.ArgumentParser(prog="bead bench recall", description=__doc__)
    add_arguments(parser)
    args = parser.parse_args(argv)
    try:
        _publish(_measured(args), args)
    except BenchFailed as failure:
        print(f"bead bench recall: {failure}", file=sys.stderr)
        return failure.exit_code
    return 0


def _measured(args: argparse.Namespace) -> Report:
    load_before = results.load_average()
    requests, writes = (20, 5) if args.quick else (300, 50)
    sizes: Sequence[int] = args.facts or (QUICK_SIZES if args.quick else SIZES)
    measured = [asyncio.run(measure(facts, requests, writes)) for facts in sizes]
    chunks: Sequence[int] = args.chunks or (QUICK_CHUNKS if args.quick else CHUNKS)
    excerpts = [asyncio.run(excerpting.measure(count, requests)) for count in chunks]
    commit, is_dirty = results.commit()
    machine = results.machine(load_before)
    return Report("recall", results.now(), commit, is_dirty, machine, requests, writes, measured, excerpts)


def _publish(report: Report, args: argparse.Namespace) -> None:
    document = msgspec.json.format(msgspec.json.encode(report), indent=2)
    if args.save:
        try:
            args.save.parent.mkdir(parents=True, exist_ok=True)
            args.save.write_bytes(document + b"\n")
        except OSError as exc:
            raise BenchFailed(f"{args.save}: {exc}") from exc
    print(document.decode() if args.json else terminal(report))


def terminal(report: Report) -> str:
    """The result as a table; times in milliseconds."""
    lines = [f"{'':<44}{'p50 ms':>10}{'p95 ms':>10}{'÷ FTS5':>10}"]
    for size in report.sizes:
        lines.append(f"{size.facts} facts, {size.visible} of them visible, {size.terms} terms in a question")
        lines += [_row(name, times, size.fts5_rank) for name, times in _recalls(size)]
        lines += [_row(name, times, size.fts5_write) for name, times in _writes(size)]
    for each in report.excerpts:
        lines += _excerpt_rows(each)
    machine = report.machine
    lines.append(
        f"{machine.cpu}, {machine.cores} cores, Python {machine.python}, load {machine.load_before:.1f} before and "
        f"{machine.load_after:.1f} after; {report.requests} questions, {report.writes} writes, no flushes to the disk"
    )
    return "\n".join(lines)


def _recalls(size: SizeResult) -> list[tuple[str, Times]]:
    return [
        ("recall", size.recall),
        ("FTS5 on the visible facts, ORDER BY rank", size.fts5_rank),
        ("FTS5 on the visible facts, ORDER BY s", size.fts5_score),
        ("floor: the terms looked up in a dict", size.floor),
    ]


def _writes(size: SizeResult) -> list[tuple[str, Times]]:
    return [("a fact written until it is searched", size.write), ("FTS5 insert and commit", size.fts5_write)]


def _excerpt_rows(result: ExcerptResult) -> list[str]:
    raw = Times(result.fts5_p50, result.fts5_p95)
    return [
        f"{result.chunks} chunks, {result.in_scope} of them in the project, {result.terms} terms in a question",
        _row("excerpts for one request", Times(result.recall_p50, result.recall_p95), raw),
        _row("FTS5 on all chunks", raw, raw),
        _row("floor: the terms looked up in a dict", Times(result.floor_p50, result.floor_p95), raw),
        f"  {result.kept:.2f} of the exact best five are candidates; the project is read in {result.start_s:.2f} s"
        f" and takes {result.memory_mb:.0f} MB",
    ]


def _row(name: str, times: Times, base: Times) -> str:
    return f"  {name:<42}{times.p50_ms:>10.3f}{times.p95_ms:>10.3f}{times.p50_ms / base.p50_ms:>10.3f}"


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers like 1000,10000") from None
    if min(sizes) < 10:
        raise argparse.ArgumentTypeError("at least 10 facts are needed")
    return sizes
