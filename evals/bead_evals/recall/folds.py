"""Leave one project out: the weights and the threshold that judge a project have never seen a turn of it.

The threshold comes from a second leave-one-out inside the training projects: scores of turns that a model was fitted
on are too good to set it by.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from bead_evals.recall.scoring import Score, score
from bead_evals.recall.suites import Suite, Turn
from bead_evals.recall.training import Rows, fit
from bead_index.gate.features import AGAINST, FOR, Candidate, View, candidates
from bead_index.gate.gate import MAX_CANDIDATES
from bead_index.gate.index import ScopeCards, Subject
from bead_index.gate.model import Model, chance
from bead_index.gate.turn import Session, read_step

BUDGET = 0.04
"""Share of turns with a false injection that thresholds are set for; on projects unseen it comes out higher."""
MAX_FACTS = 2
SIGNS = (*FOR, *AGAINST)
_THRESHOLDS = [percent / 100 for percent in range(5, 96)]

Cards = Callable[[Suite], ScopeCards]
Seen = list[tuple[Turn, list[Candidate]]]
"""The turns of one suite with the candidates of each."""
Scored = tuple[Turn, list[tuple[float, str]]]


def cards_of(subjects: Callable[[Suite], Iterable[Subject]], rules: bool = True) -> Cards:
    """Cards of a suite from its subjects."""
    return lambda suite: ScopeCards(subjects(suite), rules)


def see(suite: Suite, cards: Cards) -> Seen:
    """Every turn of `suite` in order, as one session, with its candidates."""
    view, session = View([cards(suite)]), Session()
    seen: Seen = []
    for turn in suite.turns:
        step = read_step(turn.cues)
        seen.append((turn, candidates(step, session, view, MAX_CANDIDATES)))
        session.remember(step)
    return seen


def learn(training: Sequence[Seen], bare: Sequence[Seen], budget: float = BUDGET) -> Model:
    """Weights from all of `training`; thresholds from models that leave one project out each.

    `bare` has the same projects in the same order, with cards by rule: only their threshold comes from it. Weights that
    were fitted on such cards themselves do worse, also on them.
    """
    carded_chances: list[Scored] = []
    bare_chances: list[Scored] = []
    for left_out in range(len(training)):
        rest = [seen for at, seen in enumerate(training) if at != left_out]
        model = fitted(rest or training)
        carded_chances += [(turn, chances(model, found)) for turn, found in training[left_out]]
        bare_chances += [(turn, chances(model, found)) for turn, found in bare[left_out]]
    return replace(
        fitted(training),
        threshold=_threshold(carded_chances, budget),
        bare_threshold=_threshold(bare_chances, budget),
    )


def choose(model: Model, found: Iterable[Candidate]) -> list[str]:
    """Keys of the facts that `model` lets in, at most `MAX_FACTS`."""
    ordered = sorted((-model.surplus(each), each.subject.key) for each in found)
    return [key for surplus, key in ordered if surplus <= 0][:MAX_FACTS]


def leave_one_out(
    suites: Sequence[Suite], training: Cards, tested: Cards, bare: Cards, budget: float = BUDGET
) -> list[Score]:
    """The score of each suite with a model from the others; `tested` may have other cards than `training`."""
    return [
        score(suite.turns, (choose(model, found) for _, found in see(suite, tested)))
        for suite, model in each_left_out(suites, training, bare, budget)
    ]


def each_left_out(
    suites: Sequence[Suite], training: Cards, bare: Cards, budget: float = BUDGET
) -> Iterator[tuple[Suite, Model]]:
    """Each suite with a model that has never seen a turn of it."""
    seen = [see(suite, training) for suite in suites]
    seen_bare = [see(suite, bare) for suite in suites]
    for at, suite in enumerate(suites):
        rest = [seen[other] for other in range(len(suites)) if other != at]
        rest_bare = [seen_bare[other] for other in range(len(suites)) if other != at]
        yield suite, learn(rest, rest_bare, budget)


def fitted(training: Iterable[Seen]) -> Model:
    """Weights alone; the thresholds say nothing yet."""
    values: list[list[float]] = []
    labels: list[bool] = []
    for turn, found in (pair for seen in training for pair in seen):
        for candidate in found:
            if candidate.subject.key not in turn.may:
                values.append([_signed(name, candidate) for name in SIGNS])
                labels.append(candidate.subject.key in turn.needs)
    bias, weights = fit(Rows(values, labels))
    return Model(bias, dict(zip(SIGNS, weights, strict=True)), threshold=0.5, bare_threshold=0.5)


def chances(model: Model, found: Iterable[Candidate]) -> list[tuple[float, str]]:
    """The chance and the key of each candidate, best first."""
    return sorted(((chance(model.logit(each)), each.subject.key) for each in found), reverse=True)


def _signed(name: str, candidate: Candidate) -> float:
    strength = candidate.strength(name)
    return -strength if name in AGAINST else strength


def _over(threshold: float, found: Iterable[tuple[float, str]]) -> list[str]:
    return [key for probability, key in found if probability >= threshold][:MAX_FACTS]


def _threshold(scored: Sequence[Scored], budget: float) -> float:
    """The lowest one that keeps false turns within `budget`, so that recall is highest."""
    turns = [turn for turn, _ in scored]
    for threshold in _THRESHOLDS:
        if score(turns, (_over(threshold, found) for _, found in scored)).false_share <= budget:
            return threshold
    return _THRESHOLDS[-1]
