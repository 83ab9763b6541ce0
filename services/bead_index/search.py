"""Search for people: bm25 with a hand for the active project and for what the person stated.

Other projects are ranked lower, not left out. Recall for models is `selection`.
"""

from collections.abc import Iterable

from bead.facts import Status, Trust
from bead.text.terms import query_terms
from bead.wire.index import Hit, SearchAnswer
from bead_index.database import FACT, IndexFile, Piece
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


async def search(worker: Worker, query: str, project: str | None, limit: int) -> SearchAnswer:
    """At most `limit` facts and turns that hold a word of `query`, best first; each turn once."""
    words = query_terms(query, MAX_QUERY_TERMS)
    limit = max(1, min(limit, MAX_LIMIT))
    pieces = await worker.read(lambda index: _find(index, words, max(_CANDIDATES, 5 * limit)))
    best = _best_of_each(pieces, project)[:limit]
    return SearchAnswer(hits=tuple(_hit(piece, score, words) for score, piece in best))


def _find(index: IndexFile, words: list[str], limit: int) -> list[Piece]:
    """Whole words; where none is found their beginnings, and of scripts without blanks a single sign anywhere."""
    if found := index.match(words, limit) or index.match(words, limit, beginnings=True):
        return found
    signs = [word for word in words if len(word) == 1 and not word.isascii()]
    return index.containing(signs[0], limit) if signs else []


def _best_of_each(pieces: Iterable[Piece], project: str | None) -> list[tuple[float, Piece]]:
    best: dict[str, tuple[float, Piece]] = {}
    for piece in pieces:
        score = piece.rank * _boost(piece, project)
        if piece.source not in best or score > best[piece.source][0]:
            best[piece.source] = (score, piece)
    return sorted(best.values(), key=lambda scored: (-scored[0], scored[1].source))


def _boost(piece: Piece, project: str | None) -> float:
    boost = _FACT_BOOST * _TRUST_BOOST.get(piece.trust or "", 1.0) if piece.kind == FACT else 1.0
    if project and piece.project and piece.project != project:
        boost *= _OTHER_PROJECT
    return boost if piece.status in (None, Status.CURRENT.value) else boost * _DORMANT


def _hit(piece: Piece, score: float, words: list[str]) -> Hit:
    return Hit(
        kind=piece.kind,
        id=piece.source,
        project=piece.project,
        version=piece.version,
        trust=piece.trust,
        status=piece.status,
        snippet=snippet(piece.text, frozenset(words)),
        score=float(f"{score:.4g}"),
    )
