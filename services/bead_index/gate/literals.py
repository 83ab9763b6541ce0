"""Literals found in raw text: which of many are in it, whole or inside a longer word.

Nothing is split into words, so `go get`, `-9999.0` and `/100` survive. Case does not count. Pure.

Each literal hangs on the least used of its three-letter pieces; only literals whose piece occurs in the text are looked
for, so a change of one card touches one card's literals and a text costs its own length. A trie would have to be built
again.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

MIN_LITERAL = 2
"""Shorter literals match everywhere and are not kept."""
MAX_LITERAL = 200
"""Longer ones are cut: a card holds pieces, not files."""
_PIECE = 3
_SHORT = ""
"""The piece of literals shorter than a piece: they are few, and looked for in every text."""


class Found(NamedTuple):
    """A literal that occurs; `is_whole` when no letter or digit of the text continues it on either side."""

    literal: str
    is_whole: bool


class Searchable:
    """A text, normalised, with its pieces worked out once for however many indexes."""

    __slots__ = ("_pieces", "text")

    def __init__(self, text: str) -> None:
        self.text = normalise(text)
        self._pieces: frozenset[str] | None = None

    def __bool__(self) -> bool:
        return bool(self.text)

    @property
    def pieces(self) -> frozenset[str]:
        """Every run of three characters."""
        if self._pieces is None:
            text = self.text
            self._pieces = frozenset(map("".join, zip(text, text[1:], text[2:], strict=False)))
        return self._pieces


class LiteralIndex:
    """Literals by owner; an owner is whatever the caller counts by."""

    def __init__(self) -> None:
        self._owners: dict[str, set[str]] = defaultdict(set)
        self._anchors: dict[str, set[str]] = defaultdict(set)
        self._anchor_of: dict[str, str] = {}

    def add(self, literal: str, owner: str) -> None:
        """Let `owner` be told when `literal` (normalised) occurs."""
        if literal not in self._anchor_of:
            anchor = min(_pieces(literal), key=lambda piece: (len(self._anchors.get(piece, ())), piece))
            self._anchor_of[literal] = anchor
            self._anchors[anchor].add(literal)
        self._owners[literal].add(owner)

    def discard(self, literal: str, owner: str) -> None:
        """Undo `add`."""
        owners = self._owners.get(literal)
        if owners is None:
            return
        owners.discard(owner)
        if owners:
            return
        del self._owners[literal]
        anchor = self._anchor_of.pop(literal)
        self._anchors[anchor].discard(literal)
        if not self._anchors[anchor]:
            del self._anchors[anchor]

    def owners(self, literal: str) -> frozenset[str]:
        """Who has `literal`."""
        return frozenset(self._owners.get(literal, ()))

    def find(self, searched: Searchable) -> Iterator[Found]:
        """Every literal that occurs, once."""
        text = searched.text
        anchors = self._anchors.keys() & searched.pieces
        for anchor in (*anchors, _SHORT):
            for literal in self._anchors.get(anchor, ()):
                at = text.find(literal)
                if at >= 0:
                    yield Found(literal, _occurs_whole(literal, text, at))


def normalise(text: str) -> str:
    """`text` as literals and texts are compared: case folded, blanks in a row are one."""
    return " ".join(text.casefold().split())


def usable(literals: Iterable[str]) -> list[str]:
    """`literals` normalised, without repetitions and without those too short to mean anything."""
    found = dict.fromkeys(normalise(literal)[:MAX_LITERAL] for literal in literals)
    return [literal for literal in found if len(literal) >= MIN_LITERAL]


def _pieces(literal: str) -> set[str]:
    if len(literal) < _PIECE:
        return {_SHORT}
    return {literal[at : at + _PIECE] for at in range(len(literal) - _PIECE + 1)}


def _occurs_whole(literal: str, text: str, at: int) -> bool:
    while at >= 0:
        end = at + len(literal)
        before = at > 0 and _in_a_word(literal[0]) and _in_a_word(text[at - 1])
        after = end < len(text) and _in_a_word(literal[-1]) and _in_a_word(text[end])
        if not before and not after:
            return True
        at = text.find(literal, at + 1)
    return False


def _in_a_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"
