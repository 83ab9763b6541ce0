"""Sentences against phrases: how well a sentence meets one of many short phrases, by shared concepts.

Pure. Concepts come from `words`; weighing a match against other signs is `features`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import log
from typing import NamedTuple

UNKNOWN_WEIGHT = 0.5
"""Weight of a concept that no fact has, in a sentence: it neither speaks for a phrase nor counts in full against it."""
PHRASE_MISSING = 0.5
SENTENCE_MISSING = 0.3
"""How much of what only one side says counts against a match: a sentence may say more than a phrase expects."""


class Meeting(NamedTuple):
    """The best phrase of one fact for one sentence."""

    score: float
    """0 to 1: what both say, against what only one of them says."""
    mass: float
    """Summed weight of what both say; 1 is one concept that only this fact has."""
    phrase: str


class PhraseIndex:
    """Phrases by owner with their postings. Owners are counted for the weight of a concept, not phrases."""

    def __init__(self) -> None:
        self._phrases: dict[int, tuple[str, str, tuple[str, ...]]] = {}
        self._of_owner: dict[str, list[int]] = {}
        self._postings: dict[str, dict[int, None]] = defaultdict(dict)
        self._owners: Counter[str] = Counter()
        self._next = 0

    def __len__(self) -> int:
        return len(self._of_owner)

    def put(self, owner: str, phrases: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        """Let `owner` have exactly these `phrases`, each with its concepts."""
        self.drop(owner)
        ids = self._of_owner[owner] = []
        for phrase, concepts in phrases:
            if not concepts:
                continue
            self._phrases[self._next] = owner, phrase, concepts
            ids.append(self._next)
            for concept in concepts:
                self._postings[concept][self._next] = None
            self._next += 1
        self._owners.update({concept for number in ids for concept in self._phrases[number][2]})

    def drop(self, owner: str) -> None:
        """Forget the phrases of `owner`."""
        ids = self._of_owner.pop(owner, [])
        gone = {concept for number in ids for concept in self._phrases[number][2]}
        for number in ids:
            for concept in self._phrases.pop(number)[2]:
                del self._postings[concept][number]
        for concept in gone:
            if not self._postings[concept]:
                del self._postings[concept]
            self._owners[concept] -= 1
            if not self._owners[concept]:
                del self._owners[concept]

    def owners(self, concept: str) -> int:
        """How many owners have `concept`."""
        return self._owners.get(concept, 0)

    def with_concept(self, concept: str) -> Iterable[int]:
        """Phrases that hold `concept`."""
        return self._postings.get(concept, {})

    def phrase(self, number: int) -> tuple[str, str, tuple[str, ...]]:
        """Owner, text and concepts of one phrase."""
        return self._phrases[number]


def rarity(owners: int, total: int) -> float:
    """Weight of a concept that `owners` of `total` facts have: 1 for one owner, towards 0 for all."""
    return log(1 + total / owners) / log(1 + total) if owners else 0.0


class Weights(dict[str, float]):
    """Weight of each concept among the facts of several indexes, worked out when first asked for."""

    def __init__(self, indexes: Sequence[PhraseIndex]) -> None:
        super().__init__()
        self._indexes = indexes
        self._total = sum(len(index) for index in indexes)
        self._masses: dict[tuple[int, int], float] = {}

    def __missing__(self, concept: str) -> float:
        owners = sum(index.owners(concept) for index in self._indexes)
        self[concept] = weight = rarity(owners, self._total)
        return weight

    def sentence_mass(self, sentence: Iterable[str]) -> float:
        """Summed weight of what a person's or the agent's sentence says."""
        return sum(self[concept] or UNKNOWN_WEIGHT for concept in sentence)

    def phrase_mass(self, index: PhraseIndex, number: int) -> float:
        """Summed weight of what a phrase says."""
        key = id(index), number
        if key not in self._masses:
            self._masses[key] = sum(self[concept] for concept in index.phrase(number)[2])
        return self._masses[key]


def overlap(index: PhraseIndex, sentence: Sequence[str], weights: Weights) -> dict[str, float]:
    """For each owner the summed weight of what it shares with `sentence`; owners have one phrase."""
    shared: dict[str, float] = defaultdict(float)
    for concept in sentence:
        for number in index.with_concept(concept):
            shared[index.phrase(number)[0]] += weights[concept]
    return shared


def meet(
    index: PhraseIndex, sentence: Sequence[str], weights: Weights, sentence_missing: float = SENTENCE_MISSING
) -> dict[str, Meeting]:
    """For each owner with a phrase that shares a concept with `sentence`: the best such phrase."""
    shared: dict[int, float] = defaultdict(float)
    for concept in sentence:
        weight = weights[concept]
        for number in index.with_concept(concept):
            shared[number] += weight
    sentence_mass = weights.sentence_mass(sentence)
    best: dict[str, Meeting] = {}
    for number, mass in shared.items():
        missing = PHRASE_MISSING * (weights.phrase_mass(index, number) - mass)
        missing += sentence_missing * (sentence_mass - mass)
        score = mass / (mass + max(0.0, missing))
        owner, text, _ = index.phrase(number)
        if owner not in best or score > best[owner].score:
            best[owner] = Meeting(score, mass, text)
    return best
