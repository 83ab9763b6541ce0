"""Search for people: bm25 with a hand for the active project and for what the person stated.

Other projects are ranked lower, not left out. Recall for models is `selection`.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from math import prod
from typing import NamedTuple

from bead.errors import BadRequest
from bead.facts import Status, Trust
from bead.text.terms import query_terms, terms
from bead.wire.index import Hit, SearchAnswer, Why
from bead_index.database import IndexFile
from bead_index.schema import FACT, Piece
from bead_index.snippets import snippet
from bead_index.worker import Worker

MAX_QUERY_TERMS = 32
MAX_LIMIT = 200
_CANDIDATES = 100
"""Pieces ranked by bm25 alone before the boosts, at least; several may belong to one turn."""

_TRUST_BOOST = {Trust.USER_STATED.value: 1.3, Trust.AGENT_OBSERVED.value: 1.1, Trust.DREAM_INFERRED.value: 1.0}
_FACT_BOOST = 1.5
_OTHER_PROJECT = 0.5
_DORMANT = 0.7
_SUPERSEDED = 0.8


class Question(NamedTuple):
    """What a person looks for, and among what."""

    query: str
    project: str | None = None
    limit: int = 20
    all_versions: bool = False
    as_of: float | None = None
    """Seconds since 1970: only what held then, superseded since or not."""
    explain: bool = False


class _Scored(NamedTuple):
    score: float
    piece: Piece
    boosts: dict[str, float]


async def search(worker: Worker, question: Question) -> SearchAnswer:
    """Facts, turns and episodes that hold a word of the query, best first; each once."""
    words = query_terms(question.query, MAX_QUERY_TERMS)
    limit = max(1, min(question.limit, MAX_LIMIT))
    pieces = await worker.read(lambda index: _find(index, words, question, max(_CANDIDATES, 5 * limit)))
    best = _best_of_each(pieces, question.project)[:limit]
    holders = None
    if question.explain:
        holders = await worker.read(lambda index: {word: index.holders(word) for word in words})
    return SearchAnswer(hits=tuple(_hit(each, words, question.explain) for each in best), terms=holders)


def moment(text: str) -> float:
    """A day (its end, UTC) or a time as seconds since 1970.

    Raises:
        BadRequest: it is neither.
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise BadRequest("a date looks like 2026-11-05, a time like 2026-11-05T09:12:00Z") from None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    is_day = "T" not in text.upper() and " " not in text.strip()
    return (at + timedelta(days=1) if is_day else at).timestamp()


def _find(index: IndexFile, words: list[str], question: Question, limit: int) -> list[Piece]:
    """Whole words; where none is found their beginnings, and of scripts without blanks a single sign anywhere."""
    looks_back = question.all_versions or question.as_of is not None
    for beginnings in (False, True):
        found = index.match(words, limit, beginnings=beginnings, as_of=question.as_of)
        if looks_back:
            found += index.match(words, limit, beginnings=beginnings, older=True, as_of=question.as_of)
        if found:
            return found
    signs = [word for word in words if len(word) == 1 and not word.isascii()]
    return index.containing(signs[0], limit) if signs and not looks_back else []


def _best_of_each(pieces: Iterable[Piece], project: str | None) -> list[_Scored]:
    best: dict[str, _Scored] = {}
    for piece in pieces:
        boosts = _boosts(piece, project)
        score = piece.rank * prod(boosts.values())
        if piece.source not in best or score > best[piece.source].score:
            best[piece.source] = _Scored(score, piece, boosts)
    return sorted(best.values(), key=lambda scored: (-scored.score, scored.piece.source))


def _boosts(piece: Piece, project: str | None) -> dict[str, float]:
    boosts: dict[str, float] = {}
    if piece.kind == FACT:
        boosts |= {"fact": _FACT_BOOST, "trust": _TRUST_BOOST.get(piece.trust or "", 1.0)}
    if project and piece.project and piece.project != project:
        boosts["other project"] = _OTHER_PROJECT
    if piece.until is not None:
        boosts["superseded"] = _SUPERSEDED
    elif piece.status not in (None, Status.CURRENT.value):
        boosts["not current"] = _DORMANT
    return boosts


def _hit(scored: _Scored, words: list[str], explain: bool) -> Hit:
    piece = scored.piece
    return Hit(
        kind=piece.kind,
        id=piece.source,
        project=piece.project,
        version=piece.version,
        trust=piece.trust,
        status=piece.status,
        snippet=snippet(piece.text, frozenset(words)),
        score=_rounded(scored.score),
        since=datetime.fromtimestamp(piece.since, UTC),
        until=None if piece.until is None else datetime.fromtimestamp(piece.until, UTC),
        why=_why(scored, words) if explain else None,
    )


def _why(scored: _Scored, words: list[str]) -> Why:
    held = {*terms(scored.piece.text), *terms(scored.piece.source)}
    shared = tuple(word for word in words if word in held)
    return Why(terms=shared, bm25=_rounded(scored.piece.rank), boosts=scored.boosts)


def _rounded(score: float) -> float:
    return float(f"{score:.4g}")
