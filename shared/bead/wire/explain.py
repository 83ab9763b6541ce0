"""What the index is asked and answers when a person wants to know why a turn got what it got (D8).

Worked out again from texts and the facts of now; what was decided then is the trace's to say.
"""

import msgspec

from bead.recall import Cue


class ExplainRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /v1/explain`: as `POST /v1/recall`, with what came before and what the agent did next."""

    owner: str
    project: str
    cues: tuple[Cue, ...]
    earlier: tuple[tuple[Cue, ...], ...] = ()
    """Cues of earlier steps of the session, oldest first: the gate knows what the agent follows already."""
    seen: tuple[str, ...] = ()
    budget_tokens: int = 1_500
    max_facts: int = 2
    then: str = ""
    """The agent's next turn."""
    also: tuple[str, ...] = ()
    """uids to name besides, such as those of a trace."""


class Weighed(msgspec.Struct, frozen=True):
    """One fact that was considered."""

    uid: str
    key: str
    version: int
    score: float
    reason: str
    """Why it goes in, or stays out."""
    terms: tuple[str, ...] = ()
    """What it shares with the cues, strongest first."""
    tokens: int = 0
    used: tuple[str, ...] = ()
    """Its terms that the agent's next turn holds and no cue did: signs that it was used."""
    code: str = ""
    """`bead.recall.Code` of the reason."""


class ExplainAnswer(msgspec.Struct, frozen=True):
    """Best first. A score from `threshold` on goes in, as far as the gate has a say."""

    gate: str
    threshold: float
    terms: dict[str, tuple[str, ...]]
    """Cue terms by source."""
    selected: tuple[Weighed, ...]
    rejected: tuple[Weighed, ...]
    also: tuple[Weighed, ...] = ()
    """Current facts under the uids that were asked for; without score and reason."""
