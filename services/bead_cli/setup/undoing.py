"""Gives one file back: byte for byte while it is still what setup wrote, else without what is bead's in it."""

from pathlib import Path
from typing import NamedTuple

from bead.errors import Refused
from bead_cli.setup import files, marked, settingsfile
from bead_cli.setup.journal import Entry, Journal, hash_of

BLOCK, SETTINGS, WHOLE, OWN = "block", "settings", "whole", "own"
"""Kinds of what is bead's in a file: a marked block, values and hooks in JSON, all of it, all of it in bead's home."""


class Undone(NamedTuple):
    """What became of one file."""

    path: str
    what: str


def undo(journal: Journal, entry: Entry, *, dry_run: bool = False) -> Undone:
    """Give the file back and drop its entry.

    Raises:
        Refused: it cannot be written; the entry stays.
        HomeUnusable: what was kept of it cannot be read.
    """
    found = files.read(Path(entry.real))
    now = hash_of(found.data)
    if now == entry.before_hash:
        wanted, what = found.data, "as it was"
    elif now == entry.after_hash and not entry.is_touched:
        wanted = journal.before(entry)
        what = "as it was, byte for byte" if wanted is not None else "taken away; there was none before"
    else:
        wanted, what = _without(entry, found.data), "changed since; only what is bead's was taken out"
    if dry_run:
        return Undone(entry.path, what)
    if wanted is None or (entry.before is None and wanted.strip() in (b"", b"{}")):
        files.remove(Path(entry.real))
    elif wanted != found.data:
        files.require_writable(found)
        files.replace(Path(entry.real), wanted, entry.mode if now == entry.after_hash else found.mode)
    _remove_folders(entry)
    journal.drop(entry.path)
    return Undone(entry.path, what)


def _without(entry: Entry, data: bytes | None) -> bytes | None:
    kind = entry.part.get("kind")
    if data is None or kind == OWN:
        return None
    if kind == BLOCK:
        return marked.without_block(data)
    if kind == SETTINGS:
        return settingsfile.without_part(data, settingsfile.from_document(entry.part), entry.path)
    raise Refused(f"{entry.path} was changed since setup wrote it; remove it yourself")


def _remove_folders(entry: Entry) -> None:
    for folder in reversed(entry.folders):
        try:
            Path(folder).rmdir()
        except OSError:
            return  # something else lies in it by now
