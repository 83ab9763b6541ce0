"""What readers give: memories, turns of past sessions, and places that could not be read. Pure."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from bead.drain.memory import memhash

_UNPLAIN = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_CHARACTERS = 60


class Kept(NamedTuple):
    """One memory of another program."""

    text: str
    place: str
    """Where in its file, such as `line 4`, for a person."""
    name: str = ""
    """Its own name, which becomes a key; without one the key is made of the text."""
    type: str | None = None
    project: str | None = None
    """Scope name, where the program says one."""

    @property
    def hash(self) -> str:
        """The same for texts that say the same."""
        return memhash(self.text)

    def __repr__(self) -> str:  # the text is a person's
        return f"Kept({self.place})"


class Said(NamedTuple):
    """One turn of a past session."""

    session: str
    """As the program names it."""
    id: str
    """Of this turn; the same turn again is written once."""
    role: str
    """`user` or `assistant`."""
    text: str
    at: str
    """RFC 3339."""
    directory: str
    place: str

    def __repr__(self) -> str:
        return f"Said({self.role}, {self.place})"


class Wrong(NamedTuple):
    """A place that was left out, and why; never its text."""

    place: str
    reason: str


Record = Kept | Said | Wrong
Reader = Callable[[str], Iterator[Record]]
"""Reads one path. Raises `BadRequest` when nothing of it can be read."""


def source_of(program: str, path: str, place: str) -> str:
    """Provenance as a fact keeps it: program, file name and place, without the folders above."""
    name = _UNPLAIN.sub("-", path.rstrip("/").rpartition("/")[2])[:_NAME_CHARACTERS] or "file"
    return f"import/{program}/{name}#{_UNPLAIN.sub('-', place)[:_NAME_CHARACTERS]}"
