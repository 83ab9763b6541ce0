"""Spans of secrets: merged, rendered as markers, and carried from rendered text back to the original.

Pure arithmetic on offsets. Markers are `[REDACTED:<rule>]`; a span never holds the text it covers.
"""

import bisect
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_MARKER = re.compile(rb"\[REDACTED:([a-z0-9-]{1,64})\]")
# Possessive and never from the middle of a run: a megabyte of backslashes must not take quadratic time.
_ESCAPE = re.compile(rb"(?<!\\)\\++(?:[nrt\"'/]|u00(?:22|27|3[cde]|26))")
_ESCAPED_HEX = {b"22": b'"', b"27": b"'", b"3c": b"<", b"3d": b"=", b"3e": b">", b"26": b"&"}
_ESCAPED_LETTER = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


@dataclass(frozen=True, slots=True)
class Hit:
    """A secret's place in the text that was scanned, in characters. It never holds the secret."""

    rule_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redaction:
    """`text` with every secret replaced, and where the secrets were in the original."""

    text: str
    hits: tuple[Hit, ...]


class Found(NamedTuple):
    """A secret's place in bytes. Of two that overlap the lower `rank` gives the name."""

    start: int
    end: int
    rank: int
    rule_id: str


def marker(rule_id: str) -> str:
    return f"[REDACTED:{rule_id}]"


def merge(found: Iterable[Found]) -> list[Found]:
    """Sorted and disjoint: what overlaps becomes one span under the better rank, then the longer part's name."""
    merged: list[Found] = []
    best_length = 0
    for each in sorted(found):
        length = each.end - each.start
        if not merged or each.start >= merged[-1].end:
            merged.append(each)
            best_length = length
            continue
        last = merged[-1]
        if (each.rank, -length) < (last.rank, -best_length):
            last, best_length = last._replace(rank=each.rank, rule_id=each.rule_id), length
        merged[-1] = last._replace(end=max(last.end, each.end))
    return merged


def beside_markers(data: bytes, found: list[Found], rule_ids: Collection[str]) -> list[Found]:
    """`found` without what lies inside a marker already there; a marker that is only touched is taken whole.

    This is what makes redacting twice the same as once.
    """
    if not found or b"[REDACTED:" not in data:
        return found
    markers = [
        Found(match.start(), match.end(), 9, match[1].decode())
        for match in _MARKER.finditer(data)
        if match[1].decode() in rule_ids
    ]
    starts = [each.start for each in markers]

    def is_inside_marker(each: Found) -> bool:
        at = bisect.bisect_right(starts, each.start) - 1
        return at >= 0 and each.end <= markers[at].end

    kept = merge(each for each in found if not is_inside_marker(each))
    touched = [mark for mark in markers if _overlaps_any(mark, kept)]
    return merge([*kept, *touched])


def _overlaps_any(mark: Found, disjoint: Sequence[Found]) -> bool:
    at = bisect.bisect_right(disjoint, mark.end, key=lambda each: each.start) - 1
    return at >= 0 and disjoint[at].end > mark.start


def render(data: bytes, covered: Sequence[Found]) -> bytes:
    """`data` with each of the disjoint spans replaced by its marker."""
    pieces: list[bytes] = []
    at = 0
    for each in covered:
        pieces += [data[at : each.start], marker(each.rule_id).encode()]
        at = each.end
    return b"".join([*pieces, data[at:]])


def to_original(found: Iterable[Found], covered: Sequence[Found]) -> list[Found]:
    """Spans in rendered text as spans in the text it was rendered from; a cut marker counts as all it stands for."""
    rendered: list[tuple[int, int]] = []
    grown = 0
    for each in covered:
        start = each.start + grown
        end = start + len(marker(each.rule_id))
        rendered.append((start, end))
        grown = end - each.end

    def original(offset: int, *, is_end: bool) -> int:
        at = bisect.bisect_right(rendered, offset, key=lambda span: span[0]) - 1
        if at < 0:
            return offset
        start, end = rendered[at]
        if offset >= end:
            return offset - end + covered[at].end
        # At a marker's first byte nothing of it is cut; past that, an end takes the whole.
        return covered[at].end if is_end and offset > start else covered[at].start

    return [
        each._replace(start=original(each.start, is_end=False), end=original(each.end, is_end=True)) for each in found
    ]


class UnescapedView:
    """Text with JSON's escapes undone, however deep, and the way back to its offsets.

    In escaped text a token after a written-out line end does not begin at a word's edge, and quotes are not quotes.
    """

    def __init__(self, data: bytes) -> None:
        pieces: list[bytes] = []
        self._escapes_at: list[int] = []
        """Offsets in the view of the characters that were escapes."""
        self._shrunk: list[int] = [0]
        """By how much the view is shorter after that many escapes."""
        at = length = 0
        for escape in _ESCAPE.finditer(data):
            length += escape.start() - at
            pieces += [data[at : escape.start()], _character(escape[0])]
            self._escapes_at.append(length)
            self._shrunk.append(self._shrunk[-1] + len(escape[0]) - 1)
            at, length = escape.end(), length + 1
        self.data = b"".join([*pieces, data[at:]])
        self.differs = bool(self._escapes_at)

    def to_original(self, found: Found) -> Found:
        return found._replace(start=self._original(found.start), end=self._original(found.end))

    def _original(self, offset: int) -> int:
        return offset + self._shrunk[bisect.bisect_left(self._escapes_at, offset)]


def _character(escape: bytes) -> bytes:
    if b"u00" in escape:
        return _ESCAPED_HEX[escape[-2:]]
    return _ESCAPED_LETTER.get(escape[-1:], escape[-1:])


def in_characters(text: str, data: bytes, covered: Sequence[Found]) -> tuple[Hit, ...]:
    """Hits with the byte spans of `data`, the UTF-8 of `text`, as offsets into `text`."""
    if len(data) == len(text):
        return tuple(Hit(each.rule_id, each.start, each.end) for each in covered)
    hits: list[Hit] = []
    byte_at = char_at = 0
    for each in covered:
        start = char_at + _characters(data[byte_at : each.start])
        end = start + _characters(data[each.start : each.end])
        hits.append(Hit(each.rule_id, start, end))
        byte_at, char_at = each.end, end
    return tuple(hits)


def _characters(data: bytes) -> int:
    return len(data.decode("utf-8", "replace"))
