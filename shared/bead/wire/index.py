"""What the index is asked and what it answers."""

import msgspec
from pydantic import AwareDatetime, BaseModel, ConfigDict

from bead.recall import Cue, RecalledExcerpt, RecalledFact, Rejected


class Model(BaseModel):
    """An answer for people's routes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Hit(Model):
    """One search result; `snippet` marks the matched words with `[` and `]`."""

    kind: str
    """`fact`, `turn` or `episode`."""
    id: str
    """A key, `key@vN` for a version that another has superseded, or a source `raw/…#turn-N`, `episodes/…`."""
    project: str | None
    version: int | None
    trust: str | None
    status: str | None
    snippet: str
    score: float
    since: AwareDatetime | None = None
    """When it was written."""
    until: AwareDatetime | None = None
    """When another version took its place; None while it stands."""
    why: "Why | None" = None
    """Only when it was asked for."""


class Why(Model):
    """How a search result came to its score: `score` is `bm25` times every boost."""

    terms: tuple[str, ...]
    """Terms of the query that it holds."""
    bm25: float
    boosts: dict[str, float]
    """By what they are for: `fact`, `trust`, `other project`, `not current`, `superseded`."""


class SearchAnswer(Model):
    """`GET /v1/search?q=&project=&limit=&all_versions=&as_of=&explain=`, best first."""

    hits: tuple[Hit, ...]
    terms: dict[str, int] | None = None
    """What was looked for, and how many pieces hold it; only when an explanation was asked for."""


class RecallRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /v1/recall`. `project` is a scope name or empty."""

    owner: str
    project: str
    session: str
    cues: tuple[Cue, ...]
    seen: tuple[str, ...] = ()
    """Facts that are in the conversation already: `uid@version`, or a uid alone for any version of it."""
    budget_tokens: int = 1_500
    max_facts: int = 2
    max_candidates: int = 0
    """Most facts for somebody else to choose from, the gate's best, whether they pass or not."""
    max_excerpts: int = 0
    """Most pieces of past conversations and episodes; 2 is the most."""


class RecallAnswer(msgspec.Struct, frozen=True):
    """What to inject, best first, whole facts only, and the rivals that stayed out."""

    facts: tuple[RecalledFact, ...]
    rejected: tuple[Rejected, ...] = ()
    excerpts: tuple[RecalledExcerpt, ...] = ()
    candidates: tuple[RecalledFact, ...] = ()


class PinnedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /v1/pinned`: the facts every conversation of this project starts with (D15)."""

    owner: str
    project: str
    budget_tokens: int = 800
    project_facts: str = "fit"
    """`fit`: the active project's facts while they fit; `pinned`: only pinned ones; `off`: none."""


class PinnedAnswer(msgspec.Struct, frozen=True):
    """Facts in the order they are shown."""

    facts: tuple[RecalledFact, ...]
