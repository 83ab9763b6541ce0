"""What to inject of the facts that a gate has judged: seen ones out, duplicates once, whole facts within the budget.

Pure. How strongly a turn points at a fact is the gate's to say (`cards`, or the strict `evidence`); what a person
searches is `search`.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

import msgspec

from bead.conversations import is_told
from bead.recall import Code, RecalledFact, Rejected
from bead.wire.dream import Calibration
from bead.wire.index import RecallAnswer, RecallRequest
from bead_index.facts import FactTable, Known, VisibleFacts

MAX_REJECTED = 10
"""Most rivals that an answer names, best first."""


class Judged(msgspec.Struct, frozen=True):
    """A fact under consideration; `against` says why the gate keeps it out, and is empty when it does not."""

    known: Known
    score: float
    terms: tuple[str, ...]
    """What it shares with the cues, strongest first."""
    against: str = ""
    reason: str = ""
    """Why the gate lets it in, in plain words."""
    code: Code = Code.NONE
    """The same as one word, for either."""

    @property
    def order(self) -> tuple[float, int, str]:
        """Ascending: best score, then higher trust; the uid settles ties, so that equal requests get equal answers."""
        return -round(self.score, 9), -self.known.rank, self.known.uid


class Gate(Protocol):
    """Decides which facts a turn needs."""

    @property
    def threshold(self) -> float:
        """The score from which a fact passes."""
        ...

    def calibrate(self, calibration: Calibration) -> None:
        """Obey what the nights have learnt from judged turns, as far as this gate can."""
        ...

    def judge(self, request: RecallRequest, facts: VisibleFacts) -> Sequence[Judged]:
        """Every fact worth a thought, with a score and whether it passes; facts are `visible` ones only.

        What the conversation has seen and what fits is not its concern.
        """
        ...


def recall(request: RecallRequest, table: FactTable, gate: Gate) -> RecallAnswer:
    """Facts for `request`, best first, and the rivals that stayed out with the reason."""
    facts = table.visible(request.owner, request.project)
    judged = sorted(gate.judge(request, facts), key=lambda candidate: candidate.order)
    answer = choose(judged, facts, request.seen, request.budget_tokens, request.max_facts)
    if not request.max_candidates:
        return answer
    return msgspec.structs.replace(answer, candidates=_candidates(judged, facts, request))


def _candidates(judged: Sequence[Judged], facts: VisibleFacts, request: RecallRequest) -> tuple[RecalledFact, ...]:
    """The best of `judged` that the conversation has not seen, with those that speak in their place; each once."""
    open_to_all = (msgspec.structs.replace(each, against="") for each in judged[: request.max_candidates])
    budget = request.budget_tokens
    return choose(tuple(open_to_all), facts, request.seen, budget, request.max_candidates).facts


def choose(
    judged: Sequence[Judged], facts: VisibleFacts, seen: Collection[str], budget_tokens: int, max_facts: int
) -> RecallAnswer:
    """Take of `judged` (best first) what fits; a silenced near-duplicate gives its place to the one that speaks."""
    seen = frozenset(seen)
    chosen: dict[str, Judged] = {}
    rejected: list[Rejected] = []
    left = budget_tokens
    for candidate in judged:
        enough = f"{max_facts} better ones are enough" if len(chosen) >= max_facts else ""
        if against := candidate.against or enough:
            if len(rejected) < MAX_REJECTED:
                code = candidate.code if candidate.against else Code.ENOUGH
                rejected.append(_rejected(candidate, against, code))
            continue
        speaking = _speaking(candidate, facts)
        reason, code = _reason(candidate, speaking, chosen, seen, left)
        if not reason:
            chosen[speaking.known.uid] = speaking
            left -= speaking.known.tokens
        if reason or speaking is not candidate:
            rejected.append(_rejected(candidate, reason or _SILENCED, code or Code.SILENCED))
    return RecallAnswer(tuple(_recalled(each) for each in chosen.values()), tuple(rejected[:MAX_REJECTED]))


_SILENCED = "a newer or more trusted statement says it instead"


def _speaking(candidate: Judged, facts: VisibleFacts) -> Judged:
    speaker = facts.speaker(candidate.known)
    return candidate if speaker is candidate.known else msgspec.structs.replace(candidate, known=speaker)


def _reason(
    candidate: Judged, speaking: Judged, chosen: Collection[str], seen: Collection[str], left: int
) -> tuple[str, Code]:
    """Why it stays out all the same; empty when it does not."""
    uid = speaking.known.uid
    if any(is_told(each.known.uid, each.known.fact.version, seen) for each in (candidate, speaking)):
        return "already in this conversation", Code.SEEN
    if uid in chosen:
        return _SILENCED, Code.SILENCED
    if speaking.known.tokens > left:
        return f"does not fit into the {left} tokens that are left", Code.BUDGET
    return "", Code.NONE


def _recalled(judged: Judged) -> RecalledFact:
    return msgspec.structs.replace(
        judged.known.fact, score=round(judged.score, 4), terms=judged.terms, reason=judged.reason, code=judged.code
    )


def _rejected(judged: Judged, reason: str, code: Code) -> Rejected:
    return Rejected(judged.known.uid, round(judged.score, 4), reason, code)
