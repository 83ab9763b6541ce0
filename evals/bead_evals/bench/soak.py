"""`bead bench soak`: conversations that go on for a while, then what was left behind: errors, memory, slowness.

Conversations grow turn by turn and begin anew when they are long, at a fixed rate of requests a second; one request in
eight goes straight to the upstream, so that what bead adds is told from the same minute. Then two large bodies show
what one request may hold in memory. Targets: no error, memory growth under 5 % after the first third, p99 added under
50 ms, peak memory at most three times the body plus 150 MB over what was there before it.
"""

import argparse
import asyncio
import gc
import json
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import aiohttp
import msgspec

from bead_evals.bench import results
from bead_evals.bench.bodies import conversation
from bead_evals.bench.embedded import bead
from bead_evals.bench.failures import BenchFailed
from bead_evals.bench.resources import peak_rss_mb, process_tree, reset_peak
from bead_evals.bench.stats import percentile
from bead_evals.bench.targets import Target, child_server
from bead_evals.bench.topics import TOPICS

SAVED = Path(__file__).parents[2] / "results" / "soak.json"
TURNS = 24
"""Most person's turns of a conversation."""
DIRECT_EVERY = 8
MOST_GROWTH = 0.05
MOST_ADDED_P99_MS = 50.0
BODY_SIZES = (6_000_000, 30_000_000)
_LIMIT_S = 30.0


class Soak(msgspec.Struct, frozen=True):
    """What one run has shown."""

    at: str
    commit: str | None
    is_dirty: bool
    machine: results.Machine
    seconds: float
    rate: float
    conversations: int
    requests: int
    errors: list[str]
    direct_p50_ms: float
    direct_p99_ms: float
    bead_p50_ms: float
    bead_p99_ms: float
    added_p99_ms: float
    """bead's p99 less the direct p99 of the same run."""
    rss_first_mb: float
    """After the first third."""
    rss_last_mb: float
    growth: float
    peaks: dict[str, float]
    """MB that one request of so many bytes added to the peak, by bytes."""

    def failures(self) -> list[str]:
        """The targets that were missed, in words."""
        found = [f"{len(self.errors)} errors, the first: {self.errors[0]}"] if self.errors else []
        if self.growth > MOST_GROWTH:
            found.append(f"memory grew by {self.growth:.1%}, {MOST_GROWTH:.0%} are allowed")
        if self.added_p99_ms > MOST_ADDED_P99_MS:
            found.append(f"p99 added is {self.added_p99_ms:.1f} ms, {MOST_ADDED_P99_MS:.0f} are allowed")
        for size, peak in self.peaks.items():
            most = 3 * int(size) / 1e6 + 150
            if peak > most:
                found.append(f"a body of {size} bytes took {peak:.0f} MB, {most:.0f} are allowed")
        return found


class Talk:
    """One conversation after the other, each under a session of its own."""

    def __init__(self, number: int, numbers: Iterator[int]) -> None:
        self._number = number
        self._numbers = numbers
        self._begin()

    def _begin(self) -> None:
        self.session = f"soak-{self._number}-{next(self._numbers)}"
        self._messages: list[dict[str, object]] = []

    def next_body(self) -> bytes:
        """The next request of the conversation."""
        if len(self._messages) >= 2 * TURNS - 1:
            self._begin()
        if self._messages:
            self._messages.append({"role": "assistant", "content": "Done; what is next?"})
        turn = len(self._messages) // 2
        prompt = f"{self.session}, step {turn}: {TOPICS[(self._number + turn) % len(TOPICS)].prompt}"
        self._messages.append({"role": "user", "content": [{"type": "text", "text": prompt}]})
        system = [{"type": "text", "text": "You are a coding agent. " * 200}]
        return json.dumps({"model": "m", "stream": True, "system": system, "messages": self._messages}).encode()


