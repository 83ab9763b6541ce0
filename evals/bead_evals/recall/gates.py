"""The gates that are compared, each as one row of the table.

Every gate sees the same turns in order. Learned ones are judged by `folds`; nothing here reads files.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import log

from bead.facts import FactType, FactVersion, Sensitivity, Status, TriggerCard, Trust
from bead.text.terms import significant, terms
from bead.wire.index import RecallRequest
from bead_evals.recall import folds
from bead_evals.recall.scoring import Score, score
from bead_evals.recall.suites import Suite, Turn
from bead_index.evidence import EvidenceGate
from bead_index.facts import FactTable
from bead_index.gate.features import Candidate, View, candidates
from bead_index.gate.gate import MAX_CANDIDATES, TriggerGate
from bead_index.gate.index import NO_CARD, ScopeCards, Subject
from bead_index.gate.model import Model
from bead_index.gate.turn import Session, read_step

OWNER = "eval"
GOAL_BUDGET = 0.07
HALVES = 3
"""Draws of the row with half of each card removed."""


@dataclass(frozen=True, slots=True)
class Row:
    """One gate's scores by suite, in the order of the suites; of several draws the sums."""

    name: str
    scores: tuple[Score, ...]
    note: str = ""


def rows(suites: Sequence[Suite], seed: int) -> Iterator[Row]:
    """Every gate on every suite; learned ones leave the suite out that they are judged on."""
    yield Row("first design, strict default", tuple(map(_strict, suites)))
    yield Row("BM25, two best", tuple(map(_bm25, suites)))
    if len(suites) > 1:
        yield from _learned(suites, seed)
    yield Row(
        "weights in use, rule cards",
        tuple(_in_use(suite, without_cards) for suite in suites),
        "in sample on the shipped suites",
    )
    if all(suite.cards for suite in suites):
        yield Row(
            "weights in use, blind cards",
            tuple(_in_use(suite, with_blind_cards) for suite in suites),
            "in sample on the shipped suites",
        )
        yield Row("candidates + perfect judge, blind cards", tuple(_perfect(suite) for suite in suites), "the ceiling")


def unseen_rows(suites: Sequence[Suite], seed: int) -> Iterator[Row]:
    """The gates that ship, on suites that nothing was fitted on."""
    yield Row("first design, strict default", tuple(map(_strict, suites)))
    yield Row("BM25, two best", tuple(map(_bm25, suites)))
    yield Row("rule cards", tuple(_in_use(suite, without_cards) for suite in suites))
    yield Row("written cards", tuple(_in_use(suite, with_blind_cards) for suite in suites))
    halves = [[_in_use(suite, _halved(random.Random(f"{seed}/{draw}"))) for suite in suites] for draw in range(HALVES)]
    summed = tuple(sum(of_suite, Score()) for of_suite in zip(*halves, strict=True))
    yield Row("written cards, random half removed", summed, f"{HALVES} draws")
    yield Row("candidates + perfect judge, written cards", tuple(_perfect(suite) for suite in suites), "the ceiling")


def _learned(suites: Sequence[Suite], seed: int) -> Iterator[Row]:
    nothing = folds.cards_of(without_cards, rules=False)
    by_rule = folds.cards_of(without_cards)
    blind = folds.cards_of(with_blind_cards)
    yield Row("learned, no cards", tuple(folds.leave_one_out(suites, nothing, nothing, nothing)))
    if not all(suite.cards for suite in suites):
        yield Row("cards by rule", tuple(folds.leave_one_out(suites, by_rule, by_rule, by_rule)))
        return
    yield Row("cards by rule", tuple(folds.leave_one_out(suites, blind, by_rule, by_rule)))
    yield Row("blind cards", tuple(folds.leave_one_out(suites, blind, blind, by_rule)))
    budget = tuple(folds.leave_one_out(suites, blind, blind, by_rule, GOAL_BUDGET))
    yield Row(f"blind cards, budget {GOAL_BUDGET:.0%}", budget)
    draws = [
        folds.leave_one_out(suites, blind, folds.cards_of(_halved(random.Random(f"{seed}/{draw}"))), by_rule)
        for draw in range(HALVES)
    ]
    halves = tuple(sum(of_suite, Score()) for of_suite in zip(*draws, strict=True))
    yield Row("blind cards, random half removed", halves, f"{HALVES} draws, weights from whole cards")
    poorer = tuple(
        score(suite.turns, _chosen_without_nearest(suite, blind(suite), model))
        for suite, model in folds.each_left_out(suites, blind, by_rule)
    )
    yield Row("blind cards, nearest sentence removed", poorer, "the one nearest to each needed turn")


# -- cards -------------------------------------------------------------------------------------------------------------


def without_cards(suite: Suite) -> tuple[Subject, ...]:
    """The facts of `suite` without cards."""
    return suite.facts


