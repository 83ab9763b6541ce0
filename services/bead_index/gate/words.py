"""Text into sentences, and sentences into concepts: stems with the words for one thing folded together.

Pure. Splitting into words and English stems is `bead.text.terms`; the vocabulary is `lexicon`.
"""

import re
import unicodedata
from functools import lru_cache

from bead.text.terms import STOP_WORDS, stem, terms
from bead_index.gate import lexicon

MAX_SENTENCES = 16
"""Most sentences of one text that are read: the first and the last ones."""
_LEAST_FOREIGN = 2
"""Words of another language from which on a sentence may be of it."""
MAX_CONCEPTS = 48
"""Most concepts of one sentence; a longer one is a paste, not a request."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+|;\s")
_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_WORD = re.compile(r"(?<![\w./@-])[^\W\d_]+(?![\w/@-]|\.\w)")
_WHOLE_NUMBER = re.compile(r"[\d.,:_-]+\Z")

SYNONYMS = lexicon.synonyms()
_FOREIGN = lexicon.foreign()
_FOREIGN_STOP = lexicon.foreign_stop_words()
_FOREIGN_WORDS = _FOREIGN_STOP | _FOREIGN.keys()
FILLER = lexicon.filler()
"""Stems that every request has."""
EVERYDAY = lexicon.everyday()
"""Stems that every project has: no names of anything."""


def sentences(text: str) -> list[str]:
    """The sentences of `text` outside code blocks, at most `MAX_SENTENCES`."""
    found = [piece for piece in _SENTENCE_END.split(_CODE_BLOCK.sub("\n", text)) if piece.strip()]
    if len(found) <= MAX_SENTENCES:
        return found
    half = MAX_SENTENCES // 2
    return found[:half] + found[-half:]


def concepts(sentence: str) -> tuple[str, ...]:
    """What `sentence` is about, each concept once; empty when it has only words that every sentence has."""
    found = dict.fromkeys(concept for piece in in_english(sentence).split() for concept in _concepts_of(piece))
    return tuple(found)[:MAX_CONCEPTS]


def in_english(sentence: str) -> str:
    """`sentence` with known words of another language replaced, when most of its function words are of one."""
    found = [plain_letters(word) for word in _WORD.findall(sentence.casefold())]
    known = [word for word in found if word in _FOREIGN_WORDS]
    if len(known) < _LEAST_FOREIGN:
        return sentence
    # Words that are English as well, such as "on" or "do", speak for neither side.
    foreign = sum(not _is_english(word) for word in known)
    english = sum(word in STOP_WORDS and word not in _FOREIGN_STOP for word in found)
    if foreign < _LEAST_FOREIGN or foreign <= english:
        return sentence
    return _WORD.sub(lambda match: _translated(match[0]), sentence)


@lru_cache(maxsize=32_768)
def _concepts_of(piece: str) -> tuple[str, ...]:
    """The concepts of a piece without blanks; no term crosses a blank."""
    return tuple(
        SYNONYMS.get(word, word)
        for word in terms(piece)
        if word not in STOP_WORDS and word not in FILLER and len(word) > 1 and not _WHOLE_NUMBER.match(word)
    )


@lru_cache(maxsize=8_192)
def _is_english(word: str) -> bool:
    return word in STOP_WORDS or stem(word) in SYNONYMS or stem(word) in FILLER


def _translated(word: str) -> str:
    plain = plain_letters(word.casefold())
    if plain in _FOREIGN_STOP:
        return "the"
    for ending in ("", "s", "e", "n", "en", "es"):
        if (english := _FOREIGN.get(plain.removesuffix(ending))) is not None:
            return english
    return word


@lru_cache(maxsize=8_192)
def plain_letters(word: str) -> str:
    """`word` without accents: "prüfen" is "prufen", "ß" is "ss".

    >>> plain_letters("größe")
    'grosse'
    """
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))