def main(argv: list[str]) -> int:
    """Run, print, save as asked. 0 all targets met, 1 one was missed, 3 a part did not start."""
    parser = argparse.ArgumentParser(prog="bead bench soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=50.0, help="requests a second (default 50)")
    parser.add_argument("--conversations", type=int, default=20)
    parser.add_argument("--facts", type=int, default=1_000)
    parser.add_argument("--save", action="store_true", help=f"keep the result in evals/results/{SAVED.name}")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    try:
        soak = _measure(args)
    except BenchFailed as failure:
        print(f"bead bench soak: {failure}", file=sys.stderr)
        return failure.exit_code
    if args.save:
        SAVED.write_bytes(msgspec.json.format(msgspec.json.encode(soak), indent=2) + b"\n")
    print(msgspec.json.encode(soak).decode() if args.json else _told(soak))
    return 1 if soak.failures() else 0


def _measure(args: argparse.Namespace) -> Soak:
    load_before = results.load_average()
    with (
        child_server("upstream", "--events", "5", "--spacing-ms", "0") as (url, _),
        bead(url, args.facts, lambda words: print(f"... {words}", file=sys.stderr) if words else None) as target,
    ):
        seen = asyncio.run(_soak(target, f"{url}/v1/messages", args))
        peaks = {str(size): asyncio.run(_peak(target, size)) for size in BODY_SIZES}
    commit, is_dirty = results.commit()
    direct, through = sorted(seen.direct_ms), sorted(seen.bead_ms)
    return Soak(
        at=results.now(),
        commit=commit,
        is_dirty=is_dirty,
        machine=results.machine(load_before),
        seconds=args.seconds,
        rate=args.rate,
        conversations=args.conversations,
        requests=len(direct) + len(through),
        errors=seen.errors[:20],
        direct_p50_ms=round(percentile(direct, 0.5), 2),
        direct_p99_ms=round(percentile(direct, 0.99), 2),
        bead_p50_ms=round(percentile(through, 0.5), 2),
        bead_p99_ms=round(percentile(through, 0.99), 2),
        added_p99_ms=round(percentile(through, 0.99) - percentile(direct, 0.99), 2),
        rss_first_mb=round(seen.rss_first_mb, 1),
        rss_last_mb=round(seen.rss_last_mb, 1),
        growth=round(seen.rss_last_mb / seen.rss_first_mb - 1, 4),
        peaks={size: round(peak, 1) for size, peak in peaks.items()},
    )


class _Seen:
    def __init__(self) -> None:
        self.direct_ms: list[float] = []
        self.bead_ms: list[float] = []
        self.errors: list[str] = []
        self.rss_first_mb = 0.0
        self.rss_last_mb = 0.0


async def _soak(target: Target, direct: str, args: argparse.Namespace) -> _Seen:
    seen, numbers = _Seen(), count()
    talks = [Talk(number, numbers) for number in range(args.conversations)]
    timeout = aiohttp.ClientTimeout(total=_LIMIT_S)
    gc.disable()  # ours must not be told as bead's
    async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=0)) as client:
        begins = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for number, talk in enumerate(talks):
                group.create_task(_keep_talking(client, target, direct, talk, seen, begins, number, args))
            group.create_task(_watch_memory(target, seen, args.seconds))
    gc.enable()
    if not seen.direct_ms or not seen.bead_ms:
        raise BenchFailed(f"nothing was answered: {seen.errors[:1]}")
    return seen


async def _keep_talking(
    client: aiohttp.ClientSession,
    target: Target,
    direct: str,
    talk: Talk,
    seen: _Seen,
    begins: float,
    number: int,
    args: argparse.Namespace,
) -> None:
    """One conversation: a request whenever its turn has come, late ones at once."""
    every_s = args.conversations / args.rate
    for step in count():
        due = begins + (step + number / args.conversations) * every_s
        if due > begins + args.seconds:
            return
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        url, into = (direct, seen.direct_ms) if (step + number) % DIRECT_EVERY == 0 else (target.url, seen.bead_ms)
        try:
            into.append(await _first_byte_ms(client, url, talk))
        except (aiohttp.ClientError, TimeoutError, BenchFailed) as error:
            seen.errors.append(str(error) if isinstance(error, BenchFailed) else type(error).__name__)


async def _first_byte_ms(client: aiohttp.ClientSession, url: str, talk: Talk) -> float:
    body = talk.next_body()
    headers = {"Content-Type": "application/json", "X-Bead-Session": talk.session}
    started = time.perf_counter()
    async with client.post(url, data=body, headers=headers) as answer:
        first = await answer.content.readany()
        took_ms = (time.perf_counter() - started) * 1_000
        rest = await answer.content.read()
    if answer.status != 200 or not (first + rest).rstrip().endswith(b'{"type":"message_stop"}'):
        raise BenchFailed(f"status {answer.status}, {len(first + rest)} bytes, not a whole answer")
    return took_ms


async def _watch_memory(target: Target, seen: _Seen, seconds: float) -> None:
    await asyncio.sleep(seconds / 3)
    seen.rss_first_mb = _rss_mb(target)
    await asyncio.sleep(seconds * 2 / 3)
    seen.rss_last_mb = _rss_mb(target)


async def _peak(target: Target, size: int) -> float:
    """MB that one request with a body of `size` bytes adds to the highest use."""
    assert target.pid is not None, "bead under test is a process of ours"
    [body] = conversation(size, 1, size).bodies
    before = _rss_mb(target)
    reset_peak(target.pid)
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_LIMIT_S)) as client,
        client.post(target.url, data=body, headers={"X-Bead-Session": f"peak-{size}"}) as answer,
    ):
        await answer.read()
    return (peak_rss_mb(target.pid) or 0.0) - before


def _rss_mb(target: Target) -> float:
    """What the whole process tree holds now."""
    assert target.pid is not None, "bead under test is a process of ours"
    total = 0
    for pid in process_tree(target.pid):
        status = Path(f"/proc/{pid}/status")
        for line in status.read_text().splitlines() if status.exists() else ():
            if line.startswith("VmRSS:"):
                total += int(line.split()[1])
    return total / 1024


def _told(soak: Soak) -> str:
    lines = [
        f"{soak.requests} requests of {soak.conversations} conversations in {soak.seconds:g} s,"
        f" {len(soak.errors)} errors",
        f"first byte: direct p50 {soak.direct_p50_ms} p99 {soak.direct_p99_ms} ms,"
        f" bead p50 {soak.bead_p50_ms} p99 {soak.bead_p99_ms} ms",
        f"memory: {soak.rss_first_mb} MB after a third, {soak.rss_last_mb} MB at the end ({soak.growth:+.1%})",
        *(f"a body of {int(size) / 1e6:g} MB added {peak} MB to the peak" for size, peak in soak.peaks.items()),
        *(f"missed: {failure}" for failure in soak.failures()),
    ]
    return "\n".join(lines)
