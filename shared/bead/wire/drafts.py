"""Drafts: memories drained from the agents' own stores, and what a person decides about them.

For the person's door only: no scope of a service that a model hears reaches these routes (I14).
"""

import re
from enum import StrEnum

from pydantic import AwareDatetime, Field, field_validator

from bead.wire.store import Model, WriteAnswer

DRAINED = "cli-memory"
"""The tag that says what a draft is."""
MAX_MEMORY_CHARS = 1 << 20
MAX_TAGS = 40
_CLIS = "claude|codex|gemini|qwen"
_ALLOWED = re.compile(rf"{DRAINED}|agent:[a-z][a-z0-9_-]{{0,39}}|cli:(?:{_CLIS})|memhash:[0-9a-f]{{16}}")
CLIS = tuple(_CLIS.split("|"))


def is_drained_tag(text: str) -> bool:
    """Whether a draft may have this tag; nothing else may have it."""
    return bool(_ALLOWED.fullmatch(text))


class NewDraft(Model):
    """`POST /v1/drafts`: one memory, whole. Its hash is the store's to make."""

    body: str = Field(min_length=1, max_length=MAX_MEMORY_CHARS)
    tags: tuple[str, ...] = Field(max_length=MAX_TAGS)
    """`cli-memory`, one `agent:` and one `cli:`, set by the drain and never read from the text."""
    project: str | None = None
    """Scope name, where it is certain."""
    suspicious: bool = False
    """It reads like an instruction to a model."""

    @field_validator("tags")
    @classmethod
    def _on_the_list(cls, tags: tuple[str, ...]) -> tuple[str, ...]:
        if not all(is_drained_tag(tag) for tag in tags):
            raise ValueError("a draft has the tags of the drain's list and no others")
        if DRAINED not in tags or [sum(tag.startswith(kind) for tag in tags) for kind in ("agent:", "cli:")] != [1, 1]:
            raise ValueError(f"a draft has the tags {DRAINED}, one agent: and one cli:")
        return tags


class DraftVerb(StrEnum):
    """What became of a memory; none of them leaves it for another try."""

    CREATED = "created"
    TAGGED = "tagged"
    """Another agent's draft says the same; it has this agent's tag now."""
    UNCHANGED = "unchanged"
    """There is this draft of this agent."""
    DECIDED = "decided"
    """A person has approved or discarded it."""
    FORGOTTEN = "forgotten"
    """It says what the person let bead forget."""
    KNOWN = "known"
    """A fact says exactly this."""


class DraftAnswer(Model):
    """What became of a memory."""

    verb: DraftVerb
    id: str
    is_whole: bool
    """False when something of it is in no draft: it is too long, or held a credential or forgotten words."""


class Near(Model):
    """Something that says nearly the same."""

    name: str
    """A draft's id, or a fact's key."""
    is_fact: bool
    body: str


class Draft(Model):
    """One that waits."""

    id: str
    title: str
    body: str
    agent: str
    """Who wrote it first."""
    agents: int
    """How many wrote it, each on its own: what many wrote is worth reading first."""
    cli: str
    tags: tuple[str, ...]
    created: AwareDatetime
    project: str | None = None
    key: str
    """Where it goes when it is approved."""
    suspicious: bool = False
    near: tuple[Near, ...] = ()


class DraftList(Model):
    """`GET /v1/drafts`: what most agents wrote first, then the oldest."""

    drafts: tuple[Draft, ...]


class DraftText(Model):
    """`POST /v1/drafts/{id}/edit`, and `/approve` in other words than the draft's."""

    body: str | None = Field(default=None, min_length=1, max_length=64 << 10)


class DraftDecided(Model):
    """`POST /v1/drafts/{id}/approve`, `/edit`, `/discard`."""

    id: str
    decision: str
    """`approved`, `edited` or `discarded`."""
    key: str | None = None
    written: WriteAnswer | None = None
