"""Finds what a person asks bead to remember, in the words they used (I13).

Pure. The text must be the person's own already (`human`); writing the fact and scanning it is capture's business.
Cautious on purpose: a wish becomes a fact at the highest trust, so quotes, code, logs and questions never count, and a
sentence about remembering is no wish. Whoever is missed can still use `bead remember`.
"""

import re
from collections.abc import Iterator

from bead_proxy import human

LONGEST_WISH_CHARACTERS = 600
"""A longer sentence is more likely pasted than said."""
MOST_WISHES = 20
"""Wishes taken from one message."""

_ADDRESS = r"hey|hi|ok|okay|bead|claude|codex|oh|now|so|then|always|just|also|and|but|thanks|great|please|pls|kindly"
_NOTICE = r"important|note|p\.?s\.?|fyi|btw|by the way|one more thing|reminder|from now on|for the future"
_REQUEST = (
    r"(?:can|could|would|will) you|i(?:['\u2019]d| would)? (?:want|need|like) you to|i['\u2019]d like you to"
    r"|you should|let['\u2019]s"
)
_FOREIGN_LEAD = r"bitte|und|auch|außerdem|s['\u2019]il (?:te|vous) pla[iî]t|et|aussi|por favor|y|también|per favore|e"
_LEAD = rf"(?:(?:{_ADDRESS}|{_NOTICE}|{_REQUEST}|{_FOREIGN_LEAD})(?:\s*[,:;!—–-]+)?\s+)*"  # noqa: RUF001 -- dashes people type

# How each language asks, with the word that opens what is to be remembered.
_ASKS = (
    r"remember,? (?:that|to)\b",
    r"remember(?: (?:this|these|the following))?\s*:",
    r"(?:do(?:n['\u2019]?t| not)|never) forget that\b",
    r"note (?:for later|to self|for the future)\s*:",
    r"(?:make a note|take note) that\b",
    r"for future reference\s*[,:]",
    r"memori[sz]e(?: that\b| this\s*:|\s*:)",
    r"commit (?:this )?to memory\s*:",
    r"merke? dir(?: bitte)?(?:\s*,)?(?: dass\b|\s*:)",
    r"(?:vergiss nicht|denke? daran)(?:\s*,)? dass\b",
    r"(?:souviens-toi|souvenez-vous|rappelle-toi|n['\u2019]oublie pas|retiens)(?: que\b| qu['\u2019]|\s*:)",
    r"(?:recuerda|no olvides|acuérdate de|recuerde)(?: que\b|\s*:)",
    r"(?:ricorda(?:ti)?|non dimenticare)(?: che\b|\s*:)",
    r"(?:lembre-se(?: de)?|lembra-te(?: de)?)(?: que\b|\s*:)",
    r"onthoud(?: dat\b|\s*:)",
    r"[请請]?[记記]住[：:，,]?",  # noqa: RUF001 -- full-width signs belong to the language
    r"覚えておいて[：:、。]?",  # noqa: RUF001
)
_ASK = rf"(?:{'|'.join(_ASKS)})\**"
_BEGINS = r"[\s*_]{0,8}(?:(?:[-*•+]|\d{1,3}[.)])\s{1,8})?[*_]{0,3}"
_AT_START = re.compile(rf"{_BEGINS}{_LEAD}(?:{_ASK}|remember\b)", re.IGNORECASE)
_WITH_OPENING = re.compile(rf"{_BEGINS}{_LEAD}{_ASK}", re.IGNORECASE)
_AFTER_PLEASE = re.compile(rf"\b(?:please|pls|bitte|por favor)[,:]?\s+{_ASK}", re.IGNORECASE)
_AFTER_AND = re.compile(
    r"(?:\b(?:and|also)[,:]?\s+(?:also\s+)?remember(?:,? that\b|\s*:)"
    r"|\bund merke? dir(?:\s*,)? dass\b|\bet souviens-toi (?:que\b|qu['\u2019])|\by recuerda que\b)",
    re.IGNORECASE,
)
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

