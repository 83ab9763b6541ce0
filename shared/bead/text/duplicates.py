"""When two statements of one scope say the same, or one says what replaced the other (D2). Pure.

Two are near-duplicates when they share four fifths of their significant terms, or when they begin with the same
significant word and share three fifths of all their words: "we now ship with Y" and "we ship with X".
"""

from collections.abc import Collection
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


def fingerprint(text: str) -> Fingerprint:
    """The fingerprint of a statement."""
    words = [word for span in spans(text) if (word := span.terms[0]) not in _CHANGE]
    significant = [word for word in words if word not in STOP_WORDS]
    lead = significant[0] if significant else ""
    return Fingerprint(frozenset(words), frozenset(significant), lead, _marks(significant, lead))


def is_near_duplicate(one: Fingerprint, other: Fingerprint) -> bool:
    """Whether the two may not stand beside each other."""
    if _overlap(one.significant, other.significant) >= SAME_TERMS:
        return True
    return bool(one.lead) and one.lead == other.lead and _overlap(one.words, other.words) >= SAME_SENTENCE


def _marks(significant: Collection[str], lead: str) -> frozenset[str]:
    # Sets that share four fifths of their terms share one of the first fifth, in any fixed order of terms.
    ordered = sorted(set(significant))
    prefix = ordered[: len(ordered) - ceil(SAME_TERMS * len(ordered)) + 1]
    return frozenset([*prefix, f"lead {lead}"]) if lead else frozenset()


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
