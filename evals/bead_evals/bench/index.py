"""`bead bench index`: how long a new index takes, and how long the process that answers models stands still meanwhile.

Facts and home are made up; flushes to the disk are skipped. The real store and the real index share one event loop,
as under `bead up`, and a task that wants to wake every millisecond tells how late it was.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import msgspec

from bead.bus.transport import InProcessTransport
from bead.clients.index import IndexClient
from bead.clients.store import StoreClient
from bead.home import Home
from bead.settings import IndexSettings, StoreSettings
from bead_evals.bench import results
from bead_evals.bench.failures import BenchFailed
from bead_evals.bench.recalling import Words, made_facts, ready, without_flushes, write_all
from bead_evals.bench.results import Machine
from bead_index.app import create_service as index_service
from bead_store.app import create_service as store_service
from bead_store.home import prepare

SIZES = (5_000,)
QUICK_SIZES = (300,)
RESULT_FILE = "evals/results/bench-index.json"
_TICK_S = 0.001


class RebuildResult(msgspec.Struct, frozen=True):
    """One number of facts; a stall is how much later than asked the loop woke."""

    facts: int
    start_s: float
    start_stall_ms: float
    rebuild_s: float
    rebuild_stall_ms: float
    stall_p99_ms: float


class Report(msgspec.Struct, frozen=True):
    """One run of `bead bench index`."""

    bench: str
    date: str
    commit: str | None
    is_dirty: bool
    machine: Machine
    sizes: list[RebuildResult]


def main(argv: list[str]) -> int:
    """Measure, print and save as asked. 0 done, 1 refused, 2 usage, 3 a part did not start."""
    parser = argparse.ArgumentParser(prog="bead bench index", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few facts: a smoke test, no measurement")
    parser.add_argument("--facts", type=int, nargs="+", metavar="N", help="facts in the store (5000; quick: 300)")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON document")
    parser.add_argument(
        "--save", nargs="?", const=RESULT_FILE, type=Path, metavar="FILE", help=f"save it ({RESULT_FILE})"
    )
    args = parser.parse_args(argv)
    try:
        _publish(_measured(args.facts or (QUICK_SIZES if args.quick else SIZES)), args)
    except BenchFailed as failure:
        print(f"bead bench index: {failure}", file=sys.stderr)
        return failure.exit_code
    return 0


def _measured(sizes: tuple[int, ...]) -> Report:
    load_before = results.load_average()
    measured = [asyncio.run(measure(facts)) for facts in sizes]
    commit, is_dirty = results.commit()
    return Report("index", results.now(), commit, is_dirty, results.machine(load_before), measured)


async def measure(facts: int) -> RebuildResult:
    """A first start and a rebuild at one number of facts.

    Raises:
        BenchFailed: the index did not become ready.
    """
    with tempfile.TemporaryDirectory(prefix="bead-bench-") as folder, without_flushes():
        home = Home(Path(folder))
        prepared = prepare(home)
        store = store_service(StoreSettings(), home, "me")
        client = StoreClient(InProcessTransport("store", store.app))
        async with store.running():
            await write_all(client, list(made_facts(facts, Words(Random(facts)))))
            index = index_service(IndexSettings(), home, client, prepared.home_id)
            searching = IndexClient(InProcessTransport("index", index.app))
            async with _lateness() as start:
                began = time.perf_counter()
                async with index.running():
                    await ready(client, searching)
                    start_s, start_stall = time.perf_counter() - began, max(start)
                    async with _lateness() as late:
                        began = time.perf_counter()
                        await searching.rebuild()
                        rebuild_s = time.perf_counter() - began
    late.sort()
    return RebuildResult(
        facts, round(start_s, 2), round(start_stall, 1), round(rebuild_s, 2), round(late[-1], 1),
        round(late[int(0.99 * (len(late) - 1))], 1),
    )  # fmt: skip


@asynccontextmanager
async def _lateness() -> AsyncIterator[list[float]]:
    """Milliseconds by which the loop woke too late, as long as the block runs."""
    late: list[float] = [0.0]

    async def tick() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(_TICK_S)
            late.append((time.perf_counter() - began - _TICK_S) * 1_000)

    async with asyncio.TaskGroup() as group:
        ticking = group.create_task(tick())
        await asyncio.sleep(0)
        yield late
        ticking.cancel()


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
    """The result as a table."""
    lines = [f"{'facts':>10}{'start s':>10}{'stall ms':>10}{'rebuild s':>11}{'stall ms':>10}{'p99 ms':>9}"]
    lines += [
        f"{each.facts:>10}{each.start_s:>10.2f}{each.start_stall_ms:>10.1f}{each.rebuild_s:>11.2f}"
        f"{each.rebuild_stall_ms:>10.1f}{each.stall_p99_ms:>9.1f}"
        for each in report.sizes
    ]
    machine = report.machine
    lines.append(
        f"{machine.cpu}, {machine.cores} cores, Python {machine.python}, load {machine.load_before:.1f} before and "
        f"{machine.load_after:.1f} after; no flushes to the disk"
    )
    return "\n".join(lines)