def with_blind_cards(suite: Suite) -> tuple[Subject, ...]:
    """The facts of `suite` with the cards that were written without seeing the turns."""
    return suite.subjects(suite.cards)


def _halved(chance: random.Random) -> Callable[[Suite], Iterable[Subject]]:
    def half(phrases: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(chance.sample(phrases, (len(phrases) + 1) // 2))

    def subjects(suite: Suite) -> tuple[Subject, ...]:
        return suite.subjects(
            {
                key: TriggerCard(say=half(card.say), do=half(card.do), see=half(card.see), unless=half(card.unless))
                for key, card in suite.cards.items()
            }
        )

    return subjects


def _chosen_without_nearest(suite: Suite, cards: ScopeCards, model: Model) -> Iterator[list[str]]:
    """For each turn, every needed fact's card lacks the sentences that met the turn best."""
    session = Session()
    for turn in suite.turns:
        step = read_step(turn.cues)
        whole = [
            each for each in candidates(step, session, View([cards]), MAX_CANDIDATES) if each.subject.key in turn.needs
        ]
        for candidate in whole:
            cards.put(_poorer(candidate))
        yield folds.choose(model, candidates(step, session, View([cards]), MAX_CANDIDATES))
        for candidate in whole:
            cards.put(candidate.subject)
        session.remember(step)


def _poorer(candidate: Candidate) -> Subject:
    nearest = {sign.what for name, sign in candidate.signs.items() if name.startswith("say_")}
    card = candidate.subject.card
    return replace(
        candidate.subject,
        card=card.model_copy(update={"say": tuple(phrase for phrase in card.say if phrase not in nearest)}),
    )


# -- gates -------------------------------------------------------------------------------------------------------------


def _in_use(suite: Suite, subjects: Callable[[Suite], Iterable[Subject]]) -> Score:
    """What the service injects: the same object, asked turn by turn."""
    gate, view = TriggerGate(), View([ScopeCards(subjects(suite))])
    chosen = []
    for turn in suite.turns:
        decisions = gate.judge(view, OWNER, "session", turn.cues)
        chosen.append([each.subject.key for each in decisions if each.passes][: folds.MAX_FACTS])
    return score(suite.turns, chosen)


def _perfect(suite: Suite) -> Score:
    """What a judge that knows the labels would take of the candidates."""
    seen = folds.see(suite, folds.cards_of(with_blind_cards))
    return score(suite.turns, ({each.subject.key for each in found} & turn.needs for turn, found in seen))


def _strict(suite: Suite) -> Score:
    table = FactTable(version(suite.name, fact) for fact in suite.facts)
    gate, facts = EvidenceGate(), table.visible(OWNER, suite.name)
    chosen = []
    for turn in suite.turns:
        asked = RecallRequest(owner=OWNER, project=suite.name, session="session", cues=turn.cues)
        judged = sorted(gate.judge(asked, facts), key=lambda each: each.order)
        chosen.append([each.known.fact.uid for each in judged if not each.against][: folds.MAX_FACTS])
    return score(suite.turns, chosen)


def version(project: str, fact: Subject) -> FactVersion:
    """`fact` as the store would hold it; its uid is the suite's key."""
    kind, name = fact.key.split("/", 1)
    scope = f"project/{project}" if kind in ("project", "reference") else "user"
    return FactVersion(
        uid=fact.key,
        key=f"{scope}/{name}",
        version=1,
        type=FactType(fact.type),
        owner=OWNER,
        status=Status.CURRENT,
        trust=Trust.USER_STATED,
        sensitivity=Sensitivity.PRIVATE,
        valid_from=datetime(2026, 1, 1, tzinfo=UTC),
        body=fact.body,
        when=NO_CARD,
    )


def _bm25(suite: Suite) -> Score:
    documents = {fact.key: terms(f"{fact.key.rsplit('/', 1)[-1]} {fact.body}") for fact in suite.facts}
    return score(suite.turns, (_two_best(turn, documents) for turn in suite.turns))


def _two_best(turn: Turn, documents: dict[str, list[str]], k1: float = 1.2, b: float = 0.75) -> list[str]:
    mean = sum(map(len, documents.values())) / len(documents)
    scores = dict.fromkeys(documents, 0.0)
    for term in significant(terms("\n".join(cue.text for cue in turn.cues))):
        holders = [key for key, words in documents.items() if term in words]
        idf = log(1 + (len(documents) - len(holders) + 0.5) / (len(holders) + 0.5))
        for key in holders:
            count, length = documents[key].count(term), len(documents[key])
            scores[key] += idf * count * (k1 + 1) / (count + k1 * (1 - b + b * length / mean))
    best = sorted(scores, key=lambda key: (-scores[key], key))[: folds.MAX_FACTS]
    return [key for key in best if scores[key] > 0]
