"""Whether the turns that a claim cites say what it claims, and in whose words (B17, I14)."""

import re
from collections.abc import Iterable

from bead.text.duplicates import fingerprint, is_near_duplicate
from bead.text.terms import significant_terms
from bead.wire.dream import ProposalKind
from bead_dream.claims import Claim, Context, Turn, Verdict, queue, refuse

ENOUGH = 0.75
"""Share of a claim's significant terms that must stand in the cited words."""
_EXACT = re.compile(r"\d")
_FROM_MEMORY = re.compile(
    r"\b(?:as|what is|was) (?:noted|remembered|recalled|stored)\b"
    r"|\b(?:in|from|per|according to) (?:the |my )?memor(?:y|ies)\b",
    re.IGNORECASE,
)


def cites_turns_that_exist(claim: Claim, context: Context) -> Verdict | None:
    """No source, or one that is not there."""
    return None if claim.turns and len(context.cited(claim)) == len(claim.turns) else refuse("no such source")


def is_said_at_all(claim: Claim, context: Context) -> Verdict | None:
    """Invented: the cited turns share no word with it."""
    everything = " ".join(part for turn in context.cited(claim) for part in _parts(turn))
    return None if share(claim.body, everything) > 0 else refuse("not in the cited turn")


def is_no_boot_text(claim: Claim, context: Context) -> Verdict | None:
    """A start-up text is the harness's: said to the agent about itself, or the same in several sessions."""
    for turn in context.cited(claim):
        lines = [line.strip() for line in f"{turn.own}\n{turn.pasted}".splitlines()]
        if any(line in context.boot_lines and share(claim.body, line) >= ENOUGH for line in lines):
            return refuse("text of every session")
        if turn.is_person and re.match(r"\s*you are (?:an?|the|now)\b", turn.own, re.IGNORECASE):
            return refuse("text of every session")
    return None


def repeats_no_memory(claim: Claim, context: Context) -> Verdict | None:
    """The agent saying again what it was told is no evidence."""
    cited = context.cited(claim)
    if not cited or any(turn.is_person and share(claim.body, turn.own) >= ENOUGH for turn in cited):
        return None
    if any(_FROM_MEMORY.search(turn.agent) for turn in cited):
        return refuse("repeats memory")
    mine = fingerprint(claim.body)
    known = any(is_near_duplicate(mine, fingerprint(fact.body)) for fact in context.known.values())
    return refuse("repeats memory") if known else None


def is_in_somebodys_own_words(claim: Claim, context: Context) -> Verdict | None:
    """The person's words carry a claim; the agent's only before it has read a tool's output; nobody else's do."""
    cited = context.cited(claim)
    own = " ".join(turn.own for turn in cited)
    foreign = " ".join(part for turn in cited for part in (turn.tool, turn.pasted))
    if _carries(claim.body, own):
        missing = terms_of(claim.body) - terms_of(own)
        is_mixed = bool(missing & terms_of(foreign))
        return _from_tool() if is_mixed else None
    agent = " ".join((own, *(turn.agent for turn in cited)))
    if _carries(claim.body, agent):
        last = max(claim.turns)
        has_read = any(turn.tool or turn.pasted for turn in context.turns.values() if turn.ordinal <= last)
        return _from_tool() if has_read else None
    if _carries(claim.body, f"{agent} {foreign}"):
        return _from_tool()
    return queue(ProposalKind.UNSUPPORTED, "the cited turn says only part of it")


def share(body: str, text: str) -> float:
    """Which part of the significant terms of `body` stand in `text`; 0 for a body without any."""
    wanted = terms_of(body)
    return len(wanted & terms_of(text)) / len(wanted) if wanted else 0.0


def terms_of(text: str) -> set[str]:
    """Significant terms."""
    return set(significant_terms(text))


def _carries(body: str, text: str) -> bool:
    """Most of its words, and every number: a number that nobody said is invented."""
    numbers = {term for term in terms_of(body) if _EXACT.search(term)}
    return share(body, text) >= ENOUGH and numbers <= terms_of(text)


def _parts(turn: Turn) -> Iterable[str]:
    return turn.own, turn.pasted, turn.agent, turn.tool


def _from_tool() -> Verdict:
    return queue(ProposalKind.FROM_TOOL, "drawn from a tool's output or pasted text")
