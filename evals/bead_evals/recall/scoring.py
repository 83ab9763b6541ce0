"""Recall of needed facts, precision of injected ones, share of turns with a false injection. Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from bead_evals.recall.suites import Turn


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of one gate on one suite; scores of several suites add up."""

    needed: int = 0
    found: int = 0
    """Injected facts that their turn needed."""
    false: int = 0
    """Injected facts that their turn neither needed nor may have."""
    turns: int = 0
    false_turns: int = 0

    def __add__(self, other: "Score") -> "Score":
        return Score(
            self.needed + other.needed,
            self.found + other.found,
            self.false + other.false,
            self.turns + other.turns,
            self.false_turns + other.false_turns,
        )

    @property
    def recall(self) -> float:
        """Of the facts that turns needed, the share that was injected."""
        return self.found / self.needed if self.needed else 0.0

    @property
    def precision(self) -> float:
        """Of the injected facts that count, the share that was needed; 0 when none was injected."""
        injected = self.found + self.false
        return self.found / injected if injected else 0.0

    @property
    def false_share(self) -> float:
        """Share of turns with at least one false injection."""
        return self.false_turns / self.turns if self.turns else 0.0


def score(turns: Sequence[Turn], chosen: Iterable[Collection[str]]) -> Score:
    """Counts for what was chosen turn by turn, as keys."""
    total = Score()
    for turn, keys in zip(turns, chosen, strict=True):
        found = len(turn.needs.intersection(keys))
        false = len(set(keys) - turn.needs - turn.may)
        total += Score(len(turn.needs), found, false, 1, int(false > 0))
    return total
