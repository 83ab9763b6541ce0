"""The gate: cards in, decisions with reasons out, with what earlier steps of each session showed.

Pure: no I/O, no clock; one thread changes and asks it at a time. Budget, near-duplicates and what a conversation has
seen are `bead_index.selection`'s.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from bead.recall import Cue
from bead_index.gate import reasons
from bead_index.gate.features import Candidate, View, candidates
from bead_index.gate.index import ScopeCards, Subject
from bead_index.gate.model import Model, chance
from bead_index.gate.turn import Session, read_step
from bead_index.gate.weights import MODEL

MODE = "lighter: words, synonyms and literals; no embedding model"
"""What the gate works with, for health answers and traces."""
MAX_CANDIDATES = 10
"""Most facts that are weighed in one step, best first."""
MAX_VIEWS = 64
"""Most combinations of owner and scopes whose weights are kept."""
MAX_SESSIONS = 128
"""Sessions whose earlier steps are kept; the least recently used one is forgotten first."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether one step needs one fact."""

    subject: Subject
    chance: float
    """0 to 1, as the model has it; facts with and without a written card have thresholds of their own."""
    surplus: float
    """Log odds above the threshold: what decisions are ordered by. Negative: not needed."""
    reason: str
    terms: tuple[str, ...]
    sign: str = ""
    """The strongest sign for it, but that no other comes near; empty where there is none."""
    follows: bool = False
    """Whether the step complies with it already."""

    @property
    def score(self) -> float:
        """0 to 1 on one scale for all facts: 0.5 is the threshold."""
        return chance(self.surplus)

    @property
    def passes(self) -> bool:
        """Whether the fact is to be injected, as far as the gate has a say."""
        return self.surplus >= 0

    def __repr__(self) -> str:  # reasons quote the conversation
        return f"Decision(uid={self.subject.uid!r}, chance={self.chance:.2f}, passes={self.passes})"


class Cards:
    """Cards of every owner and scope. One thread changes and reads them at a time."""

    def __init__(self) -> None:
        self._scopes: dict[tuple[str, str], ScopeCards] = {}
        self._views: dict[tuple[str, tuple[str, ...]], View] = {}

    def put(self, owner: str, scope: str, subject: Subject) -> None:
        """Take `subject` as the current version of the fact under its uid."""
        self._scopes.setdefault((owner, scope), ScopeCards()).put(subject)
        self._views.clear()

    def drop(self, owner: str, scope: str, uid: str) -> None:
        """Forget a fact and its card, and what any view has worked out from them."""
        if (owner, scope) in self._scopes:
            self._scopes[owner, scope].drop(uid)
            self._views.clear()

    def view(self, owner: str, scopes: Sequence[str]) -> View:
        """The cards of `scopes` of one owner; good until the next change."""
        key = owner, tuple(scopes)
        if key not in self._views:
            if len(self._views) >= MAX_VIEWS:
                self._views.clear()
            found = [self._scopes[owner, scope] for scope in scopes if (owner, scope) in self._scopes]
            self._views[key] = View(found)
        return self._views[key]


class TriggerGate:
    """The model, and the sessions that are asked about."""

    def __init__(self, model: Model = MODEL) -> None:
        self._model = model
        self._offsets: Mapping[str, float] = {}
        self._shift = 0.0
        self._sessions: OrderedDict[tuple[str, str], Session] = OrderedDict()

    def calibrate(self, shift: float, offsets: Mapping[str, float]) -> None:
        """Obey what judged turns taught: log odds on the bar, and on single facts by uid."""
        self._shift, self._offsets = shift, offsets

    def judge(self, view: View, owner: str, session: str, cues: Iterable[Cue]) -> list[Decision]:
        """At most `MAX_CANDIDATES` facts of `view`, best first; what `cues` show is kept for later steps."""
        step = read_step(cues)
        context = self._session(owner, session)
        found = candidates(step, context, view, MAX_CANDIDATES)
        context.remember(step)
        return sorted(map(self._decide, found), key=lambda decision: (-decision.surplus, decision.subject.uid))

    def _decide(self, candidate: Candidate) -> Decision:
        offset = self._offsets.get(candidate.subject.uid, 0.0)
        pulls = self._model.pulls(candidate)
        logit = self._model.bias + fsum(pulls.values()) + offset
        surplus = logit - self._model.bar(candidate) - self._shift
        signs = reasons.strongest(pulls)
        return Decision(
            subject=candidate.subject,
            chance=chance(logit),
            surplus=surplus,
            reason=reasons.reason(candidate, signs, surplus >= 0, offset),
            terms=reasons.terms(candidate, signs),
            sign=next((name for name in signs if name != "lead"), ""),
            follows=bool(candidate.follows),
        )

    def _session(self, owner: str, name: str) -> Session:
        key = owner, name
        session = self._sessions.setdefault(key, Session())
        self._sessions.move_to_end(key)
        if len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return session
