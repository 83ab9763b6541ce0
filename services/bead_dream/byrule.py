"""What a night learns without a model: the person's corrections and standing wishes, and episodes from first lines.

Pure. Everything found here only waits for a person; nothing is written. Only the person's own words are looked at.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bead import keys
from bead.wire.dream import ProposalKind
from bead_dream.claims import Turn

MAX_SENTENCE = 300
MAX_EPISODE_PART = 600
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\w)[^.!?\n]*)*[.!?]*")
_CORRECTION = re.compile(
    r"^(?:no|nope|nein|actually|wrong|that's wrong|not that|stop)\b[\s,;:\u2014-]*(?:please )?"
    r"(?P<wish>(?:we |you should |i )?(?:use|run|call|put|write|prefer|name|take|it's|it is|its|the)\b.+)$"
    r"|^(?P<instead>(?:use|run|call|write|prefer)\b.+\b(?:instead(?: of\b.+)?|not\b.+|rather than\b.+))$"
    r"|^(?P<dont>(?:do not|don't|please don't) (?:use|run|call|write|add|put|touch|commit|push)\b.+)$",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"^(?:please |and |but |so |also |ok(?:ay)?,? )*"
    r"(?P<wish>(?:from now on|always|never|in (?:the )?future|every time|whenever)\b.+)$",
    re.IGNORECASE,
)
_IDLE = re.compile(
    r"^(?:never ?mind|always (?:the same|wondered|been)|never (?:heard|seen|mind|been|knew))\b", re.IGNORECASE
)
_HEADING = re.compile(r"^#{1,4}\s+(.+)$|^\*\*([^*\n]{3,80})\*\*:?\s*$", re.MULTILINE)


class Found(NamedTuple):
    """A sentence that waits for a person."""

    kind: ProposalKind
    name: str
    """Derived from its words; without a scope."""
    body: str
    turn: Turn


class Summary(NamedTuple):
    """The parts of an episode."""

    situation: str = ""
    action: str = ""
    outcome: str = ""
    lesson: str = ""


def wishes(turns: Sequence[Turn]) -> Iterator[Found]:
    """Corrections and standing wishes in the person's own words, each once."""
    seen: set[str] = set()
    for turn in turns:
        for found in _of_turn(turn):
            if found.name not in seen:
                seen.add(found.name)
                yield found


def _of_turn(turn: Turn) -> Iterator[Found]:
    if not turn.is_person:
        return
    for match in _SENTENCE.finditer(turn.own):
        sentence = match[0].strip()
        if sentence.endswith("?") or len(sentence) > MAX_SENTENCE or _IDLE.match(sentence):
            continue
        if (standing := _STANDING.match(sentence)) and len(standing["wish"].split()) > 2:
            yield _found(ProposalKind.STANDING_WISH, standing["wish"], turn)
        elif (correction := _CORRECTION.match(sentence)) and len(sentence.split()) > 2:
            words = correction["wish"] or correction["instead"] or correction["dont"]
            yield _found(ProposalKind.CORRECTION, words, turn)


def _found(kind: ProposalKind, words: str, turn: Turn) -> Found:
    body = words.strip()
    body = body[:1].upper() + body[1:]
    return Found(kind, keys.derive_name(body), body, turn)


def summary(turns: Sequence[Turn]) -> Summary:
    """What a session was about, from first lines and headings; the words that were said, none of a tool's."""
    asked = [turn.own for turn in turns if turn.is_person and turn.own]
    answered = [turn.agent for turn in turns if turn.agent]
    headings = [next(filter(None, match)) for text in answered for match in _HEADING.findall(text)]
    lessons = [found.body for found in wishes(turns)]
    return Summary(
        situation=_first_line(asked[0]) if asked else "",
        action=_cut("; ".join(dict.fromkeys(headings)) if headings else _first_line(answered[0]) if answered else ""),
        outcome=_first_line(answered[-1]) if len(answered) > 1 else "",
        lesson=_cut("; ".join(lessons)),
    )


def _first_line(text: str) -> str:
    return _cut(next((line.strip("#* ") for line in text.splitlines() if line.strip("#* ")), ""))


def _cut(text: str) -> str:
    return text[:MAX_EPISODE_PART]
