"""Finds forgotten words in a new text without knowing them: keyed hashes of runs of words (I5).

A span is known by how many words it has, a short tag of its longest word, and a hash of all of them. A text is looked
at word by word, so that one without any such word costs a short hash for each different word and nothing more. Pure:
keeping the hashes is `tombstones`, what is forgotten of a turn is `forgetsteps`.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from bead_store.values import END_SIGNS, fold, needles

FORGOTTEN = "[forgotten]"
MOST_WORDS = 2_000
"""A longer text is no span: what it says is found by its sentences."""
_WHOLE_WORDS = 5
"""A turn of fewer words, "go on" say, is nothing that only this person could have said."""
_SENTENCE_WORDS = 200

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
)
# What cannot be seen, and accents that stand alone, separate no words.
_INSIDE = "\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff\u0300-\u036f"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[\w{_INSIDE}])+")
_ESCAPED_WORD = re.compile(rf"\\[nrtbf]|{_WORD.pattern}")
"""As JSON spells it: what follows a line's end does not begin with an `n`."""
_SENTENCE = re.compile(r"[^.!?\n\u3002]+")


class Span(NamedTuple):
    """One run of forgotten words, as hashes."""

    tag: str
    """Of its longest word, a few bits only."""
    at: int
    """Which word that is."""
    words: int
    mac: str
    """Of all its words."""
    of: str = ""
    """The value with which it is lifted."""


class Hashes(NamedTuple):
    """How words are hashed under the key of this home."""

    tag: Callable[[str], str]
    mac: Callable[[str], str]


class Spans:
    """An immutable set of spans; any thread may ask."""

    def __init__(self, spans: Iterable[Span], hashes: Hashes) -> None:
        self._hashes = hashes
        self._by_tag: defaultdict[str, list[Span]] = defaultdict(list)
        for span in spans:
            self._by_tag[span.tag].append(span)

    def redacted(self, text: str) -> str:
        """`text` with every forgotten span replaced; `text` itself when there is none."""
        places = [(start, end) for start, end, _ in self._places(text)] if self._by_tag else []
        if not places:
            return text
        pieces: list[str] = []
        at = 0
        for start, end in _joined(sorted(places)):
            pieces += [text[at:start], FORGOTTEN]
            at = end
        return "".join([*pieces, text[at:]])

    def found(self, text: str) -> set[Span]:
        """The spans that `text` says."""
        return {span for _, _, span in self._places(text)}

    def _places(self, text: str) -> list[tuple[int, int, Span]]:
        found = self._among(text, [(match.start(), match.end()) for match in _WORD.finditer(text)])
        if "\\" in text:
            matches = _ESCAPED_WORD.finditer(text)
            found += self._among(text, [(each.start(), each.end()) for each in matches if each[0][0] != "\\"])
        return found

    def _among(self, text: str, found: list[tuple[int, int]]) -> list[tuple[int, int, Span]]:
        words = _folded(text, found)
        known: Mapping[str, list[Span]] = {
            word: self._by_tag[tag] for word in set(words) if (tag := self._hashes.tag(word)) in self._by_tag
        }
        if not known:
            return []
        return [
            (found[first][0], _with_end_signs(text, found[last][1]), span)
            for number, word in enumerate(words)
            if word in known
            for first, last, span in self._around(words, number, known[word])
        ]

    def _around(self, words: list[str], number: int, spans: list[Span]) -> Iterator[tuple[int, int, Span]]:
        for span in spans:
            first = number - span.at
            end = first + span.words
            if first >= 0 and end <= len(words) and self._hashes.mac(" ".join(words[first:end])) == span.mac:
                yield first, end - 1, span


def span_of(text: str, hashes: Hashes, of: str = "") -> Span | None:
    """The span that stands for all words of `text`; None where there are none, or too many."""
    words = _folded(text, [(match.start(), match.end()) for match in _WORD.finditer(text)])
    if not 0 < len(words) <= MOST_WORDS:
        return None
    at = max(range(len(words)), key=lambda number: len(words[number]))
    return Span(hashes.tag(words[at]), at, len(words), hashes.mac(" ".join(words)), of)


def texts_of_value(value: str) -> tuple[str, ...]:
    """A value as it is and as JSON spells it."""
    return needles((value,))


def texts_of_turn(text: str, holds: Callable[[str], bool]) -> Iterator[str]:
    """What of a forgotten turn must not be captured again: all of it said once more, and each sentence that `holds`."""
    if _WHOLE_WORDS <= sum(1 for _ in zip(_WORD.finditer(text), range(MOST_WORDS + 1), strict=False)) <= MOST_WORDS:
        yield text
    for match in _SENTENCE.finditer(text):
        sentence = match.group()
        if len(sentence) <= _SENTENCE_WORDS * 20 and holds(sentence):
            yield sentence


def _folded(text: str, places: list[tuple[int, int]]) -> list[str]:
    if text.isascii():
        lowered = text.lower()
        return [lowered[start:end] for start, end in places]
    return [fold(text[start:end]) for start, end in places]


def _with_end_signs(text: str, end: int) -> int:
    while end < len(text) and text[end] in END_SIGNS and text[end] != " ":
        end += 1
    return end


def _joined(places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    start, end = -1, -1
    for first, last in places:
        if first > end:
            if end >= 0:
                yield start, end
            start, end = first, last
        else:
            end = max(end, last)
    if end >= 0:
        yield start, end
