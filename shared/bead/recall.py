"""What recall takes and gives: cues by source in, selected facts with reasons out (D7, D8).

Pure. Choosing is `bead_index.selection`; putting the choice into a request is the proxy's.
"""

from enum import StrEnum

import msgspec


class CueSource(StrEnum):
    """Whose words a cue is made of; sources weigh differently."""

    PERSON = "person"
    ASSISTANT = "assistant"
    TOOL_INPUT = "tool_input"
    TOOL_OUTPUT = "tool_output"


class Cue(msgspec.Struct, frozen=True):
    """Text of the newest turn that may point at a fact."""

    source: CueSource
    text: str

    def __repr__(self) -> str:
        return f"Cue(source={self.source!r}, characters={len(self.text)})"


class Code(StrEnum):
    """Why a fact was chosen or stayed out, set where that is decided: all that a trace says of it (I15)."""

    NONE = ""
    SAY = "say"
    """What the person or the agent says points at it."""
    DO = "do"
    """What the agent is about to do, or just did."""
    SEE = "see"
    """What a tool showed, or the person quotes."""
    GATE = "gate"
    """The gate, by no single sign."""
    EVIDENCE = "evidence"
    """Shared terms, by the strict gate; reached or not."""
    EXCERPT = "excerpt"
    """A piece of a past conversation or an episode."""
    THRESHOLD = "threshold"
    """Too little speaks for it."""
    COMPLIES = "complies"
    """The step follows it already."""
    SEEN = "seen"
    """Told in this conversation before."""
    VISIBLE = "visible"
    """Stands in the request already, from elsewhere."""
    SILENCED = "silenced"
    """A near-duplicate says it instead (D2)."""
    BUDGET = "budget"
    """Does not fit into the tokens that are left."""
    ENOUGH = "enough"
    """Better ones are as many as may be told."""


class RecalledFact(msgspec.Struct, frozen=True):
    """A current fact as it is injected, with the reason it was chosen."""

    uid: str
    key: str
    version: int
    type: str
    trust: str
    valid_from: str
    body: str
    score: float = 0.0
    terms: tuple[str, ...] = ()
    """Cue terms that it shares, strongest first."""
    reason: str = ""
    """Why it was chosen, in plain words (D8): content, shown to a person, never to a model."""
    code: Code = Code.NONE

    def __repr__(self) -> str:
        return f"RecalledFact(uid={self.uid!r}, version={self.version}, score={self.score:.2f})"


class RecalledExcerpt(msgspec.Struct, frozen=True):
    """A piece of what was said in a past conversation, or of an episode, as it is injected."""

    id: str
    """Where it lies: `raw/YYYY/MM/DD/<session>.md#turn-N` or `episodes/…`; one excerpt of each at a time."""
    kind: str
    """`turn` or `episode`."""
    at: str
    text: str
    score: float = 0.0
    terms: tuple[str, ...] = ()
    reason: str = ""

    def __repr__(self) -> str:
        return f"RecalledExcerpt(kind={self.kind!r}, score={self.score:.2f})"


class Rejected(msgspec.Struct, frozen=True):
    """A candidate that stayed out, and why."""

    uid: str
    score: float
    reason: str
    code: Code = Code.NONE
