"""Exact ranking of one project's excerpts from postings in memory (D13).

Pure; ids only, no text. BM25 over distinct terms: an excerpt is too short for how often it says a word to matter.
A term that many excerpts hold is kept as one large number with a lane of two bytes for each, so that adding up what
forty terms say about a hundred thousand excerpts is a few additions of the machine; a rare term as a list of places.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from math import log
from typing import NamedTuple

_LANE_BYTES = 2
_MOST_TERMS = 64
_LANE_MOST = 0xFFFF - _MOST_TERMS * 32
"""Most that all terms together may say, but for rounding, so that no lane overflows into its neighbour."""
_DENSE_SHARE = 24
"""A term that one excerpt in so many holds is kept as a number."""
_B = 0.5
"""How much a long excerpt is held against it."""
_LENGTH_STEPS = 16
"""Weights of a term are told apart in so many steps by the length of the excerpt."""
_USUAL_TERMS = 60
"""Distinct terms of a usual excerpt; a constant, so that a new excerpt changes no weight."""


class Found(NamedTuple):
    """One excerpt, best first."""

    id: int
    score: float


class Postings:
    """The excerpts of one project. One thread changes and asks it at a time."""

    def __init__(self, excerpts: Iterable[tuple[int, Sequence[str]]] = ()) -> None:
        self._ids: array[int] = array("q")
        self._places: dict[str, array[int]] = {}
        self._weights: dict[str, bytearray] = {}
        self._lanes: dict[str, int] = {}
        self._based = 0
        """Excerpts that `_lanes` covers; those after it are in the lists of every term."""
        for id, terms in excerpts:
            self.add(id, terms)
        self.settle()

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, id: int, terms: Sequence[str]) -> None:
        """Take in an excerpt with these distinct terms; ids rise."""
        place = len(self._ids)
        self._ids.append(id)
        weight = _weight(len(terms))
        for term in terms:
            places = self._places.get(term)
            if places is None:
                places, self._weights[term] = self._places.setdefault(term, array("I")), bytearray()
            places.append(place)
            self._weights[term].append(weight)

    def with_more(self, excerpts: Iterable[tuple[int, Sequence[str]]]) -> "Postings":
        """These and `excerpts` in one, for a reader on another thread: what is asked meanwhile stays whole."""
        more = Postings()
        more._ids, more._lanes, more._based = array("q", self._ids), self._lanes, self._based
        more._places, more._weights = dict(self._places), dict(self._weights)
        for id, terms in excerpts:
            for term in terms:
                if term in self._places and more._places[term] is self._places[term]:
                    more._places[term] = array("I", self._places[term])
                    more._weights[term] = bytearray(self._weights[term])
            more.add(id, terms)
        return more

    @property
    def idf_of_new(self) -> float:
        """What a term is worth that no excerpt holds."""
        return log(1 + (len(self._ids) + 0.5) / 0.5)

    def settle(self) -> None:
        """Make numbers of the terms that are frequent now. Worth it when a tenth is new."""
        count = self._based = len(self._ids)
        self._lanes = {
            term: _lanes(places, self._weights[term], count)
            for term, places in self._places.items()
            if len(places) * _DENSE_SHARE >= count and len(places) > _DENSE_SHARE
        }

    @property
    def is_settled(self) -> bool:
        """Whether most excerpts are in the numbers."""
        return len(self._ids) - self._based <= max(256, self._based // 10)

    def holders(self, term: str) -> int:
        """How many excerpts hold `term`."""
        return len(self._places.get(term, ()))

    def idf(self, term: str) -> float:
        """What a term is worth: nothing when no excerpt holds it, little when many do."""
        holders = self.holders(term)
        return log(1 + (len(self._ids) - holders + 0.5) / (holders + 0.5)) if holders else 0.0

    def top(self, weights: Mapping[str, float], count: int) -> list[Found]:
        """The `count` best excerpts for terms of these weights (0 to 1); of more than 64 terms the weightiest count.

        Scores are rounded to a few percent: ask for more than are needed, and let `score` order them.
        """
        valued = ((self.idf(term) * weight, term) for term, weight in weights.items() if term in self._places)
        best = nlargest(_MOST_TERMS, valued)
        if not best or best[0][0] <= 0:
            return []
        unit = _LANE_MOST / (sum(value for value, _ in best) * _LENGTH_STEPS * 2)
        scores = self._dense([(round(value * unit), term) for value, term in best])
        for value, term in best:
            factor = round(value * unit)
            start = 0
            places, steps = self._places[term], self._weights[term]
            if term in self._lanes:
                start = bisect_left(places, self._based)
            for place, step in zip(places[start:], steps[start:], strict=True):
                scores[place] += factor * step
        found = nlargest(count, range(len(scores)), key=scores.__getitem__)
        scale = unit * _LENGTH_STEPS
        return [Found(self._ids[place], scores[place] / scale) for place in found if scores[place]]

    def score(self, weights: Mapping[str, float], terms: Sequence[str]) -> float:
        """What an excerpt with these distinct terms scores, not rounded."""
        shared = sum(weights[term] * self.idf(term) for term in terms if term in weights)
        return shared / (1 - _B + _B * len(terms) / _USUAL_TERMS)

    def _dense(self, factors: Iterable[tuple[int, str]]) -> "array[int]":
        total = 0
        for factor, term in factors:
            if term in self._lanes:
                total += self._lanes[term] * factor
        scores: array[int] = array("H")
        scores.frombytes(total.to_bytes(self._based * _LANE_BYTES, "little"))
        scores.frombytes(bytes((len(self._ids) - self._based) * _LANE_BYTES))
        return scores


def _weight(terms: int) -> int:
    """Steps that a term of an excerpt with so many terms is worth: 16 at the usual length, at most 32."""
    return max(1, min(2 * _LENGTH_STEPS, round(_LENGTH_STEPS / (1 - _B + _B * terms / _USUAL_TERMS))))


def _lanes(places: Sequence[int], weights: Iterable[int], count: int) -> int:
    lanes = array("H", bytes(count * _LANE_BYTES))
    for place, weight in zip(places, weights, strict=True):
        lanes[place] = weight
    return int.from_bytes(lanes.tobytes(), "little")
