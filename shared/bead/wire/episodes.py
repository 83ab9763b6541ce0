"""Episodes: what the store is asked about summaries of past sessions, and what it answers."""

from enum import StrEnum

from pydantic import AwareDatetime, Field

from bead.wire.store import Model

MAX_PART = 4_000
"""Most characters of one part."""


class EpisodeVerb(StrEnum):
    """What a write did; true of what was on disk."""

    CREATED = "created"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"


class WriteEpisode(Model):
    """`POST /v1/episodes`. At least one part says something; the same `id` again replaces what it said."""

    session: str = Field(min_length=1, max_length=200)
    """The session that it sums up."""
    id: str | None = Field(default=None, min_length=1, max_length=120)
    """Default: made from the session, so that summing up a session again replaces its episode."""
    project: str | None = None
    """Scope name of the project, without `project/`."""
    created: AwareDatetime | None = None
    """When the session was; default: now. A later write of the same id keeps the day it has."""
    situation: str = Field(default="", max_length=MAX_PART)
    action: str = Field(default="", max_length=MAX_PART)
    outcome: str = Field(default="", max_length=MAX_PART)
    lesson: str = Field(default="", max_length=MAX_PART)


class EpisodeWritten(Model):
    """The honest verb, and the place: `episodes/YYYY/MM/DD/<id>.md`."""

    verb: EpisodeVerb
    id: str
    source: str


class EpisodeView(Model):
    """`GET /v1/episodes/{id}`: one episode as its file says it."""

    id: str
    session: str
    project: str | None
    created: AwareDatetime
    body: str
    """Markdown; `bead.episodes.parts_of` takes it apart."""
    source: str


class EpisodeList(Model):
    """`GET /v1/episodes?limit=`: ids, newest first."""

    ids: tuple[str, ...]
