"""How a claim stands to what is known: never overrules, never says less, never resolves a conflict by itself."""

from bead.facts import Trust
from bead.wire.dream import ProposalKind
from bead_dream.claims import Claim, Context, Verdict, queue, refuse
from bead_dream.rules.support import terms_of


def says_no_less(claim: Claim, context: Context) -> Verdict | None:
    """A value that only drops words of the one it would replace is a deletion in disguise (B39)."""
    known = context.known.get(claim.key)
    if known is None or known.body == claim.body:
        return None
    return refuse("says less than what is known") if terms_of(claim.body) < terms_of(known.body) else None


def replaces_no_other_key(claim: Claim, context: Context) -> Verdict | None:
    """The model says that a fact under another key is out of date: a person decides."""
    other = claim.replaces
    if other is None or other == claim.key or other not in context.known:
        return None
    return queue(ProposalKind.KEY_CONFLICT, "it replaces what another key says")


def overrules_no_person(claim: Claim, context: Context) -> Verdict | None:
    """Another value for what the person has stated, or pinned."""
    known = context.known.get(claim.key)
    if known is None or known.body == claim.body:
        return None
    if known.trust is Trust.USER_STATED or known.pinned:
        return queue(ProposalKind.CHANGE_USER_STATED, "it changes what you stated or pinned")
    return None
