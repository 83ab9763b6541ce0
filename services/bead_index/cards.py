"""The default gate: trigger cards, written or by rule, against the newest step of a conversation (D7).

How a step and a card meet is `gate`; what is injected of it is `selection`.
"""

from bead.calibrating import bounded
from bead.recall import Code
from bead.wire.dream import Calibration
from bead.wire.index import RecallRequest
from bead_index.facts import VisibleFacts
from bead_index.gate.gate import Decision, TriggerGate
from bead_index.selection import Judged

_CODES = {
    "say": Code.SAY,
    "mass": Code.SAY,
    "bag": Code.SAY,
    "body": Code.SAY,
    "do": Code.DO,
    "see": Code.SEE,
}


class CardGate:
    """`selection.Gate` by cards. Remembers, bounded, what earlier steps of each session did: ask in their order.

    Scores go from 0 to 1; 0.5 is the threshold.
    """

    threshold = 0.5

    def __init__(self) -> None:
        self._trigger = TriggerGate()

    def calibrate(self, calibration: Calibration) -> None:
        """Obey what judged turns taught, within its bounds."""
        self._trigger.calibrate(*bounded(calibration.shift, calibration.offsets))

    def judge(self, request: RecallRequest, facts: VisibleFacts) -> list[Judged]:
        """The facts with a sign for them, at most `gate.MAX_CANDIDATES`."""
        decisions = self._trigger.judge(facts.cards, request.owner, request.session, request.cues)
        return [_judged(decision, facts) for decision in decisions]


def _judged(decision: Decision, facts: VisibleFacts) -> Judged:
    known = facts.by_uid[decision.subject.uid]
    if decision.passes:
        return Judged(known, decision.score, decision.terms, reason=decision.reason, code=_code(decision.sign))
    code = Code.COMPLIES if decision.follows else Code.THRESHOLD
    return Judged(known, decision.score, decision.terms, against=decision.reason, code=code)


def _code(sign: str) -> Code:
    """The code of a sign: what it is called begins with what is said, done or seen."""
    return _CODES.get(sign.partition("_")[0], Code.GATE)
