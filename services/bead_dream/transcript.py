"""Turns of the raw log as the job reads them: whose words they are, cut, numbered, in pieces a model can take.

Pure. What bead itself inserted and what a harness put around a message is taken out before anybody learns from it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from bead.turns import Role, spoken
from bead.wire.store import TurnView
from bead_dream.claims import Turn

CHUNK_CHARACTERS = 24_000
TURN_CHARACTERS = 4_000
BOOT_SESSIONS = 3
"""A line in the first messages of so many sessions is a harness's."""
_BOOT_LINE_CHARACTERS = 24
_TOOL_TEXT = re.compile(r"^\[tool [^\n]*\]\n(.*?)^\[end of tool text\]", re.DOTALL | re.MULTILINE)
_MEMORY = re.compile(r"<bead-memory\b.*?(?:</bead-memory>|\Z)", re.DOTALL | re.IGNORECASE)
_ELEMENT = re.compile(r"<([A-Za-z][\w-]*)\b[^>]*>.*?(?:</\1>|\Z)", re.DOTALL)
_FENCE = re.compile(r"^(```|~~~).*?(?:^\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED_LINE = re.compile(r"^\s*>.*$", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


def turn_of(view: TurnView) -> Turn:
    """A turn of the raw log, taken apart."""
    text = _MEMORY.sub("", view.text)
    tool = "\n".join(_TOOL_TEXT.findall(text))
    said = spoken(text)
    if view.role is Role.ASSISTANT:
        return Turn(view.ordinal, view.source, False, agent=said, tool=tool)
    own, pasted = _apart(said)
    return Turn(view.ordinal, view.source, True, own=own, pasted=pasted, tool=tool)


def _apart(said: str) -> tuple[str, str]:
    """What a person typed, and what they pasted: in a long message only the first and the last paragraph are theirs."""
    pasted: list[str] = []

    def take(match: re.Match[str]) -> str:
        pasted.append(match[0])
        return "\n\n"

    for pattern in (_FENCE, _ELEMENT, _QUOTED_LINE):
        said = pattern.sub(take, said)
    paragraphs = [part.strip() for part in _PARAGRAPH.split(said) if part.strip()]
    return "\n\n".join(paragraphs[:1] + paragraphs[1:][-1:]), "\n".join(pasted + paragraphs[1:-1])


def chunks(turns: Sequence[Turn]) -> Iterator[str]:
    """Numbered turns as text, at most `CHUNK_CHARACTERS` each; a turn is cut to `TURN_CHARACTERS`."""
    piece = ""
    for turn in turns:
        text = _rendered(turn)
        if not text:
            continue
        if piece and len(piece) + len(text) > CHUNK_CHARACTERS:
            yield piece
            piece = ""
        piece += text
    if piece:
        yield piece


def _rendered(turn: Turn) -> str:
    who = "person" if turn.is_person else "agent"
    parts = [turn.own or turn.agent, turn.pasted and f"(pasted) {turn.pasted}", turn.tool and f"(tool) {turn.tool}"]
    text = "\n".join(part for part in parts if part)
    if not text.strip():
        return ""
    head = f"[turn-{turn.ordinal} {who}]\n"
    room = TURN_CHARACTERS - len(head) - 2
    # The transcript's own end tag inside a turn would end it early.
    return f"{head}{text.replace('</transcript', '</ transcript')[:room]}\n\n"


def boot_lines(sessions: Iterable[Sequence[Turn]]) -> frozenset[str]:
    """Lines that the first messages of several sessions have in common."""
    seen: Counter[str] = Counter()
    for turns in sessions:
        first = next((turn for turn in turns if turn.is_person), None)
        if first is not None:
            lines = {line.strip() for line in f"{first.own}\n{first.pasted}".splitlines()}
            seen.update(line for line in lines if len(line) >= _BOOT_LINE_CHARACTERS)
    return frozenset(line for line, count in seen.items() if count >= BOOT_SESSIONS)
