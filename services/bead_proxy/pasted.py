"""Which lines of a person's text are plainly their own: pasted mail, logs, quotes and code are not (I13).

Pure. What is pasted looks typed on the wire, so this is told by place and shape, and in doubt a line is not said.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

MOST_LINES_BEFORE = 20
MOST_CHARACTERS_BEFORE = 1_500
"""What stands behind more text than this is more likely pasted than said."""

_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
# Somebody else's words, and those of the lines beside them.
_QUOTED = re.compile(
    r"\s*>|\s*\|"
    r"|\s*[\[(]?\d{4}-\d\d-\d\d|\s*[\[(]?\d\d:\d\d:\d\d"
    r"|\s*\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\b"
    r"|\s*\[[\w .:/-]+\]\s|\s*[\w.-]+\[\d+\]:|\s*(?:Traceback|File \"|at \S+[(:])"
)
_CODE = re.compile(r"\t| {4}|\s*<|\s*[$%#] ")
_ASKING = r"remember|please|don['\u2019]?t|never|note|merke?|denke?|vergiss|bitte|recuerda|lembre|rappelle|souviens"
# A letter, from here to its end. Nobody greets an agent like a team, except by its name.
_LETTER = re.compile(
    r"\s*(?:from|to|cc|bcc|sent|subject|von|an|betreff|gesendet|de|para|objet|envoyé|asunto|assunto)\s*:\s*\S"
    r"|\s*-{2,}\s*(?:original|forwarded|weitergeleitete|ursprüngliche)\b"
    r"|\s*(?:on|am|le|el|em)\b.{4,80}\b(?:wrote|schrieb|a écrit|escribió|escreveu)\b[^:]{0,40}:\s*$"
    r"|\s*(?:hi|hello|hey|dear|hallo|liebe[rs]?|sehr geehrte[rs]?|guten (?:tag|morgen)|moin|bonjour|salut|ch[eè]re?"
    r"|hola|estimad[oa]s?|olá|oi|prezad[oa]s?|car[oai])\s+"
    rf"(?!(?:bead|claude|codex|gemini|copilot|agent|assistant)\b)(?:(?!(?:{_ASKING})\b)[^\W\d_][\w'-]*\s?){{1,3}}"
    r"(?:[,!:]|$)",
    re.IGNORECASE,
)
_SIGNED = re.compile(
    r"\s*(?:(?:kind|best|warm) regards|regards|best(?: wishes)?|cheers|sincerely|yours|thanks|thank you|many thanks"
    r"|(?:viele|liebe|beste|schöne) grüße|gruß|mfg|lg|mit freundlichen grüßen|cordialement|bien à vous"
    r"|un saludo|saludos|abraços?|atenciosamente)\s*,\s*(?:\w+(?: \w+)?)?\s*$",
    re.IGNORECASE,
)


class Paragraph(NamedTuple):
    """Lines in a row that a person says."""

    lines: tuple[str, ...]
    """Masked as they came."""
    written: tuple[str, ...]
    """The same lines in every character."""
    alone_only: bool
    """Whether a sentence counts only where it has its line to itself."""


class _Line(NamedTuple):
    masked: str
    written: str
    number: int
    offset: int


def said(masked: str, written: str) -> Iterator[Paragraph]:
    """What of a text is plainly said; `masked` is `written` with foreign characters blotted out, each in its place.

    - The first and the last paragraph count, as far as no more than `MOST_LINES_BEFORE` lines and
      `MOST_CHARACTERS_BEFORE` characters of the paragraph stand before; others count where a sentence stands alone on
      its line with no more than that of the whole text before it.
    - A paragraph with a quoted, logged or tabled line counts nowhere; nor do code and everything behind a fence that
      is not closed.
    - From a greeting or the head of a letter on nothing counts; nor what stands before a signature, the first
      paragraph aside.
    """
    paragraphs = _paragraphs(masked, written)
    signed = [at for at, lines in enumerate(paragraphs) if _is_signed(lines)]
    for at, lines in enumerate(paragraphs):
        is_outer = at in (0, len(paragraphs) - 1)
        if at in signed[:1] or (at and signed and at <= signed[-1]):
            continue
        letter = next((number for number, line in enumerate(lines) if _LETTER.match(line.masked)), None)
        if not any(_QUOTED.match(line.masked) for line in lines):
            first = lines[0] if is_outer else _START
            near = [line for line in lines[:letter] if _is_near(line, first)]
            yield from _runs(near, alone_only=not is_outer)
        if letter is not None:
            return


_START = _Line("", "", 0, 0)


def _paragraphs(masked: str, written: str) -> list[list[_Line]]:
    """Lines between empty ones, without those in fences."""
    found: list[list[_Line]] = [[]]
    is_code = False
    offset = 0
    for number, (blotted, line) in enumerate(zip(masked.split("\n"), written.split("\n"), strict=True)):
        is_fence = _FENCE.match(blotted) is not None
        is_code ^= is_fence
        if is_code or is_fence:
            pass
        elif line.strip():
            found[-1].append(_Line(blotted, line, number, offset))
        elif found[-1]:
            found.append([])
        offset += len(line) + 1
    return [lines for lines in found if lines]


def _is_signed(lines: list[_Line]) -> bool:
    return any(_SIGNED.match(line.masked) for line in lines)


def _is_near(line: _Line, first: _Line) -> bool:
    return line.number - first.number <= MOST_LINES_BEFORE and line.offset - first.offset <= MOST_CHARACTERS_BEFORE


def _runs(lines: list[_Line], *, alone_only: bool) -> Iterator[Paragraph]:
    """Lines that follow each other, without code."""
    run: list[_Line] = []
    for line in lines:
        if run and line.number != run[-1].number + 1:
            yield _paragraph(run, alone_only)
            run = []
        if not _CODE.match(line.masked):
            run.append(line)
    if run:
        yield _paragraph(run, alone_only)


def _paragraph(lines: list[_Line], alone_only: bool) -> Paragraph:
    return Paragraph(tuple(line.masked for line in lines), tuple(line.written for line in lines), alone_only)
