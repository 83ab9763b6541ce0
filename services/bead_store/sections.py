"""Forgets in the section that bead keeps in a file of the person's: its lines are blanked where they lie, nothing else.

What the person wrote around it is theirs: when that holds the text it is named, and stays.
"""

from pathlib import Path

from bead.section import spans
from bead_store import blanking, files
from bead_store.copies import Gone, Outcome
from bead_store.disk import Disk

KIND = "section"
_MAX_BYTES = 16 << 20


def forget_in_section(path: Path, gone: Gone, disk: Disk) -> Outcome:
    """Of one file."""
    data = files.read(path, _MAX_BYTES)
    text = data.decode("utf-8", "replace")
    if not gone.wanted.holds(text):
        return Outcome(0)
    changes: list[tuple[int, bytes]] = []
    outside, at = "", 0
    for start, end in spans(text):
        first = len(text[:start].encode("utf-8", "replace"))
        inside = text[start:end].encode()
        changes += [(first + place, blank) for place, blank in blanking.in_lines(inside, gone.wanted.holds)]
        outside += text[at:start]
        at = end
    if "\N{REPLACEMENT CHARACTER}" in text:
        return Outcome(0, (f"{path}: it is not UTF-8 and cannot be changed in place; look at it",))
    if changes:
        disk.overwrite(path, changes)
    left = (f"{path}: your own words there hold it",) if gone.wanted.holds(outside + text[at:]) else ()
    return Outcome(1 if changes else 0, left)
