"""A forget by text or by session, as the store is asked and as it answers; by key it is in `bead.wire.store`."""

from typing import Literal

from pydantic import Field

from bead.wire.store import MAX_FORGET_KEYS, Model

MAX_MATCH_CHARS = 4_000


class SelectForget(Model):
    """`POST /v1/forget/select/preview`: exactly one of `match` and `session`."""

    match: str | None = Field(default=None, max_length=MAX_MATCH_CHARS)
    """Literal text, without regard to case, width and white space."""
    session: str | None = Field(default=None, min_length=1, max_length=1_000)
    keys: tuple[str, ...] = Field(default=(), max_length=MAX_FORGET_KEYS)
    """Facts to forget along with it, whatever they say: paraphrases that the person has named."""


class SelectedPlace(Model):
    """Where something would go."""

    place: str
    """`facts`, `raw turns`, `conversation blocks`, `review queue`, …"""
    name: str
    """A key, a session, a conversation, a file."""
    project: str | None
    count: int
    """Versions, turns, blocks; 1 for a file."""


class SelectPreview(Model):
    """Everything that would be forgotten, and the word that confirms exactly this list once, within ten minutes."""

    hits: tuple[SelectedPlace, ...]
    keys: tuple[str, ...]
    """Facts that would go with every version."""
    turns: int
    confirm: str | None
    """None when there is nothing to forget."""
    expires_s: int


class ConfirmSelected(SelectForget):
    """`POST /v1/forget/select`: the selection of a preview and its word."""

    confirm: str


class NoteCopy(Model):
    """`POST /v1/copies`: an export that a forget has to look into."""

    path: str = Field(min_length=1, max_length=4_096)
    """Absolute; a file or a folder."""
    kind: Literal["export", "section"] = "export"
    """`section`: a file of the person's, in which only the section between bead's markers is bead's."""
