"""The facts every conversation starts with (D15).

Pure. Marked as pinned first, then those about the person, then the active project's most important while they fit.
"""

from collections.abc import Iterable

from bead.errors import BadRequest
from bead.recall import RecalledFact
from bead.wire.index import PinnedAnswer, PinnedRequest
from bead_index.facts import FactTable, Known, VisibleFacts

MODES = ("fit", "pinned", "off")


def pinned(request: PinnedRequest, table: FactTable) -> PinnedAnswer:
    """Whole facts within the budget, in the order they are shown; equal stores give equal answers.

    Raises:
        BadRequest: unknown `project_facts`.
    """
    if request.project_facts not in MODES:
        raise BadRequest(f"project_facts is one of {', '.join(MODES)}")
    facts = table.visible(request.owner, request.project)
    ordered = facts.in_order(request.project_facts, lambda: _ordered(facts, request.project, request.project_facts))
    return PinnedAnswer(tuple(_fitting(ordered, facts, request.budget_tokens)))


def _ordered(facts: VisibleFacts, project: str, mode: str) -> list[Known]:
    return sorted((known for known in facts.all() if _eligible(known, project, mode)), key=_importance)


def _eligible(known: Known, project: str, mode: str) -> bool:
    if known.about_person:
        return True
    if known.scope != f"project/{project}":
        return known.pinned
    return mode == "fit" or (mode == "pinned" and known.pinned)


def _importance(known: Known) -> tuple[int, int, float, str]:
    stage = 0 if known.pinned else 1 if known.about_person else 2
    rank, since, uid = known.voice
    return stage, -rank, -since, uid


def _fitting(ordered: Iterable[Known], facts: VisibleFacts, left: int) -> list[RecalledFact]:
    """Those that fit, passing over one that is too long, so that a single long fact does not empty the block."""
    taken: dict[Known, None] = {}
    for known in ordered:
        if left < facts.least_tokens:
            break
        if known.tokens > left:
            continue
        # A silenced near-duplicate gives its place, also a pinned one, to the statement that speaks now.
        speaking = facts.speaker(known)
        if speaking not in taken and speaking.tokens <= left:
            taken[speaking] = None
            left -= speaking.tokens
    return [known.fact for known in taken]
