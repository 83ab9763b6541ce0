"""What a fact is: its types, trust order, status, trigger card, and one version of it.

Pure. The files are the store's (`bead_store.frontmatter`); which version is current is `bead_store.supersession`.
"""

from enum import StrEnum

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field


class FactType(StrEnum):
    """What a fact is about; the same four words Claude Code's own memory uses."""

    USER = "user"
    FEEDBACK = "feedback"
    PROJECT = "project"
    REFERENCE = "reference"


class Trust(StrEnum):
    """Who said it. Trust never falls (I4); `outranks` is the order."""

    USER_STATED = "user_stated"
    AGENT_OBSERVED = "agent_observed"
    DREAM_INFERRED = "dream_inferred"

    @property
    def rank(self) -> int:
        """2 for the person's own words, 1 for an agent's, 0 for what the night inferred."""
        return {Trust.USER_STATED: 2, Trust.AGENT_OBSERVED: 1, Trust.DREAM_INFERRED: 0}[self]

    def outranks(self, other: "Trust") -> bool:
        """Whether this trust is strictly higher."""
        return self.rank > other.rank


class Status(StrEnum):
    """Written for readers; it never picks the value, it only keeps a fact out of injection (I1)."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    DORMANT = "dormant"
    SEALED = "sealed"


class Sensitivity(StrEnum):
    """`secret` values live in the vault only (I12)."""

    PUBLIC = "public"
    PRIVATE = "private"
    SECRET = "secret"


class TriggerCard(BaseModel):
    """When a fact matters (D7). Matched, never shown to a model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    say: tuple[str, ...] = ()
    """Sentences of the person in which it matters."""
    do: tuple[str, ...] = ()
    """Literals of commands and edits."""
    see: tuple[str, ...] = ()
    """Literals of output and errors."""
    unless: tuple[str, ...] = ()
    """Literals that show the agent already complies."""

    def __bool__(self) -> bool:
        return bool(self.say or self.do or self.see or self.unless)


class FactVersion(BaseModel):
    """One version of one fact, as read from its file."""

    model_config = ConfigDict(frozen=True)

    uid: str
    """Random, the same for every version of a key: names the fact where its text must not appear."""
    key: str
    version: int = Field(ge=1)
    type: FactType
    owner: str
    status: Status
    trust: Trust
    sensitivity: Sensitivity = Sensitivity.PRIVATE
    valid_from: AwareDatetime
    """When it was written, UTC."""
    body: str
    pinned: bool = False
    sources: tuple[str, ...] = ()
    """Turns it came from, `raw/YYYY/MM/DD/<session>.md#turn-N`."""
    harness: str | None = None
    project_id: str | None = None
    """Stable identity of the project (normalised remote, root commit or path), see `bead.projects`."""
    last_injected: AwareDatetime | None = None
    when: TriggerCard = TriggerCard()

    @property
    def id(self) -> str:
        """`key@vN`, the name of this version."""
        return f"{self.key}@v{self.version}"

    def __repr__(self) -> str:  # the body is a person's text and must not reach a traceback
        return f"FactVersion(uid={self.uid!r}, version={self.version})"

    __str__ = __repr__