_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_NOT_SAID = re.compile(
    r"\s*>|\s*\||\t| {4}|\s*<"  # quotes, tables, code, markup
    r"|\s*[\[(]?\d{4}-\d\d-\d\d|\s*[\[(]?\d\d:\d\d:\d\d"
    r"|\s*\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\b"
    r"|\s*\[[\w .:/-]+\]\s|\s*[\w.-]+\[\d+\]:|\s*[$%#] |\s*(?:Traceback|File \"|at \S+[(:])"
)
# Code and quotations are somebody else's words; a quotation that is not closed reaches to the end of the paragraph.
_OTHERS_WORDS = re.compile(r"(`{1,3})[^`]*\1|\"[^\"]*(?:\"|$)|“[^”]*(?:”|$)|«[^»]*(?:»|$)|„[^“”]*(?:[“”]|$)")
_CHARACTER = re.compile(r"[^\n]")
_END = re.compile(r"[.!?…]+(?=[\"'”’)\]*_]*(?:\s|$))|[。！？]+")  # noqa: RUF001
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|incl|no|dr|mr|mrs|z\.B|d\.h|ca|bzw|p\.ex|p\.s|ps)|^\s*\d+)$", re.IGNORECASE
)
_LONGEST_ABBREVIATION = 8
_TRAILING = " \t.!…。！*_"  # noqa: RUF001


def wishes(human_text: str) -> tuple[str, ...]:
    """What `human_text` asks to remember, in order: sentences without the words that ask, and without a full stop.

    "remember to run X" gives "run X". At most `MOST_WISHES`; each at most `LONGEST_WISH_CHARACTERS`, longer ones are
    refused whole rather than cut.
    """
    found: dict[str, None] = {}
    for paragraph in _said_paragraphs(human.without_wrappers(human_text)):
        for masked, sentence in _sentences(paragraph):
            wish = _wish(masked, sentence)
            if wish and len(found) < MOST_WISHES:
                found[wish] = None
    return tuple(found)


def _said_paragraphs(text: str) -> Iterator[str]:
    """Lines in a row that a person says; code, quotes and logs are left out, and everything after an unclosed fence."""
    is_code = False
    paragraph: list[str] = []
    for line in text.splitlines():
        is_fence = _FENCE.match(line) is not None
        is_code ^= is_fence
        if not (is_code or is_fence or _NOT_SAID.match(line)) and line.strip():
            paragraph.append(line)
            continue
        yield "\n".join(paragraph)
        paragraph = []
    yield "\n".join(paragraph)


def _sentences(paragraph: str) -> Iterator[tuple[str, str]]:
    """Each sentence with its end mark, masked and as written; a line's end is a sentence's end.

    Masked, with code and quotations blotted out and every character in its place, it is searched for words that ask.
    """
    blotted = _OTHERS_WORDS.sub(lambda match: _CHARACTER.sub("\0", match[0]), paragraph)
    for masked, line in zip(blotted.split("\n"), paragraph.split("\n"), strict=True):
        start = 0
        for end in _END.finditer(masked):
            if not _is_abbreviation(masked, start, end):
                yield masked[start : end.end()], line[start : end.end()]
                start = end.end()
        yield masked[start:], line[start:]


def _is_abbreviation(line: str, start: int, end: re.Match[str]) -> bool:
    if end[0] != "." or end.end() == len(line):
        return False
    before = line[max(start, end.start() - _LONGEST_ABBREVIATION) : end.start()]
    return _ABBREVIATION.search(before) is not None


def _wish(masked: str, sentence: str) -> str | None:
    """What `sentence` asks to remember, None when it does not ask."""
    if sentence.rstrip(" \t\"'\u2019”)]*_").endswith(("?", "？")):  # noqa: RUF001
        return None
    asked = _WITH_OPENING.match(masked) or _in_the_middle(masked)
    if asked is None:
        asked = _AT_START.match(masked)
        if asked is None or _REMINISCES.match(masked[asked.end() :].lstrip(" ,")):
            return None
    wish = sentence[asked.end() :].strip().rstrip(_TRAILING).lstrip(" \t,:*_")
    return wish if _says_something(wish) else None


def _in_the_middle(masked: str) -> re.Match[str] | None:
    """Words that ask after "please" anywhere, after "and" where nobody is told about."""
    if asked := _AFTER_PLEASE.search(masked):
        return asked
    asked = _AFTER_AND.search(masked)
    return asked if asked and not _TELLS.search(masked[: asked.start()]) else None


def _says_something(wish: str) -> bool:
    if len(wish) > LONGEST_WISH_CHARACTERS or _POINTS_ELSEWHERE.fullmatch(wish):
        return False
    return len(wish.split()) > 1 or len(_WIDE.findall(wish)) > 3
