"""Leave one project out: the weights and the threshold that judge a project have never seen a turn of it.

The threshold comes from a second leave-one-out inside the training projects: scores of turns that a model was fitted
on are too good to set it by.
"""

from collections.abc import Callable, Iterable, Sequence

from bead_evals.recall.scoring import Score, score
from bead_evals.recall.suites import Suite, Turn
from bead_evals.recall.training import Rows, fit
from bead_index.gate.features import AGAINST, Candidate, View, candidates
from bead_index.gate.gate import MAX_CANDIDATES
from bead_index.gate.index import ScopeCards, Subject
from bead_index.gate.model import Model, chance
from bead_index.gate.turn import Session, read_step

BUDGET = 0.04
"""Share of turns with a false injection that thresholds are set for; on projects unseen it comes out higher."""
MAX_FACTS = 2
_THRESHOLDS = [percent / 100 for percent in range(5, 96)]

Cards = Callable[[Suite], ScopeCards]
Seen = list[tuple[Turn, list[Candidate]]]
"""The turns of one suite with the candidates of each."""


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


def learn(training: Sequence[Seen], signs: Sequence[str], budget: float = BUDGET) -> Model:
    """Weights from all of `training`, the threshold from models that leave one of it out each."""
    scored: list[tuple[Turn, list[tuple[float, str]]]] = []
    for left_out in range(len(training)):
        rest = [seen for at, seen in enumerate(training) if at != left_out]
        model = _fitted(rest or training, signs)
        scored += [(turn, _chances(model, found)) for turn, found in training[left_out]]
    model = _fitted(training, signs)
    return Model(model.bias, model.weights, _threshold(scored, budget))


def choose(model: Model, found: Iterable[Candidate]) -> list[str]:
    """Keys of the facts that `model` lets in, at most `MAX_FACTS`."""
    return _over(model.threshold, _chances(model, found))


def leave_one_out(
    suites: Sequence[Suite], signs: Sequence[str], training: Cards, tested: Cards, budget: float = BUDGET
) -> list[Score]:
    """The score of each suite with a model from the others; `tested` may have other cards than `training`."""
    seen = [see(suite, training) for suite in suites]
    scores = []
    for at, suite in enumerate(suites):
        others = [each for other, each in enumerate(seen) if other != at]
        model = learn(others, signs, budget)
        scores.append(score(suite.turns, (choose(model, found) for _, found in see(suite, tested))))
    return scores


def _fitted(training: Iterable[Seen], signs: Sequence[str]) -> Model:
    values: list[list[float]] = []
    labels: list[bool] = []
    for turn, found in (pair for seen in training for pair in seen):
        for candidate in found:
            if candidate.subject.key not in turn.may:
                values.append([_signed(name, candidate) for name in signs])
                labels.append(candidate.subject.key in turn.needs)
    bias, weights = fit(Rows(values, labels))
    return Model(bias, dict(zip(signs, weights, strict=True)), 0.5)


def _signed(name: str, candidate: Candidate) -> float:
    strength = candidate.strength(name)
    return -strength if name in AGAINST else strength


def _chances(model: Model, found: Iterable[Candidate]) -> list[tuple[float, str]]:
    return sorted(((chance(model.logit(each)), each.subject.key) for each in found), reverse=True)


def _over(threshold: float, chances: Iterable[tuple[float, str]]) -> list[str]:
    return [key for probability, key in chances if probability >= threshold][:MAX_FACTS]


def _threshold(scored: Sequence[tuple[Turn, list[tuple[float, str]]]], budget: float) -> float:
    """The lowest one that keeps false turns within `budget`, so that recall is highest."""
    turns = [turn for turn, _ in scored]
    for threshold in _THRESHOLDS:
        if score(turns, (_over(threshold, chances) for _, chances in scored)).false_share <= budget:
            return threshold
    return _THRESHOLDS[-1]
