"""The round-robin: targets take turns at one body size, and their samples become a `SizeResult`.

Who the targets are is `targets` and `embedded`; the arithmetic is `stats`.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import median

from bead_evals.bench import resources, stats
from bead_evals.bench.client import Sample, Slice
from bead_evals.bench.failures import BenchFailed
from bead_evals.bench.results import Settings, SizeResult, TargetResult, size_label
from bead_evals.bench.targets import LoadClient, Target

DIRECT, BARE = "direct", "bare"

SETTLE_S = 0.1
"""Pause behind each slice: work that a target puts off (fsync, indexing) must not run in its neighbour's time."""


class Nonces:
    """Numbers for conversations that nobody has seen; one run never repeats one."""

    def __init__(self, first: int) -> None:
        self._next = first

    def take(self, count: int) -> int:
        """The first of `count` unused numbers."""
        self._next += count
        return self._next - count


@dataclass
class Record:
    """What one target showed at one size."""

    target: Target
    rounds: list[list[Sample]] = field(default_factory=list)
    cpu_ms: float = 0.0
    cpu_before: float | None = None
    cpu_all_ms: float | None = None
    peak_mb: float | None = None


def measure_size(
    client: LoadClient,
    targets: Sequence[Target],
    size_bytes: int,
    settings: Settings,
    nonces: Nonces,
    say: Callable[[str], None],
) -> SizeResult:
    """Warm up, then measure `settings.rounds` rounds of every target.

    Raises BenchFailed when a request fails, when the upstream did not receive the bytes that it should, or when a
    request that should carry memory arrived without.
    """
    records = [Record(target) for target in targets]
    for number in range(settings.warmup):
        say(f"{size_label(size_bytes)}: warm-up {number + 1} of {settings.warmup}")
        for record in _in_turn(records, number):
            _slice(client, record.target, size_bytes, settings, nonces)
    for record in records:
        _start_accounts(record)
    for number in range(settings.rounds):
        say(f"{size_label(size_bytes)}: round {number + 1} of {settings.rounds}")
        for record in _in_turn(records, number):
            _measured_slice(client, record, size_bytes, settings, nonces)
    for record in records:
        _close_accounts(record)
        check_bytes(record.target, [sample for samples in record.rounds for sample in samples])
    return SizeResult(size_bytes, summarise(records))


def prove_injection(client: LoadClient, target: Target, size_bytes: int, nonces: Nonces, limit_s: float) -> None:
    """Send new conversations until one reaches the upstream with memory. Raises BenchFailed after `limit_s`."""
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        samples = client.run(target, Slice(target.url, size_bytes, 1, 1, nonces.take(1)))
        if all(sample.memory_blocks for sample in samples):
            return
        time.sleep(SETTLE_S)
    raise BenchFailed(
        f"{target.name}: no <bead-memory reached the upstream within {limit_s:.0f} s; this measures nothing"
    )


def check_bytes(target: Target, samples: Sequence[Sample]) -> None:
    """Hold a target to its promise. Raises BenchFailed when bytes or memory did not arrive as they should."""
    without = sum(1 for sample in samples if not sample.memory_blocks)
    if target.injects_memory and without:
        raise BenchFailed(f"{target.name}: {without} of {len(samples)} requests reached the upstream without memory")
    if not target.injects_memory and without < len(samples):
        raise BenchFailed(f"{target.name}: {len(samples) - without} requests reached the upstream with memory in them")
    if not target.keeps_bytes:
        return
    for sample in samples:
        added = -1 if sample.received_bytes is None else sample.received_bytes - sample.sent_bytes
        if not (added > 0 if target.injects_memory else added == 0):
            raise BenchFailed(
                f"{target.name}: sent {sample.sent_bytes} bytes, the upstream reports {sample.received_bytes}"
            )


def summarise(records: Sequence[Record]) -> list[TargetResult]:
    """One result a target, in the order given; direct is the zero, bare the unit."""
    direct = _times(_record_of(records, DIRECT))
    bare = _times(_record_of(records, BARE))
    return [_result(record, direct, bare) for record in records]


def _result(record: Record, direct: stats.Rounds, bare: stats.Rounds) -> TargetResult:
    ours = _times(record)
    samples = [sample for part in record.rounds for sample in part]
    is_compared = record.target.name not in (DIRECT, BARE)
    interval = stats.ratio_interval(ours, bare, direct) if is_compared else None
    inserted = [s.received_bytes - s.sent_bytes for s in samples if s.received_bytes is not None]
    transits = [value for sample in samples for value in sample.transit_ms]
    times = [sample.first_event_ms for sample in samples]
    openings = [sample.first_event_ms for sample in samples if sample.turn == 0]
    return TargetResult(
        name=record.target.name,
        requests=len(samples),
        ttfb_p50=median(times),
        ttfb_p95=stats.percentile(times, 0.95),
        added_p50=stats.added_p50(ours, direct),
        added_p95=stats.added_p95(ours, direct),
        ratio=stats.ratio_to(ours, bare, direct),
        ratio_low=interval[0] if interval else None,
        ratio_high=interval[1] if interval else None,
        opening_p50=median(openings),
        cpu_ms=record.cpu_ms / len(samples) if record.cpu_before is not None else None,
        cpu_all_ms=record.cpu_all_ms / len(samples) if record.cpu_all_ms is not None else None,
        transit_p50=median(transits) if transits else None,
        peak_mb=record.peak_mb,
        inserted_bytes_p50=median(inserted) if inserted else None,
        memory_blocks=dict(sorted(Counter(str(s.memory_blocks) for s in samples).items())),
        round_medians=[median(part) for part in ours],
    )


def _in_turn(records: Sequence[Record], round_number: int) -> list[Record]:
    """Everybody once, in an order of this round's own, so that nobody always runs behind the same neighbour."""
    return Random(round_number).sample(records, len(records))


def _slice(client: LoadClient, target: Target, size_bytes: int, settings: Settings, nonces: Nonces) -> list[Sample]:
    task = Slice(target.url, size_bytes, settings.turns, settings.lanes, nonces.take(settings.lanes))
    samples = client.run(target, task)
    time.sleep(SETTLE_S)
    return samples


def _measured_slice(client: LoadClient, record: Record, size_bytes: int, settings: Settings, nonces: Nonces) -> None:
    before = _cpu(record.target)
    record.rounds.append(_slice(client, record.target, size_bytes, settings, nonces))
    after = _cpu(record.target)
    if before is not None and after is not None:
        record.cpu_ms += after - before


def _start_accounts(record: Record) -> None:
    record.cpu_before = _cpu(record.target)
    if record.target.pid is not None:
        resources.reset_peak(record.target.pid)


def _close_accounts(record: Record) -> None:
    after = _cpu(record.target)
    if record.target.pid is not None and after is not None and record.cpu_before is not None:
        if record.target.name != DIRECT:  # its process is the upstream, which works for everybody
            record.cpu_all_ms = after - record.cpu_before
        record.peak_mb = resources.peak_rss_mb(record.target.pid)


def _cpu(target: Target) -> float | None:
    return None if target.pid is None else resources.cpu_ms(target.pid)


def _times(record: Record) -> list[list[float]]:
    return [[sample.first_event_ms for sample in samples] for samples in record.rounds]


def _record_of(records: Sequence[Record], name: str) -> Record:
    return next(record for record in records if record.target.name == name)
