"""Finds what a person asks bead to remember, in the words they used (I13).

Pure. The text must be the person's typing already (`spoken`); which of its lines are pasted is `pasted`'s, writing the
fact and scanning it is capture's business. Cautious on purpose: a wish becomes a fact at the highest trust, so
questions, quotations and a sentence about remembering are no wish. Whoever is missed can still use `bead remember`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from bead_proxy import elements, pasted

LONGEST_WISH_CHARACTERS = 600
"""A longer sentence is more likely pasted than said."""
MOST_WISHES = 20
"""Wishes taken from one message."""

_ADDRESS = r"hey|hi|ok|okay|bead|claude|codex|oh|now|so|then|always|just|also|and|but|thanks|great|please|pls|kindly"
_NOTICE = r"important|note|p\.?s\.?|fyi|btw|by the way|one more thing|reminder|from now on|for the future"
_REQUEST = (
    r"(?:can|could|would|will) you|i(?:['\u2019]d| would)? (?:want|need|like) you to|i['\u2019]d like you to"
    r"|you (?:should|must|need to|have to)|(?:make|be) sure (?:to|you)|let['\u2019]s"
)
_FOREIGN_LEAD = r"bitte|und|auch|außerdem|s['\u2019]il (?:te|vous) pla[iî]t|et|aussi|por favor|y|también|per favore|e"
_LEAD = rf"(?:(?:{_ADDRESS}|{_NOTICE}|{_REQUEST}|{_FOREIGN_LEAD})(?:\s*[,:;!—–-]+)?\s+)*"  # noqa: RUF001 -- dashes people type

# How each language asks, with the word that opens what is to be remembered.
_FOR_HOW_LONG = r"forever|always|for(?: the)? (?:later|future|good|next time)|from now on|please|well|too|as well"
_ASKS = (
    r"remember,? (?:that|to)\b",
    r"remember(?: (?:this|that|it|these|the following)(?: (?:facts?|things?|rules?|points?|notes?))?)?"
    rf"(?: (?:{_FOR_HOW_LONG}))*\s*:",
    r"(?:keep|bear) in mind(?:,? that\b|\s*:)",
    r"(?:do(?:n['\u2019]?t| not)|never) forget(?:,? that\b|\s*:)",
    r"note (?:for later|to self|for the future)\s*:",
    r"(?:make a note|take note) that\b",
    r"for future reference\s*[,:]",
    r"memori[sz]e(?: that\b| this\s*:|\s*:)",
    r"commit (?:this )?to memory\s*:",
    r"merke?(?: dir)?(?: bitte)?(?:\s*,)?(?: dass\b|\s*:)",
    r"(?:vergiss(?: bitte)? nicht|denke?(?: bitte)? (?:immer )?daran)(?:\s*,)?(?: bitte)?(?:\s*,)?(?: dass\b|\s*:)",
    r"(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|n['\u2019]oublie[sz]? pas|retiens)"
    r"(?: bien)?(?: que\b| qu['\u2019]|\s*:)",
    r"(?:recuerda|no olvides|acuérdate de|recuerde|ten en cuenta)(?: bien)?(?: que\b|\s*:)",
    r"(?:ricorda(?:ti)?|non dimenticare)(?: bene)?(?: che\b|\s*:)",
    r"(?:lembre-se|lembra-te|lembre|não (?:se )?esqueça)(?: bem)?(?: de)?(?: que\b|\s*:)",
    r"onthoud(?: dat\b|\s*:)",
    r"[请請]?[记記]住[：:，,]?",  # noqa: RUF001 -- full-width signs belong to the language
    r"覚えておいて[：:、。]?",  # noqa: RUF001
)
_ASK = rf"(?:{'|'.join(_ASKS)})\**"
# Each of them holds one of these, and most messages hold none: those need no closer look.
_MAY_ASK = (
    "remember", "in mind", "forget", "note", "for future reference", "memor", "merk", "vergiss", "denk", "souv",
    "rappel", "oublie", "retiens", "recuerd", "olvid", "acuérdate", "ten en cuenta", "ricord", "dimentic", "lembr",
    "esqueça", "onthoud", "住", "覚えて",
)  # fmt: skip
_BEGINS = r"[\s*_]{0,8}(?:(?:[-*•+]|\d{1,3}[.)])\s{1,8})?[*_]{0,3}"
_AT_START = re.compile(rf"{_BEGINS}{_LEAD}(?:{_ASK}|remember\b)", re.IGNORECASE)
_WITH_OPENING = re.compile(rf"{_BEGINS}{_LEAD}{_ASK}", re.IGNORECASE)
_AFTER_PLEASE = re.compile(rf"\b(?:please|pls|bitte|por favor)[,:]?\s+{_ASK}", re.IGNORECASE)
_AFTER_AND = re.compile(
    r"(?:\b(?:and|also)[,:]?\s+(?:also\s+)?(?:remember|keep in mind)(?:,? that\b|\s*:)"
    r"|\bund merke? dir(?:\s*,)? dass\b|\bet souviens-toi (?:que\b|qu['\u2019])|\by recuerda que\b)",
    re.IGNORECASE,
)
# "I want you to fix it and remember that …" tells nobody about somebody.
_BIDDING = re.compile(rf"{_BEGINS}{_LEAD}", re.IGNORECASE)
# Before "… and remember that …" these show that somebody is told about, not bidden.
_TELLS = re.compile(
    r"\b(?:i|we|they|he|she|it|who|users?|people|everyone|nobody|anyone|someone|do|does|did|can|can['\u2019]?t|cannot|could"
    r"|will|would|should|must|may|to|ich|wir|sie|je|nous|ils|yo|nosotros)\b",
    re.IGNORECASE,
)
# "Remember when …", "remember how …": a memory of two people, not a wish.
_REMINISCES = re.compile(
    r"(?:when|how|why|what|who|whom|whose|where|which|whether|if|last|back|the (?:time|day|other)|seeing|reading"
    r"|doing|having|being|from|me|us|him|her|them)\b",
    re.IGNORECASE,
)
_POINTS_ELSEWHERE = re.compile(
    r"(?:all (?:of )?)?(?:this|that|it|these|those)(?: (?:for|in|as|please|later|too|next|well|one|time)\b.*)?",
    re.IGNORECASE,
)
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

# Code and quotations are somebody else's words; a quotation that is not closed reaches to the end of the paragraph.
_OTHERS_WORDS = re.compile(r"(`{1,3})[^`]*\1|\"[^\"]*(?:\"|$)|“[^”]*(?:”|$)|«[^»]*(?:»|$)|„[^“”]*(?:[“”]|$)")
_CHARACTER = re.compile(r"[^\n]")
_END = re.compile(r"[.!?…]+(?=[\"'”’)\]*_]*(?:\s|$))|[。！？]+")  # noqa: RUF001
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|incl|no|dr|mr|mrs|z\.B|d\.h|ca|bzw|p\.ex|p\.s|ps)|^\s*\d+)$", re.IGNORECASE
)
_LONGEST_ABBREVIATION = 8
_TRAILING = " \t.!…。！*_"  # noqa: RUF001
_ITEM = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)])\s+(?=\S)")

# What the person says about themselves holds in every project, what is theirs in a project does not.
_ABOUT_PERSON = re.compile(
    r"(?:always |please |bitte |to )*(?:"
    r"i(?:['\u2019](?:m|ve|d|ll))?|my|me|mine|(?:call|address|answer|reply to) me"
    r"|ich|mein(?:e[nmrs]?)?|mich|mir|nenn mich"
    r"|je|moi|mon|ma|mes|appelle-moi|(?:j|m)['\u2019]\w+"
    r"|yo|mi|mis|me|prefiero|trabajo|vivo|uso|soy|tengo|llámame"
    r"|eu|meus?|minhas?|prefiro|trabalho|moro|sou|tenho"
    r")(?!\w)",
    re.IGNORECASE,
)
_ABOUT_PROJECT = re.compile(
    r"\b(?:th(?:is|e) (?:project|repo(?:sitory)?|codebase|app|service|package|branch|team)"
    r"|my (?:project|repo(?:sitory)?|codebase|code|app|service|server|api|branch|build|tests?|database|team)"
    r"|(?:dies\w*|mein\w*|im) (?:projekt|repo(?:sitory)?)|(?:ce|mon) (?:projet|dépôt)"
    r"|(?:este|mi|meu) (?:proyecto|projeto|repositorio|repositório))\b|\bhere\b",
    re.IGNORECASE,
)


class Wish(NamedTuple):
    """What is to be remembered."""

    text: str
    about_person: bool
    """Whether it is about the person, whatever the project."""


def wishes(typed: str) -> tuple[Wish, ...]:
    """What `typed` asks to remember, in order: sentences without the words that ask, and without a full stop.

    "remember to run X" gives "run X". A list below words that ask gives a wish for each of its items, below a sentence
    ("remember that we use:") one wish with the list. Which sentences count is `pasted.said`'s rule: those of the first
    and the last paragraph, others alone on their line, none in or behind what looks pasted; and none inside an element
    `<name> … </name>`. At most `MOST_WISHES`; each at most `LONGEST_WISH_CHARACTERS`, longer ones are refused whole
    rather than cut.
    """
    folded = typed.casefold()
    if not any(word in folded for word in _MAY_ASK):
        return ()
    found: dict[str, Wish] = {}
    for paragraph in pasted.said(*elements.outside(typed)):
        for wish in _wishes_of(paragraph):
            if _says_something(wish) and len(found) < MOST_WISHES:
                found.setdefault(wish, Wish(wish, _is_about_person(wish)))
    return tuple(found.values())


def _wishes_of(paragraph: pasted.Paragraph) -> Iterator[str]:
    lines = _lines(paragraph)
    at = 0
    while at < len(lines):
        masked, written = lines[at]
        at += 1
        sentences = list(_sentences(masked, written))
        if paragraph.alone_only and len(sentences) > 1:
            continue
        asked = [_asked_for(*sentence) for sentence in sentences]
        yield from (_tidy(words) for words in asked[:-1] if words is not None)
        if (last := asked[-1]) is not None:
            below = _items(lines, at) or ([] if _tidy(last) else _next_line(masked, lines[at : at + 1]))
            at += len(below)
            yield from _with_items(last, below)


def _lines(paragraph: pasted.Paragraph) -> list[tuple[str, str]]:
    """Each line masked and as written.

    Masked, with code and quotations blotted out and every character in its place, it is searched for words that ask.
    """
    blotted = _OTHERS_WORDS.sub(lambda match: _CHARACTER.sub("\0", match[0]), "\n".join(paragraph.lines))
    return list(zip(blotted.split("\n"), paragraph.written, strict=True))


def _items(lines: list[tuple[str, str]], at: int) -> list[str]:
    """The list that begins there, without its marks."""
    found: list[str] = []
    for masked, written in lines[at:]:
        mark = _ITEM.match(masked)
        if mark is None or _asked_for(masked, written) is not None:
            break
        found.append(_tidy(written[mark.end() :]))
    return found


def _next_line(asking: str, lines: list[tuple[str, str]]) -> list[str]:
    """The line below one that ends in "remember this:", alone, unless it asks for something itself."""
    if not asking.rstrip(" \t*_").endswith(":"):
        return []
    return [_tidy(written) for masked, written in lines if _asked_for(masked, written) is None and "?" not in masked]


def _with_items(words: str, items: list[str]) -> Iterator[str]:
    if not items:
        yield _tidy(words)
    elif not _tidy(words):
        yield from items
    elif words.rstrip().endswith(":"):
        yield "\n- ".join((words.strip(), *items))
    else:
        yield _tidy(words)


def _sentences(masked: str, line: str) -> Iterator[tuple[str, str]]:
    """Each sentence of a line with its end mark, masked and as written."""
    start = 0
    for end in _END.finditer(masked):
        if not _is_abbreviation(masked, start, end):
            yield masked[start : end.end()], line[start : end.end()]
            start = end.end()
    if masked[start:].strip() or not start:
        yield masked[start:], line[start:]


def _is_abbreviation(line: str, start: int, end: re.Match[str]) -> bool:
    if end[0] != "." or end.end() == len(line):
        return False
    before = line[max(start, end.start() - _LONGEST_ABBREVIATION) : end.start()]
    return _ABBREVIATION.search(before) is not None


def _asked_for(masked: str, sentence: str) -> str | None:
    """What `sentence` asks to remember, None when it does not ask."""
    if sentence.rstrip(" \t\"'\u2019”)]*_").endswith(("?", "？")):  # noqa: RUF001
        return None
    asked = _WITH_OPENING.match(masked) or _in_the_middle(masked)
    if asked is None:
        asked = _AT_START.match(masked)
        if asked is None or _REMINISCES.match(masked[asked.end() :].lstrip(" ,")):
            return None
    return sentence[asked.end() :].lstrip(" \t,:*_")


def _tidy(words: str) -> str:
    return words.strip().rstrip(_TRAILING)


def _in_the_middle(masked: str) -> re.Match[str] | None:
    """Words that ask after "please" anywhere, after "and" where nobody is told about."""
    if asked := _AFTER_PLEASE.search(masked):
        return asked
    asked = _AFTER_AND.search(masked)
    if asked is None:
        return None
    bidding = _BIDDING.match(masked)
    return None if _TELLS.search(masked, bidding.end() if bidding else 0, asked.start()) else asked


def _says_something(wish: str) -> bool:
    if len(wish) > LONGEST_WISH_CHARACTERS or _POINTS_ELSEWHERE.fullmatch(wish):
        return False
    return len(wish.split()) > 1 or len(_WIDE.findall(wish)) > 3


def _is_about_person(wish: str) -> bool:
    return _ABOUT_PERSON.match(wish) is not None and _ABOUT_PROJECT.search(wish) is None
