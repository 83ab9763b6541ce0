"""The rule on texts that read like an instruction to a model; how one is told is `bead.text.instructions`'s."""

from bead.text.instructions import is_suspicious
from bead.wire.dream import ProposalKind
from bead_dream.claims import Claim, Context, Verdict, queue


def reads_like_no_instruction(claim: Claim, context: Context) -> Verdict | None:
    """Suspicious: shown to a person as data, to a model never."""
    if not is_suspicious(f"{claim.body}"):
        return None
    return queue(ProposalKind.SUSPICIOUS, "it reads like an instruction to a model")
