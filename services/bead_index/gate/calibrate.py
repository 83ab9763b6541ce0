"""What a night's judgements teach: offsets of single facts, and a threshold that keeps the budget of false turns.

Pure. Judgements come from whoever looked at yesterday's candidates: the dream job's model, an optional rerank, or what
the next step did (a literal of an injected fact in it: used). Weights are never touched, so a bad night cannot undo
what was learned before; every change is bounded.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bead_index.gate.model import Model, chance, log_odds

MAX_OFFSET = 1.5
"""Most that use may add to or take from the log odds of one fact."""
STEP = 0.5
"""Log odds that one judgement moves a fact by, before it is weighed with how sure the gate was."""
MIN_TURNS = 100
"""Judged turns before a threshold is moved at all."""
MAX_SHIFT = 0.25
"""Most that a threshold moves in one night, in log odds."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One candidate of one turn, and whether it would have helped."""

    turn: str
    uid: str
    chance: float
    """What the gate gave it, offsets included."""
    helped: bool


def offsets(known: Mapping[str, float], judged: Iterable[Judged]) -> dict[str, float]:
    """`known` log odds by uid, moved by `judged`: a surprise moves a fact more than what the gate expected."""
    moved: dict[str, float] = defaultdict(float, known)
    for each in judged:
        moved[each.uid] += STEP * (each.helped - each.chance)
    return {uid: min(MAX_OFFSET, max(-MAX_OFFSET, offset)) for uid, offset in moved.items() if offset}


def within_budget(model: Model, judged: Sequence[Judged], turns: int, budget: float) -> Model:
    """`model` with both thresholds moved together towards the lowest that keeps false turns of `turns` in `budget`.

    `judged` holds every candidate near the threshold of those turns. The same model when fewer than `MIN_TURNS` turns
    were judged.
    """
    if turns < MIN_TURNS:
        return model
    now = log_odds(model.threshold)
    wanted = _lowest(judged, turns, budget)
    shift = min(MAX_SHIFT, max(-MAX_SHIFT, wanted - now))
    return replace(
        model,
        threshold=chance(now + shift),
        bare_threshold=chance(log_odds(model.bare_threshold) + shift),
    )


def _lowest(judged: Sequence[Judged], turns: int, budget: float) -> float:
    """Log odds just above the first false candidate that is one too many."""
    worst: dict[str, float] = {}
    for each in judged:
        if not each.helped:
            worst[each.turn] = max(worst.get(each.turn, 0.0), each.chance)
    false = sorted(worst.values(), reverse=True)
    allowed = int(budget * turns)
    return log_odds(_inside(false[allowed])) + _STILL if allowed < len(false) else log_odds(_LOWEST)


_STILL = 1e-6
_LOWEST = 0.05
"""No threshold is ever sought below this chance."""


def _inside(probability: float) -> float:
    return min(1 - _STILL, max(_LOWEST, probability))
