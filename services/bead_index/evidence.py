"""The strict default gate: how strongly the newest turn points at a fact, from shared terms alone.

Pure. Strongest shared term plus a quarter of the rest, each weighted by its IDF among the visible facts and by whose
words it comes from; precision before recall. Source: seeds/bead.txt "Evaluation", evidence 1.2, source-weighted.
"""

from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest

from bead.recall import Cue, CueSource
from bead_index.facts import Known, VisibleFacts
from bead_index.selection import Judged
from bead_index.terms import significant, stem, terms

THRESHOLD = 1.2
REST_SHARE = 0.25
GENERIC_WEIGHT = 0.2
RIVALS = 20
"""Most facts under the threshold that are worth telling."""
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
        self._threshold = threshold

    def judge(self, cues: Sequence[Cue], project: str, facts: VisibleFacts) -> list[Judged]:
        """Every visible fact that passes, and the strongest of those that do not."""
        weights = {term: weight * _rarity(term, facts) for term, weight in cue_terms(cues, project).items()}
        strongest: dict[Known, float] = {}
        total: dict[Known, float] = {}
        for term, weight in weights.items():
            for known in facts.with_term(term):
                strongest[known] = max(weight, strongest.get(known, 0.0))
                total[known] = weight + total.get(known, 0.0)
        scores = {known: evidence_score(strongest[known], total[known]) for known in total}
        passing = [known for known, score in scores.items() if score >= self._threshold]
        rivals = nsmallest(len(passing) + RIVALS, scores, key=lambda known: (-scores[known], known.fact.uid))
        return [self._judged(known, scores[known], weights) for known in dict.fromkeys((*passing, *rivals))]

    def _judged(self, known: Known, score: float, weights: Mapping[str, float]) -> Judged:
        strongest_first = sorted(known.terms & weights.keys(), key=lambda term: (-weights[term], term))
        reason = "" if score >= self._threshold else f"evidence {score:.2f} is under {self._threshold:g}"
        return Judged(known, score, tuple(strongest_first), reason)


def evidence_score(strongest: float, total: float) -> float:
    """The strongest weight plus a quarter of the rest of `total`."""
    return strongest + REST_SHARE * (total - strongest)


def cue_terms(cues: Iterable[Cue], project: str) -> dict[str, float]:
    """The significant terms of `cues`, each with the weight of its best source; the project's name does not count."""
    ignored = set(terms(project))
    weights: dict[str, float] = {}
    left = ALL_CHARACTERS
    for cue in sorted(cues, key=lambda cue: -SOURCE_WEIGHTS[cue.source]):
        text = _ends(cue.text, min(CUE_CHARACTERS, left))
        left -= len(text)
        for term in significant(terms(text)):
            if term not in ignored:
                weights.setdefault(term, SOURCE_WEIGHTS[cue.source])
    return weights


def _rarity(term: str, facts: VisibleFacts) -> float:
    idf = facts.idf(term)
    return min(idf, GENERIC_WEIGHT) if term in GENERIC else idf


def _ends(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n{text[len(text) - half :]}" if half else ""
