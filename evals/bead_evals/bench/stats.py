"""Statistics for a noisy machine: medians paired by round, their ratio, and how far the ratio can be trusted.

Pure. A *round* holds the samples (milliseconds) that one target gave in one turn of the round-robin; round r of every
target ran within the same second or two, so what the machine did to one it did to the others.
"""

from collections.abc import Sequence
from random import Random
from statistics import median

Rounds = Sequence[Sequence[float]]

FEWEST_ROUNDS_FOR_INTERVAL = 5
RESAMPLES = 2000


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0..1) of `values` lies, linear between the two nearest ranks."""
    assert values and 0.0 <= share <= 1.0, "a percentile needs samples and a share between 0 and 1"
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def paired_added(target: Rounds, direct: Rounds) -> list[float]:
    """Per round: the target's median minus direct's median of the same round."""
    return [median(ours) - median(theirs) for ours, theirs in zip(target, direct, strict=True)]


def added_p50(target: Rounds, direct: Rounds) -> float:
    """The median of the paired differences: what the target usually adds."""
    return median(paired_added(target, direct))


def added_p95(target: Rounds, direct: Rounds) -> float:
    """The 95th percentile of single samples, each against direct's median of its own round.

    For direct itself this is its own scatter: what the machine adds to anybody's tail.
    """
    return percentile([x - median(base) for ours, base in zip(target, direct, strict=True) for x in ours], 0.95)


def ratio_to(target: Rounds, bare: Rounds, direct: Rounds) -> float | None:
    """What the target adds divided by what the bare passthrough adds; None when bare adds nothing measurable."""
    return _divide(paired_added(target, direct), paired_added(bare, direct))


def ratio_interval(target: Rounds, bare: Rounds, direct: Rounds, seed: int = 1) -> tuple[float, float] | None:
    """95 % bootstrap interval of `ratio_to`, resampling whole rounds so that pairs stay together.

    None below `FEWEST_ROUNDS_FOR_INTERVAL` rounds, or when one resample in twenty has no ratio.
    """
    ours, base = paired_added(target, direct), paired_added(bare, direct)
    if len(ours) < FEWEST_ROUNDS_FOR_INTERVAL:
        return None
    random = Random(seed)
    ratios = []
    for _ in range(RESAMPLES):
        picks = random.choices(range(len(ours)), k=len(ours))
        ratio = _divide([ours[i] for i in picks], [base[i] for i in picks])
        if ratio is not None:
            ratios.append(ratio)
    if len(ratios) < 0.95 * RESAMPLES:
        return None
    return percentile(ratios, 0.025), percentile(ratios, 0.975)


def _divide(ours: Sequence[float], base: Sequence[float]) -> float | None:
    below = median(base)
    return median(ours) / below if below > 0.0 else None
