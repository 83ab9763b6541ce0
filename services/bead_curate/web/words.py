"""What changed between two texts, word by word. Pure."""

import re
from difflib import SequenceMatcher
from typing import NamedTuple

_PIECES = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_PIECES = 3_000
"""Comparing is quadratic; above this lines are compared."""


class Piece(NamedTuple):
    """A stretch of text that is in both (`same`), in the older only (`gone`), in the newer only (`new`)."""

    kind: str
    text: str


def difference(old: str, new: str) -> tuple[Piece, ...]:
    """`old` and `new` in one text."""
    before, after = _PIECES.findall(old), _PIECES.findall(new)
    if len(before) + len(after) > _MOST_PIECES:
        before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    found: list[Piece] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            found.append(Piece("same", "".join(before[a:b])))
            continue
        if b > a:
            found.append(Piece("gone", "".join(before[a:b])))
        if d > c:
            found.append(Piece("new", "".join(after[c:d])))
    return tuple(_joined(found))


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Without single blanks between two changes: they read as one."""
    joined: list[Piece] = []
    for number, piece in enumerate(pieces):
        is_blank = piece.kind == "same" and not piece.text.strip() and "\n" not in piece.text
        if is_blank and 0 < number < len(pieces) - 1:
            joined += [Piece("gone", piece.text), Piece("new", piece.text)]
        else:
            joined.append(piece)
    ordered: list[Piece] = []
    run: list[Piece] = []
    for piece in [*joined, Piece("same", "")]:
        if piece.kind != "same":
            run.append(piece)
            continue
        ordered += [
            Piece(kind, text)
            for kind in ("gone", "new")
            if (text := "".join(each.text for each in run if each.kind == kind))
        ]
        run = []
        if piece.text:
            ordered.append(piece)
    return ordered
