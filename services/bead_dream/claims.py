"""The words of a night: turns as the job sees them, claims of a model, and what the rules decide about a claim.

Pure. Who makes turns of the raw log is `transcript`; the rules are `rules`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from bead.facts import FactVersion
from bead.wire.dream import ProposalKind


class Turn(NamedTuple):
    """One turn, its words apart by who they are from."""

    ordinal: int
    source: str
    is_person: bool
    own: str = ""
    """What the person typed: without code, quotations, elements, and the middle of a long paste."""
    pasted: str = ""
    """The rest of a person's message: somebody else's words, as far as anybody can tell."""
    agent: str = ""
    """What the agent said."""
    tool: str = ""
    """Inputs and results of tools."""

    def __repr__(self) -> str:
        return f"Turn({self.source!r})"


class Claim(NamedTuple):
    """A fact as a model proposes it."""

    key: str
    body: str
    type: str
    turns: tuple[int, ...]
    replaces: str | None = None
    """Key of another fact that it takes the place of, as the model says."""

    def __repr__(self) -> str:
        return f"Claim(turns={self.turns})"


class Outcome(StrEnum):
    """What becomes of a claim."""

    REFUSE = "refused"
    QUEUE = "queued"
    WRITE = "written"


class Verdict(NamedTuple):
    """The word of the first rule that has one."""

    outcome: Outcome
    reason: str
    """In plain words, without content; counts are kept by it."""
    kind: ProposalKind | None = None


@dataclass(frozen=True)
class Context:
    """Everything that a rule may look at."""

    turns: Mapping[int, Turn]
    """Of the session, by ordinal: also those that were read in another night."""
    known: Mapping[str, FactVersion]
    """Current facts of the session's scopes, by key."""
    scopes: tuple[str, ...]
    holds_secret: Callable[[str], bool] = lambda text: False
    boot_lines: frozenset[str] = field(default_factory=frozenset)
    """Lines that stand in the first turns of several sessions: text of a harness, not of a person."""

    def cited(self, claim: Claim) -> list[Turn]:
        """The turns that a claim names and that exist."""
        return [self.turns[ordinal] for ordinal in claim.turns if ordinal in self.turns]


Rule = Callable[[Claim, Context], Verdict | None]


def refuse(reason: str) -> Verdict:
    """The claim is dropped, and counted."""
    return Verdict(Outcome.REFUSE, reason)


def queue(kind: ProposalKind, reason: str) -> Verdict:
    """A person decides."""
    return Verdict(Outcome.QUEUE, reason, kind)
