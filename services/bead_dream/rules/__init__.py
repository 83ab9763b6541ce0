"""The rules of a claim, in their order; the first that has a word decides. Each is a pure function of its own.

What was forgotten or rejected is refused by the store, which alone knows, before anything is queued or written.
"""

from bead_dream.claims import Claim, Context, Outcome, Rule, Verdict
from bead_dream.rules.instructions import reads_like_no_instruction
from bead_dream.rules.shape import (
    body_is_short,
    body_is_there,
    holds_no_credential,
    is_no_sentinel,
    is_not_about_the_agent,
    key_is_valid,
    type_is_valid,
)
from bead_dream.rules.standing import overrules_no_person, replaces_no_other_key, says_no_less
from bead_dream.rules.support import (
    cites_turns_that_exist,
    is_in_somebodys_own_words,
    is_no_boot_text,
    is_said_at_all,
    repeats_no_memory,
)

ORDER: tuple[Rule, ...] = (
    key_is_valid,
    type_is_valid,
    body_is_there,
    body_is_short,
    holds_no_credential,
    cites_turns_that_exist,
    is_no_sentinel,
    is_not_about_the_agent,
    is_no_boot_text,
    is_said_at_all,
    repeats_no_memory,
    says_no_less,
    reads_like_no_instruction,
    is_in_somebodys_own_words,
    replaces_no_other_key,
    overrules_no_person,
)
"""Refusals first, then what a person decides; a claim that no rule holds back is written as inferred."""


def judge(claim: Claim, context: Context) -> Verdict:
    """What becomes of a claim."""
    for rule in ORDER:
        verdict = rule(claim, context)
        if verdict is not None:
            return verdict
    return Verdict(Outcome.WRITE, "said in a turn")
