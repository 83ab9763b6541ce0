"""What the rules make of one kind of model's replies: typed facts, keys used again, claims that are no facts. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bead_dream.claims import Claim, Outcome
from bead_dream.extract import claim_of
from bead_dream.recovery import Failure, recover
from bead_dream.rules import judge
from bead_evals.extraction.suites import Session


class Score(NamedTuple):
    """Counts over all sessions."""

    expected: int
    written: int
    right: int
    """Written under the expected key, with every word that it must hold."""
    reusable: int
    reused: int
    non_facts: int
    """Claims that are no facts."""
    held_back: int
    """Those of them that were refused, or wait for a person."""
    unread: int
    """Sessions whose reply could not be recovered."""

    def rates(self) -> Mapping[str, float | None]:
        """Shares; None where there is nothing to share."""
        return {
            "precision": _share(self.right, self.written),
            "recall": _share(self.right, self.expected),
            "key_reuse": _share(self.reused, self.reusable),
            "non_facts_held_back": _share(self.held_back, self.non_facts),
        }


def score(sessions: Iterable[Session], kind: str) -> Score:
    """The score of one kind of model."""
    counts: Counter[str] = Counter()
    for session in sessions:
        counts.update(_of_session(session, session.replies[kind]))
    return Score(*(counts[name] for name in Score._fields))


def _of_session(session: Session, reply: str) -> Counter[str]:
    counts = Counter(expected=len(session.expect), reusable=len(session.reuse))
    found = recover(reply, "facts", ("key", "value"))
    if isinstance(found, Failure):
        return counts + Counter(unread=1)
    claims = [claim for item in found.document["facts"] if (claim := claim_of(item)) is not None]
    for claim in claims:
        is_written = judge(claim, session.context).outcome is Outcome.WRITE
        is_right = _is_right(claim, session)
        counts.update(
            written=is_written,
            right=is_written and is_right,
            reused=is_written and is_right and claim.key in session.reuse,
            non_facts=not is_right,
            held_back=not is_right and not is_written,
        )
    return counts


def _is_right(claim: Claim, session: Session) -> bool:
    words = session.expect.get(claim.key)
    return words is not None and all(word in claim.body.casefold() for word in words)


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None
