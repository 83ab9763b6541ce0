"""Which bytes of a session's file must go, and what stands there afterwards: as many bytes, where the words fit.

Pure. What two texts have in common is `values`'s to say; reading and writing the file is `raw`, how turns lie in it
is `turnfile`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from bead.conversations import Block
from bead_store import turnfile
from bead_store.values import ascii_word, holds, may_hold, needles

_PIECE_BYTES = 1 << 20
_CHAR_BYTES = 4
"""Most bytes of one character in UTF-8."""


class Wanted(NamedTuple):
    """What is to be forgotten."""

    needles: tuple[str, ...]
    """See `values.needles`."""
    cited: Mapping[str, frozenset[int]]
    """Ordinals of turns to take whatever they say, by source path `raw/YYYY/MM/DD/<session>.md`."""
    uids: frozenset[str] = frozenset()
    """The facts."""
    whole: frozenset[str] = frozenset()
    """Source paths of sessions of which every turn goes."""

    def __repr__(self) -> str:  # needles are a person's text
        return f"Wanted(needles={len(self.needles)}, cited={len(self.cited)})"

    def holds(self, text: str) -> bool:
        """Whether `text` holds one of the values."""
        return holds(text, self.needles)

    def may_be_in(self, data: bytes, source_path: str) -> bool:
        """False when a look at the bytes alone shows that nothing in this file is wanted."""
        if source_path in self.cited or source_path in self.whole:
            return True
        overlap = _CHAR_BYTES + max((len(ascii_word(needle)) for needle in self.needles), default=0)
        # In pieces, because one call over a large file would hold every other thread back.
        pieces = (data[start : start + _PIECE_BYTES + overlap] for start in range(0, len(data), _PIECE_BYTES))
        return any(may_hold(piece, self.needles) for piece in pieces)

    def takes(self, block: Block) -> bool:
        """Whether a block carries one of the facts, an excerpt of a turn they cite, or their text."""
        if not self.uids.isdisjoint(block.fact_uids):
            return True
        for path, _, number in (id.partition("#turn-") for id in block.excerpt_ids):
            if path in self.whole or (number.isdecimal() and int(number) in self.cited.get(path, ())):
                return True
        return self.holds(block.text)


class Redaction(NamedTuple):
    """`size` bytes from `start` that become unreadable; `ordinal` is 0 for text between turns."""

    start: int
    size: int
    ordinal: int

    @property
    def fits(self) -> bool:
        """Whether what is said instead takes as many bytes."""
        return len(turnfile.forgotten(self.size)) == self.size


def look_for(values: Iterable[str], sources: Iterable[str], uids: Iterable[str], whole: Iterable[str] = ()) -> Wanted:
    """What to look for: these values, the turns that these sources name, blocks with these facts, whole sessions."""
    cited: dict[str, set[int]] = {}
    for source in sources:
        path, mark, ordinal = source.partition("#turn-")
        if mark and ordinal.isdecimal():
            cited.setdefault(path, set()).add(int(ordinal))
    by_path = {path: frozenset(ordinals) for path, ordinals in cited.items()}
    return Wanted(needles(values), by_path, frozenset(uids), frozenset(whole))


def plan(data: bytes, source_path: str, wanted: Wanted, scanned: turnfile.Scanned | None = None) -> Iterator[Redaction]:
    """What must go from `data`; nothing that is redacted already."""
    scanned = scanned or turnfile.scan(data)
    cited, is_whole = wanted.cited.get(source_path, frozenset()), source_path in wanted.whole
    for record, (start, end) in zip(scanned.records, scanned.spans, strict=True):
        if is_whole or record.ordinal in cited or wanted.holds(record.text):
            yield from _unless_done(data, Redaction(start, end - start, record.ordinal))
    for start, end in scanned.loose:
        if is_whole or wanted.holds(data[start:end].decode("utf-8", "replace")):
            yield from _unless_done(data, Redaction(start, end - start, 0))


def redacted(data: bytes, parts: Iterable[Redaction]) -> bytes:
    """`data` with these parts, in order, made unreadable."""
    pieces: list[bytes] = []
    at = 0
    for part in parts:
        pieces += [data[at : part.start], turnfile.forgotten(part.size)]
        at = part.start + part.size
    return b"".join([*pieces, data[at:]])


def ordinals_to_redact(data: bytes, source_path: str, wanted: Iterable[Wanted]) -> Iterator[frozenset[int]]:
    """For each of `wanted` the turns of a file that must go; 0 for what is between them or torn."""
    scanned = turnfile.scan(data)
    torn = data[scanned.whole_bytes :].decode("utf-8", "replace")
    for each in wanted:
        found = {redaction.ordinal for redaction in plan(data, source_path, each, scanned)}
        yield frozenset(found | {0} if torn and each.holds(torn) else found)


def _unless_done(data: bytes, redaction: Redaction) -> Iterator[Redaction]:
    end = redaction.start + redaction.size
    if redaction.size and data[redaction.start : end] != turnfile.forgotten(redaction.size):
        yield redaction
