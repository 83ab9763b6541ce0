"""When two statements of one scope say the same, or one says what replaced the other (D2). Pure.

Two are near-duplicates when they share four fifths of their significant terms, or when they begin with the same
significant word, share three fifths of all their words and differ in one place: "we now ship with Y" and "we ship with
X". Two that differ in what they are about and in what they say of it, "the api listens on 8080" and "the web server
listens on 8081", are two facts.
"""

from collections.abc import Collection, Sequence
from math import ceil
from typing import NamedTuple

from bead.text.terms import STOP_WORDS, spans

SAME_TERMS = 0.8
SAME_SENTENCE = 0.6

# Words that announce a change or deny: "use tabs" and "never use tabs" are two answers to one question.
_CHANGE = frozenset(
    """again already always anymore cannot cant currently dont finally instead longer never no not now wont""".split()
)


class Fingerprint(NamedTuple):
    """What is compared of one statement."""

    words: frozenset[str]
    """One term a word, change words and denials left out."""
    significant: frozenset[str]
    lead: str
    """First significant term; empty when there is none."""
    marks: frozenset[str]
    """Two near-duplicates share at least one of these."""
    order: tuple[str, ...]
    """Its significant terms as they come."""


def fingerprint(text: str) -> Fingerprint:
    """The fingerprint of a statement."""
    words = [word for span in spans(text) if (word := span.terms[0]) not in _CHANGE]
    significant = [word for word in words if word not in STOP_WORDS]
    lead = significant[0] if significant else ""
    return Fingerprint(frozenset(words), frozenset(significant), lead, _marks(significant, lead), tuple(significant))


def is_near_duplicate(one: Fingerprint, other: Fingerprint) -> bool:
    """Whether the two may not stand beside each other."""
    if _overlap(one.significant, other.significant) >= SAME_TERMS:
        return True
    if not one.lead or one.lead != other.lead or _overlap(one.words, other.words) < SAME_SENTENCE:
        return False
    return _replaced(one, other) <= 1


def _replaced(one: Fingerprint, other: Fingerprint) -> int:
    """In how many places, at most, one says something and the other something else; additions do not count."""
    return min(_runs(one.order, other.order), _runs(other.order, one.order))


def _runs(words: Sequence[str], known: Sequence[str]) -> int:
    """How many runs of words there are that are not `known`, or not so often."""
    left = list(known)
    runs, was_known = 0, True
    for word in words:
        is_known = word in left
        if is_known:
            left.remove(word)
        runs += was_known and not is_known
        was_known = is_known
    return runs


def _marks(significant: Collection[str], lead: str) -> frozenset[str]:
    # Sets that share four fifths of their terms share one of the first fifth, in any fixed order of terms.
    ordered = sorted(set(significant))
    prefix = ordered[: len(ordered) - ceil(SAME_TERMS * len(ordered)) + 1]
    return frozenset([*prefix, f"lead {lead}"]) if lead else frozenset()


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
