"""The strict gate, the baseline: how strongly the newest turn points at a fact, from shared terms alone.

Pure. Strongest shared term plus a quarter of the rest, each weighted by its IDF among the visible facts and by whose
words it comes from; precision before recall. Source: seeds/bead.txt "Evaluation", evidence 1.2, source-weighted.
"""

from collections.abc import Iterable, Mapping, Sequence

from bead.recall import Code, Cue, CueSource
from bead.text.terms import significant_terms, stem, terms
from bead.wire.dream import Calibration
from bead.wire.index import RecallRequest
from bead_index.facts import Known, VisibleFacts
from bead_index.selection import MAX_REJECTED, Judged

THRESHOLD = 1.2
REST_SHARE = 0.25
GENERIC_WEIGHT = 0.2
CUE_CHARACTERS = 8_000
"""Most characters of one cue that are read: head and tail."""
ALL_CHARACTERS = 24_000
"""Most characters of all cues together, the weightiest first; bounds the time of one recall to some 10 ms."""

SOURCE_WEIGHTS: Mapping[CueSource, float] = {
    CueSource.PERSON: 1.0,
    CueSource.ASSISTANT: 0.6,
    CueSource.TOOL_INPUT: 0.6,
    CueSource.TOOL_OUTPUT: 0.3,
}

GENERIC = frozenset(
    stem(word)
    for word in """
    add app application argument branch bug build call change check class code command commit config configuration
    create data default delete deploy directory error example fail file fix folder function get go import install
    issue key line list log main make message method module name new number object open option output package path
    port print process program project read release remove repo repository request response result return run script
    server service set setting show source start step stop string system table task test text thing time tool type
    update use user value variable version way work write
    """.split()
)


class EvidenceGate:
    """`selection.Gate` by evidence score."""

    def __init__(self, threshold: float = THRESHOLD) -> None:
        self.threshold = threshold

    def calibrate(self, calibration: Calibration) -> None:
        """Nothing: the baseline stays what it is."""

    def judge(self, request: RecallRequest, facts: VisibleFacts) -> list[Judged]:
        """Every visible fact that passes, and the strongest of those that do not."""
        weighed = _weighed(cue_terms(request.cues, request.project), facts)
        scores = evidence_scores(weighed)
        passing = sum(score >= self.threshold for score in scores.values())
        order = [term for _, term, _ in weighed]
        return [
            self._judged(known, scores[known], [term for term in order if term in known.terms])
            for known in _best(scores, passing + MAX_REJECTED)
        ]

    def _judged(self, known: Known, score: float, shared: Sequence[str]) -> Judged:
        if score < self.threshold:
            return Judged(
                known,
                score,
                tuple(shared),
                against=f"evidence {score:.2f} is under {self.threshold:g}",
                code=Code.EVIDENCE,
            )
        return Judged(
            known, score, tuple(shared), reason=f"evidence {score:.2f} reaches {self.threshold:g}", code=Code.EVIDENCE
        )


Weighed = tuple[float, str, tuple[Known, ...]]
"""Minus the weight of a term, the term, and the facts that hold it: ascending order is strongest first."""


def evidence_scores(weighed: Iterable[Weighed]) -> dict[Known, float]:
    """For each fact the weight of its strongest term plus a quarter of the others'; `weighed` is strongest first."""
    scores: dict[Known, float] = {}
    for minus_weight, _, holders in weighed:
        rest = REST_SHARE * minus_weight
        for known in holders:
            if known in scores:
                scores[known] -= rest
            else:
                scores[known] = -minus_weight
    return scores


def cue_terms(cues: Iterable[Cue], project: str) -> dict[str, float]:
    """The significant terms of `cues`, each with the weight of its best source; the project's name does not count."""
    weights: dict[str, float] = {}
    left = ALL_CHARACTERS
    for cue in sorted(cues, key=lambda cue: -SOURCE_WEIGHTS[cue.source]):
        text = _ends(cue.text, min(CUE_CHARACTERS, left))
        left -= len(text)
        weights = dict.fromkeys(significant_terms(text), SOURCE_WEIGHTS[cue.source]) | weights
    for term in terms(project):
        weights.pop(term, None)
    return weights


def _weighed(weights: dict[str, float], facts: VisibleFacts) -> list[Weighed]:
    """The terms that visible facts hold, strongest first."""
    found: list[Weighed] = []
    for term in facts.held(weights.keys()):
        idf, holders = facts.posting(term)
        rarity = min(idf, GENERIC_WEIGHT) if term in GENERIC else idf
        found.append((-weights[term] * rarity, term, holders))
    found.sort()  # terms differ, so facts are never compared
    return found


def _best(scores: Mapping[Known, float], count: int) -> list[Known]:
    """The best `count` of `scores`; of equal ones the more trusted, then by uid, as `Judged.order` has it."""
    if len(scores) > count:
        least = sorted(scores.values(), reverse=True)[count - 1]
        scores = {known: score for known, score in scores.items() if score >= least}
    return sorted(scores, key=lambda known: (-scores[known], -known.rank, known.uid))[:count]


def _ends(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n{text[len(text) - half :]}" if half else ""
