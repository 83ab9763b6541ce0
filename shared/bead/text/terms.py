"""Text into terms: one rule for what is indexed and for what is asked.

A term is lower-case (NFKC and case folded) and holds letters, digits and `+ # - . / _ :` only, so it is one token of
the full-text table and never part of its query syntax. Pure. Weighing terms is `evidence`; ranking is the database's.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

MAX_TERM = 64
"""Longest term in characters; longer ones are cut, on both sides alike."""

TOKEN_PUNCTUATION = "+#-./_:"
"""Signs that occur inside terms: the tokenizer of the full-text table must keep them."""

# Scripts written without blanks between words: Han, kana, Hangul (whole, conjoining, half-width), Thai, Lao, Burmese,
# Khmer. Their runs become pairs of characters.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
)
# Signs that continue a word though they are no letters: accents, Hebrew and Arabic points, Indic vowels.
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff"
_WORD = rf"(?:[A-Za-z0-9_]+|(?![{_UNSPACED}])[\w{_MARKS}])+"
_PATTERN = re.compile(
    rf"[{_UNSPACED}]+"
    r"|(?<!\w)[A-Za-z]{1,2}\+\+|(?<!\w)[A-Za-z]#(?!\w)"  # languages
    rf"|{_WORD}(?:[-./:\\'’]+{_WORD})*"  # noqa: RUF001 -- the typographic apostrophe is meant
)
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]").match
_BETWEEN_SEGMENTS = re.compile(r"[/\\:]+")
_BETWEEN_PARTS = re.compile(r"[-._]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_APOSTROPHE = re.compile(r"['’](?:s\b)?")  # noqa: RUF001
# What folding brings in besides: blanks and brackets out of ligatures and numbered signs.
_FOREIGN = re.compile(r"[^\w+#\-./:\u0080-\U0010ffff]|\s")
_VOWEL = re.compile(r"[aeiouy]")
_SHORT = re.compile(r"[^aeiou][aeiouy][^aeiouywx]\Z")
_PLAIN = re.compile(r"[a-z]{4,}\Z")


class Span(NamedTuple):
    """A piece of text and the terms it stands for; `start` and `end` are character offsets into the text."""

    start: int
    end: int
    terms: tuple[str, ...]


def terms(text: str) -> list[str]:
    """Every term of `text` in order, with repetitions and stop words."""
    return [term for chunk in text.split() for term in _terms_of(chunk)]


def significant(words: Iterable[str]) -> list[str]:
    """`words` without stop words and repetitions, in order."""
    return [word for word in dict.fromkeys(words) if word not in STOP_WORDS]


def significant_terms(text: str) -> dict[str, None]:
    """`significant(terms(text))` as keys, in less time: what `text` repeats is looked at once."""
    found: dict[str, None] = {}
    for chunk in text.split():
        terms = _significant.get(chunk)
        for term in _significant_of(chunk) if terms is None else terms:
            found[term] = None
    return found


def query_terms(text: str, limit: int) -> list[str]:
    """What to look for: at most `limit` different terms; stop words only when there is nothing else."""
    found = terms(text)
    return (significant(found) or list(dict.fromkeys(found)))[:limit]


def spans(text: str) -> Iterator[Span]:
    """The words of `text` where they stand. Spans of unspaced scripts overlap: one a pair of characters."""
    for match in _PATTERN.finditer(text):
        piece = match[0]
        if _IS_UNSPACED(piece):
            yield from _pairs(piece, match.start())
        elif found := _piece_terms(piece):
            yield Span(match.start(), match.end(), found)


def stem(word: str) -> str:
    """`word` without an English plural, -ed, -ing or final -e, so that its forms meet; other words as they are.

    >>> [stem(word) for word in ("queries", "caching", "cached", "running", "string", "status")]
    ['query', 'cach', 'cach', 'run', 'string', 'status']
    >>> [stem(word) for word in ("notes", "noted", "code", "coding", "added", "fixed")]
    ['note', 'note', 'code', 'code', 'add', 'fix']
    """
    if not _PLAIN.match(word) or word in _UNSTEMMED:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    word = _singular(word)
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= 3 and _VOWEL.search(root) and not word.endswith("eed"):
            return _rooted(root)
    # Four letters keep their e: a "note" is no "not".
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


# Chunks come back: most of a turn's were in the turn before. Some 3 MB each when full; emptied then rather than kept
# by use, because a look-up that writes costs a waking processor twice the time. Longer chunks are rarely seen twice.
_KEPT_CHUNKS = 16_384
_terms: dict[str, tuple[str, ...]] = {}
_significant: dict[str, tuple[str, ...]] = {}


def _terms_of(chunk: str) -> tuple[str, ...]:
    """The terms between two blanks: no word goes across one."""
    found = _terms.get(chunk)
    if found is None:
        found = _split(chunk)
        _keep(_terms, chunk, found)
    return found


def _split(chunk: str) -> tuple[str, ...]:
    if chunk.isalpha() and chunk.isascii():
        return _piece_terms(chunk)
    pieces = _PATTERN.findall(chunk)
    if len(chunk) <= MAX_TERM:
        return tuple(term for piece in pieces for term in _piece_terms(piece))
    # A short piece of a long chunk (JSON without blanks) is a chunk by itself: the pattern would find it again, whole.
    return tuple(
        term for piece in pieces for term in (_terms_of(piece) if len(piece) <= MAX_TERM else _piece_terms(piece))
    )


def _significant_of(chunk: str) -> tuple[str, ...]:
    """`_terms_of` without stop words; kept."""
    found = tuple(term for term in _terms_of(chunk) if term not in STOP_WORDS)
    _keep(_significant, chunk, found)
    return found


def _keep(kept: dict[str, tuple[str, ...]], chunk: str, found: tuple[str, ...]) -> None:
    if len(chunk) <= MAX_TERM:
        if len(kept) >= _KEPT_CHUNKS:
            kept.clear()
        kept[chunk] = found


def _piece_terms(piece: str) -> tuple[str, ...]:
    """The terms of one match of the pattern."""
    if _IS_UNSPACED(piece):
        return tuple(term for span in _pairs(piece, 0) for term in span.terms)
    if piece[-1] in "+#":
        return (piece.lower(),)
    return tuple(clean for term in _word_terms(piece) if (clean := _clean(term)))


def _pairs(run: str, start: int) -> Iterator[Span]:
    folded = _fold(run)
    pairs = [folded[at : at + 2] for at in range(len(folded) - 1)] or [folded]
    if len(folded) != len(run):  # half-width or decomposed letters: pairs have no place of their own
        yield Span(start, start + len(run), tuple(pairs))
        return
    for at, pair in enumerate(pairs):
        yield Span(start + at, start + at + len(pair), (pair,))


def _word_terms(word: str) -> list[str]:
    if word.isascii() and word.isalpha() and word.islower():  # most words; the rest of the rule leaves them as they are
        return [stem(word)]
    word = _APOSTROPHE.sub("", unicodedata.normalize("NFKC", word))
    segments = [segment for segment in _BETWEEN_SEGMENTS.split(word) if segment]
    whole = [_fold(word).replace("\\", "/")] if len(segments) > 1 else []
    return whole + [term for segment in segments for term in _segment_terms(segment)]


def _clean(term: str) -> str:
    return (term if term.isascii() else _FOREIGN.sub("", term))[:MAX_TERM]


def _segment_terms(segment: str) -> list[str]:
    parts = [part for piece in _BETWEEN_PARTS.split(segment) for part in _CAMEL.split(piece) if part]
    if len(parts) < 2:
        return [stem(_fold(part)) for part in parts]
    return [_fold(segment), *(stem(_fold(part)) for part in parts if len(part) > 1)]


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _rooted(root: str) -> str:
    """`root` as the plain verb has it here: "not(ed)" is "note", "runn(ing)" is "run", "add(ed)" is "add"."""
    if _SHORT.match(root):
        return root + "e"
    doubled = len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz"
    return root[:-1] if doubled else root.removesuffix("e")


_IRREGULAR = {"used": "use", "using": "use", "uses": "use"}
_UNSTEMMED = frozenset({"embed", "this", "does", "these", "those", "redis", "kubernetes", "series", "always", "news"})

# Function words only. Short commands (`go get`, `make`, `not`) carry meaning in a developer's sentence and stay, but
# for the words that every sentence has.
STOP_WORDS = frozenset(
    stem(word)
    for word in """
    a about after all also am an and any are as at be because been before being but by can cannot could did do does
    doing dont for from had has have having he her here hers him his how i if in into is it its itself just let lets
    me more most my no nor not now of on only or other our ours out over own please same she should so some such than
    that the their theirs them then there these they this those through to too under until up us very was we were what
    when where which while who whom why will with would you your yours im ive id ill youre doesnt didnt isnt wont cant
    """.split()
)
