"""How long the gate takes with many facts: real turns, made-up cards in the words of real ones and in rare ones."""

import gc
import random
import string
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from bead.facts import TriggerCard
from bead.recall import Cue
from bead_evals.recall.gates import OWNER
from bead_evals.recall.suites import Suite
from bead_index.gate.gate import Cards, TriggerGate
from bead_index.gate.index import Subject

SIZES = ((100, 100), (1_000, 1_000), (10_000, 2_000))
"""Facts in all, and in the scope that is asked for."""
_SCOPE = "project/asked"
_OTHER_SCOPES = 20
_RARE_WORDS = 6_000
_RARE_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds for one turn, cue texts in, decisions with reasons out."""

    facts: int
    in_scope: int
    p50: float
    p95: float
    longest: float
    put_ms: float
    """To take one fact with its card."""


def measure(suites: Sequence[Suite], seed: int, sizes: Sequence[tuple[int, int]] = SIZES) -> list[Latency]:
    """One row a size; every turn of the suites is asked twice."""
    return [_measure(suites, random.Random(seed), facts, in_scope) for facts, in_scope in sizes]


def table(found: Sequence[Latency]) -> str:
    """The rows as text."""
    lines = [
        f"{each.facts:>8,} facts, {each.in_scope:>6,} in scope: p50 {each.p50:5.1f} ms, p95 {each.p95:5.1f} ms, "
        f"longest {each.longest:5.1f} ms; {each.put_ms:.2f} ms to take a fact"
        for each in found
    ]
    return "\n".join(lines)


def _measure(suites: Sequence[Suite], chance: random.Random, facts: int, in_scope: int) -> Latency:
    writer = _Writer(suites, chance)
    subjects = [writer.subject(number) for number in range(facts)]
    cards, gate = Cards(), TriggerGate()
    began = perf_counter()
    for number, subject in enumerate(subjects):
        cards.put(OWNER, _SCOPE if number < in_scope else f"project/{number % _OTHER_SCOPES}", subject)
    put_ms = (perf_counter() - began) * 1_000 / facts
    gc.collect()
    gc.freeze()  # as a service does once its facts are loaded: else a collection walks all of them
    try:
        times = [_ask(cards, gate, turn.cues) for _ in range(2) for suite in suites for turn in suite.turns]
    finally:
        gc.unfreeze()
    times.sort()
    return Latency(facts, in_scope, median(times), times[int(0.95 * len(times))], times[-1], put_ms)


def _ask(cards: Cards, gate: TriggerGate, cues: Sequence[Cue]) -> float:
    began = perf_counter()
    gate.judge(cards.view(OWNER, ("user", "global", _SCOPE)), OWNER, "session", cues)
    return (perf_counter() - began) * 1_000


class _Writer:
    """Makes facts up."""

    def __init__(self, suites: Sequence[Suite], chance: random.Random) -> None:
        self._chance = chance
        says = [phrase for suite in suites for card in suite.cards.values() for phrase in card.say]
        bodies = [fact.body for suite in suites for fact in suite.facts]
        self._common = [word for text in (*says, *bodies) for word in text.split()]
        self._rare = ["".join(chance.choices(string.ascii_lowercase, k=8)) for _ in range(_RARE_WORDS)]

    def subject(self, number: int) -> Subject:
        """A fact with a card of the usual size."""
        card = TriggerCard(
            say=tuple(self._sentence() for _ in range(12)),
            do=tuple(self._literal() for _ in range(7)),
            see=tuple(self._literal() for _ in range(4)),
            unless=(self._literal(),),
        )
        return Subject(
            f"uid{number}", f"user/fact-{number}", "project", f"{self._sentence()}. {self._sentence()}.", card
        )

    def _sentence(self) -> str:
        return " ".join(self._word() for _ in range(self._chance.randint(6, 12)))

    def _word(self) -> str:
        return self._chance.choice(self._rare if self._chance.random() < _RARE_SHARE else self._common)

    def _literal(self) -> str:
        return f"{self._chance.choice(self._rare)} {self._word()}"
