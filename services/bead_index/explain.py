"""Why a turn gets what it gets: recall once more with a gate of its own, so that asking changes no later answer (D8).

Pure. What was decided at the time is in the trace; this is what the facts of now would give.
"""

from collections.abc import Iterable

from bead.recall import Cue, CueSource
from bead.text.terms import significant_terms
from bead.wire.explain import ExplainAnswer, ExplainRequest, Weighed
from bead.wire.index import RecallRequest
from bead_index.facts import FactTable, Known
from bead_index.selection import Gate, recall

_SESSION = "explain"
_MOST_TERMS = 60


def explain(request: ExplainRequest, table: FactTable, gate: Gate, name: str) -> ExplainAnswer:
    """What `gate`, new and called `name`, makes of the turn after what came before it."""
    facts = table.visible(request.owner, request.project)
    for cues in request.earlier:
        gate.judge(_question(request, cues), facts)
    answer = recall(_question(request, request.cues), table, gate)
    shows = significant_terms(request.then).keys() - _all_terms(request.cues)
    selected = []
    for fact in answer.facts:
        known = facts.by_uid[fact.uid]
        selected.append(_weighed(known, fact.score, fact.reason, fact.terms, shows, fact.code))
    rejected = [
        _weighed(facts.by_uid[each.uid], each.score, each.reason, (), shows, each.code) for each in answer.rejected
    ]
    also = [_weighed(facts.by_uid[uid], 0.0, "", (), shows) for uid in request.also if uid in facts.by_uid]
    return ExplainAnswer(
        name, gate.threshold, _terms_by_source(request.cues), tuple(selected), tuple(rejected), tuple(also)
    )


def _question(request: ExplainRequest, cues: tuple[Cue, ...]) -> RecallRequest:
    return RecallRequest(
        owner=request.owner,
        project=request.project,
        session=_SESSION,
        cues=cues,
        seen=request.seen,
        budget_tokens=request.budget_tokens,
        max_facts=request.max_facts,
    )


def _weighed(
    known: Known, score: float, reason: str, terms: tuple[str, ...], shows: set[str], code: str = ""
) -> Weighed:
    fact = known.fact
    used = tuple(term for term in significant_terms(fact.body) if term in shows)
    return Weighed(fact.uid, fact.key, fact.version, score, reason, terms, known.tokens, used, str(code))


def _all_terms(cues: Iterable[Cue]) -> set[str]:
    return {term for cue in cues for term in significant_terms(cue.text)}


def _terms_by_source(cues: Iterable[Cue]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {source.value: {} for source in CueSource}
    for cue in cues:
        found[cue.source.value] |= significant_terms(cue.text)
    return {source: tuple(terms)[:_MOST_TERMS] for source, terms in found.items() if terms}
