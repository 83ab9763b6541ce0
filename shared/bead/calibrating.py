"""What judged turns teach the gate: offsets of single facts, and a shift that keeps the budget of false turns.

Pure. Judgements come from the dream job's model, which looks at the candidates of the day's turns; the index obeys.
Weights are never touched and every change is bounded, so that a bad night cannot undo what was learned before.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import exp, log
from typing import NamedTuple

BUDGET = 0.05
"""Share of turns that may be told something they do not need."""
MAX_OFFSET = 1.5
"""Most that judgements may add to or take from the log odds of one fact."""
STEP = 0.5
"""Log odds that one judgement moves a fact by, before it is weighed with how sure the gate was."""
MIN_TURNS = 100
"""Judged turns before the bar is moved at all."""
MAX_STEP = 0.25
"""Most that the bar moves in one night, in log odds."""
LEAST_SHIFT, MOST_SHIFT = -0.5, 1.0
"""Between which it stays: an eager bar is told by people sooner than a shy one."""
_STILL = 1e-6


class Judged(NamedTuple):
    """One candidate of one turn, and whether it would have helped."""

    turn: str
    uid: str
    surplus: float
    """Log odds above the bar as it was fitted, before any shift."""
    helped: bool


def offsets(known: Mapping[str, float], judged: Iterable[Judged]) -> dict[str, float]:
    """`known` log odds by uid, moved by `judged`: a surprise moves a fact more than what the gate expected."""
    moved: dict[str, float] = defaultdict(float, known)
    for each in judged:
        moved[each.uid] += STEP * (each.helped - 1 / (1 + exp(-each.surplus)))
    return {uid: _between(-MAX_OFFSET, offset, MAX_OFFSET) for uid, offset in moved.items() if offset}


def shift(now: float, judged: Sequence[Judged], budget: float = BUDGET) -> float:
    """The bar's shift `now` moved towards the lowest that keeps false turns in `budget`; all turns must be judged.

    `now` where fewer than `MIN_TURNS` turns were.
    """
    turns = len({each.turn for each in judged})
    if turns < MIN_TURNS:
        return now
    wanted = _lowest(judged, int(budget * turns))
    return _between(LEAST_SHIFT, now + _between(-MAX_STEP, wanted - now, MAX_STEP), MOST_SHIFT)


def bounded(shift: float, offsets: Mapping[str, float]) -> tuple[float, dict[str, float]]:
    """What the gate takes of a calibration that somebody else may have written."""
    kept = {uid: _between(-MAX_OFFSET, offset, MAX_OFFSET) for uid, offset in offsets.items() if offset == offset}
    return (_between(LEAST_SHIFT, shift, MOST_SHIFT) if shift == shift else 0.0), kept


def surplus_of(score: float, shift: float) -> float | None:
    """Log odds above the fitted bar, of a score that was given under `shift`; None where it is no such score."""
    return log(score / (1 - score)) + shift if 0 < score < 1 else None


def _lowest(judged: Iterable[Judged], allowed: int) -> float:
    """Just above the first false candidate that is one too many."""
    worst: dict[str, float] = {}
    for each in judged:
        if not each.helped:
            worst[each.turn] = max(worst.get(each.turn, each.surplus), each.surplus)
    false = sorted(worst.values(), reverse=True)
    return false[allowed] + _STILL if allowed < len(false) else LEAST_SHIFT


def _between(least: float, value: float, most: float) -> float:
    return min(most, max(least, value))
