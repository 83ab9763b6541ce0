"""The part of a text that shows why it was found, its words marked with `[` and `]`. Pure."""

from collections.abc import Collection

from bead.text.terms import spans

WIDTH = 160
"""Most characters of the text itself in a snippet."""


def snippet(text: str, wanted: Collection[str], width: int = WIDTH) -> str:
    """The stretch of the original `text` with the most different `wanted` terms, on one line; `…` where it is cut."""
    marks = _marks(text, wanted)
    start = _best_start(marks, width)
    start = max(0, start - width // 4) if len(text) > width else 0
    end = min(len(text), start + width)
    parts, at = [], start
    for left, right, _ in marks:
        if left < at or right > end:
            continue
        parts += [text[at:left], "[", text[left:right], "]"]
        at = right
    line = " ".join("".join([*parts, text[at:end]]).split())
    return f"{'…' if start else ''}{line}{'…' if end < len(text) else ''}"


def _marks(text: str, wanted: Collection[str]) -> list[tuple[int, int, frozenset[str]]]:
    """Places of wanted words, those that touch or overlap joined."""
    marks: list[tuple[int, int, frozenset[str]]] = []
    for span in spans(text):
        shared = frozenset(term for term in span.terms if term in wanted)
        if not shared:
            continue
        if marks and span.start <= marks[-1][1]:
            left, right, before = marks[-1]
            marks[-1] = (left, max(right, span.end), before | shared)
        else:
            marks.append((span.start, span.end, shared))
    return marks


def _best_start(marks: list[tuple[int, int, frozenset[str]]], width: int) -> int:
    best, best_start = 0, 0
    for index, (left, _, _) in enumerate(marks):
        seen: set[str] = set()
        for other_left, right, shared in marks[index:]:
            if right - left > width * 3 // 4 and other_left != left:
                break
            seen |= shared
        if len(seen) > best:
            best, best_start = len(seen), left
    return best_start
