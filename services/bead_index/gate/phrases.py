"""Sentences against phrases: how well a sentence meets one of a fact's short phrases, by shared concepts.

Pure. Concepts come from `words`; weighing a match against other signs is `features`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from math import fsum, log
from typing import NamedTuple

UNKNOWN_WEIGHT = 0.5
"""Weight of a concept that no fact has, in a sentence: it neither speaks for a phrase nor counts in full against it."""
PHRASE_MISSING = 0.5
SENTENCE_MISSING = 0.3
"""How much of what only one side says counts against a match: a sentence may say more than a phrase expects."""


class Phrase(NamedTuple):
    """A sentence of a card or of a fact."""

    text: str
    concepts: frozenset[str]


class Meeting(NamedTuple):
    """The best phrase of one fact for one sentence."""

    score: float
    """0 to 1: what both say, against what only one of them says."""
    mass: float
    """Summed weight of what both say; 1 is one concept that only this fact has."""
    phrase: str


NO_MEETING = Meeting(0.0, 0.0, "")


class Vocabulary:
    """Which facts have which concepts."""

    def __init__(self) -> None:
        self._postings: dict[str, dict[str, None]] = defaultdict(dict)
        self._concepts: dict[str, frozenset[str]] = {}

    def __len__(self) -> int:
        return len(self._concepts)

    def put(self, uid: str, concepts: Iterable[str]) -> None:
        """Let the fact `uid` have exactly these `concepts`."""
        self.drop(uid)
        self._concepts[uid] = frozenset(concepts)
        for concept in self._concepts[uid]:
            self._postings[concept][uid] = None

    def drop(self, uid: str) -> None:
        """Forget the fact `uid`."""
        for concept in self._concepts.pop(uid, frozenset()):
            del self._postings[concept][uid]
            if not self._postings[concept]:
                del self._postings[concept]

    def holders(self, concept: str) -> Collection[str]:
        """The facts that have `concept`."""
        return self._postings.get(concept, {}).keys()


class Weights(dict[str, float]):
    """Weight of each concept among the facts of several vocabularies, worked out when first asked for.

    1 for a concept that one fact has, towards 0 for one that all have, 0 for one that none has.
    """

    def __init__(self, vocabularies: Sequence[Vocabulary]) -> None:
        super().__init__()
        self._vocabularies = vocabularies
        self._total = sum(map(len, vocabularies))

    def __missing__(self, concept: str) -> float:
        holders = sum(len(vocabulary.holders(concept)) for vocabulary in self._vocabularies)
        self[concept] = weight = rarity(holders, self._total)
        return weight

    def of(self, concepts: Iterable[str]) -> float:
        """Summed weight of `concepts`, the same in whatever order a set gives them."""
        return fsum(map(self.__getitem__, concepts))


def rarity(holders: int, total: int) -> float:
    """Weight of what `holders` of `total` facts have: 1 for one holder, towards 0 for all."""
    return log(1 + total / holders) / log(1 + total) if holders else 0.0


class Sentence(NamedTuple):
    """What somebody says, weighed once for however many facts."""

    concepts: frozenset[str]
    mass: float


def weigh(concepts: frozenset[str], weights: Weights) -> Sentence:
    """`concepts` with their summed weight; unknown words count as well."""
    return Sentence(concepts, fsum(weights[concept] or UNKNOWN_WEIGHT for concept in concepts))


def meet(
    phrases: Iterable[Phrase], sentence: Sentence, weights: Weights, sentence_missing: float = SENTENCE_MISSING
) -> Meeting:
    """The phrase that fits `sentence` best; `NO_MEETING` when none shares a concept with it."""
    best = NO_MEETING
    for phrase in phrases:
        if phrase.concepts.isdisjoint(sentence.concepts):
            continue
        shared = phrase.concepts & sentence.concepts
        mass = weights.of(shared)
        missing = PHRASE_MISSING * weights.of(phrase.concepts - shared)
        missing += sentence_missing * max(0.0, sentence.mass - mass)
        score = mass / (mass + missing) if mass else 0.0
        if score > best.score:
            best = Meeting(score, mass, phrase.text)
    return best
