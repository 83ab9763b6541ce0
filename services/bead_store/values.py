"""When two texts say the same: folding for search, and the normal form that tombstones hash.

Pure. Hashing is `tombstones`, searching files is `redaction` and `conversations`.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

MIN_SEARCHED_CHARS = 3
"""A shorter value stands in too much that has nothing to do with it; it is found by citation only."""

# Format characters and variation selectors: what cannot be seen makes no other value. A list of our own, because
# `unicodedata` grows with Python and a hash must not change with it.
_UNSEEN = re.compile(
    "[\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f"
    "\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_ASCII = bytes(range(128))
END_SIGNS = " .,;:!?\u3002\u3001"


def fold(text: str) -> str:
    """`text` without differences of case, width, composition and white space."""
    if text.isascii():
        folded = text.lower()
    else:
        folded = unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).casefold()
        folded = unicodedata.normalize("NFKC", _UNSEEN.sub("", folded))
    return " ".join(folded.split())


def normal(text: str) -> str:
    """The form of a value that is hashed: folded, and without the punctuation at its end.

    FROZEN: tests/vectors/normal-values.tsv pins it. Another result would let forgotten values come back.
    """
    folded = fold(text)
    return folded.rstrip(END_SIGNS) or folded


def needles(values: Iterable[str]) -> tuple[str, ...]:
    """What to look for in folded text so that each value is found as it is and as JSON spells it."""
    found: dict[str, None] = {}
    for value in values:
        for spelled in (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
            needle = normal(spelled)
            if len(needle) >= MIN_SEARCHED_CHARS:
                found[needle] = None
    return tuple(found)


def holds(text: str, wanted: Sequence[str]) -> bool:
    """Whether `text` holds one of these needles."""
    if not may_hold(text.encode("utf-8", "replace"), wanted):
        return False
    folded = fold(text)
    return any(needle in folded for needle in wanted)


def may_hold(data: bytes, wanted: Sequence[str]) -> bool:
    """False when a look at the bytes shows that their text cannot hold any of these needles; a hundredth of the work.

    A word of ASCII stands there as it is, but for its case, unless a character that folds into one of its letters, or
    one that cannot be seen, hides it.
    """
    lowered = data.lower()
    others: set[str] | None = None
    for needle in wanted:
        word = ascii_word(needle)
        if word.encode() in lowered:
            return True
        if others is None:
            others = set() if data.isascii() else set(data.translate(None, _ASCII).decode("utf-8", "replace"))
        letters = frozenset(word)
        if any(_is_unseen(char) or not letters.isdisjoint(_folded(char)) for char in others):
            return True
    return False


def ascii_word(needle: str) -> str:
    """The longest word of ASCII in a needle; empty, which is in every text, when there is none."""
    return max((word for word in needle.split() if word.isascii()), key=len, default="")


@lru_cache(maxsize=1 << 16)
def _folded(char: str) -> str:
    return fold(char)


@lru_cache(maxsize=1 << 16)
def _is_unseen(char: str) -> bool:
    return bool(_UNSEEN.match(char))
