"""What past conversations of a project say about the person's newest words: at most two excerpts, on strong evidence.

Words only, never tool text (D5, I14), of the active project only, of other sessions only. The postings of a project
are read from the file when it is first asked about, newest excerpts first, and dropped when anything was taken away.
"""

from collections import OrderedDict
from collections.abc import Collection, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from bead.blocks import excerpt_tokens
from bead.errors import BeadError
from bead.recall import CueSource, RecalledExcerpt
from bead.text.instructions import is_suspicious
from bead.text.terms import significant_terms
from bead.wire.index import RecallRequest
from bead_index.database import Damaged, IndexFile
from bead_index.pace import unhurried
from bead_index.postings import Postings
from bead_index.schema import Excerpt
from bead_index.worker import Worker

MOST = 2
"""Most excerpts of one request."""
MOST_IN_PROJECT = 200_000
"""Excerpts of one project that are held, the newest; some 1 KB each."""
MOST_PROJECTS = 8
CANDIDATES = 20
"""Excerpts that are read from the file and scored exactly."""
RARE_SHARE = 0.02
"""A term is rare when at most this part of the project's excerpts, or three of them, hold it."""
RARE_TERMS = 3
"""Rare terms that must be shared."""
COVERAGE = 0.5
"""Part of what the person's words are worth that must be shared."""
ECHO = 0.6
"""An excerpt of which a larger part is the person's own words now says nothing new."""
_PAGE = 2_000


class Start(Protocol):
    """Starts work that nobody waits for."""

    def __call__(self, work: Coroutine[Any, Any, None], *, name: str) -> object: ...


@dataclass
class _Resident:
    postings: Postings
    last: int
    """Id of the newest excerpt that is in them."""
    changes: int
    """How often the file had changed when it was read."""


class Excerpts:
    """The postings of the projects that were asked about last; all of it on the event loop."""

    def __init__(self, worker: Worker, start: Start) -> None:
        self._worker = worker
        self._start = start
        self._resident: OrderedDict[str, _Resident] = OrderedDict()
        self._loading: set[str] = set()
        self._changes = 0
        self._age = 0
        """Rises when something was taken away: what was read before may hold it."""

    def written(self, went: bool) -> None:
        """The file has changed; `went`: text that it held is no more, so nothing read from it is kept."""
        if went:
            self._age += 1
            self._resident.clear()
        self._changes += 1

    async def find(self, request: RecallRequest, left_tokens: int) -> tuple[RecalledExcerpt, ...]:
        """At most `request.max_excerpts` that fit into `left_tokens`; none while a project's postings are loading."""
        wanted = _wanted(request)
        most = min(request.max_excerpts, MOST)
        if most <= 0 or len(wanted) < RARE_TERMS:
            return ()
        resident = self._resident.get(request.project)
        if resident is None or resident.changes < self._changes:
            self._load_soon(request.project)
        if resident is None:
            return ()
        self._resident.move_to_end(request.project)
        found = resident.postings.top(wanted, CANDIDATES)
        try:
            there = await self._worker.recall(lambda index: index.excerpts([each.id for each in found]))
        except (BeadError, Damaged):
            return ()
        excerpts = list(there.values())
        return tuple(_chosen(_judged(excerpts, wanted, resident.postings, request), most, left_tokens))

    def _load_soon(self, project: str) -> None:
        if project not in self._loading:
            self._loading.add(project)
            self._start(self._load(project), name="read past conversations")

    async def _load(self, project: str) -> None:
        try:
            age, changes, resident = self._age, self._changes, self._resident.get(project)
            if resident is None:
                postings, last = await self._worker.read(lambda index: _read(index, project))
            else:
                postings, last = await self._worker.read(lambda index: _read_on(index, project, resident))
            if age == self._age:
                self._resident[project] = _Resident(postings, last, changes)
                while len(self._resident) > MOST_PROJECTS:
                    self._resident.popitem(last=False)
        except (BeadError, Damaged):
            pass  # no excerpts until the file is whole again; search and health tell
        finally:
            self._loading.discard(project)


def _read(index: IndexFile, project: str) -> tuple[Postings, int]:
    first = index.first_excerpt(project, MOST_IN_PROJECT)
    rows = list(_rows(index, project, first - 1))
    return Postings((id, terms.split()) for id, terms in unhurried(rows)), rows[-1][0] if rows else 0


def _read_on(index: IndexFile, project: str, resident: _Resident) -> tuple[Postings, int]:
    new = list(_rows(index, project, resident.last))
    if len(resident.postings) + len(new) > MOST_IN_PROJECT or not resident.postings.is_settled:
        return _read(index, project)
    return resident.postings.with_more((id, terms.split()) for id, terms in new), new[-1][0] if new else resident.last


def _rows(index: IndexFile, project: str, after: int) -> Iterator[tuple[int, str]]:
    while page := index.excerpt_terms(project, after, _PAGE):
        yield from page
        after = page[-1][0]


def _wanted(request: RecallRequest) -> dict[str, float]:
    said = " ".join(cue.text for cue in request.cues if cue.source is CueSource.PERSON)
    return dict.fromkeys(significant_terms(said[:8_000]), 1.0)


def _judged(
    excerpts: Sequence[Excerpt], wanted: dict[str, float], postings: Postings, request: RecallRequest
) -> list[RecalledExcerpt]:
    """Those with enough evidence, best first."""
    worth = sum(postings.idf(term) or postings.idf_of_new for term in wanted)
    rare = max(3.0, RARE_SHARE * len(postings))
    judged: list[RecalledExcerpt] = []
    for excerpt in excerpts:
        terms = excerpt.terms.split()
        shared = sorted((term for term in terms if term in wanted), key=lambda term: (-postings.idf(term), term))
        if excerpt.owner_id == request.session or excerpt.source in request.seen or len(shared) > ECHO * len(terms):
            continue
        signs = [term for term in shared if postings.holders(term) <= rare]
        coverage = sum(postings.idf(term) for term in shared) / worth
        if len(signs) >= RARE_TERMS and coverage >= COVERAGE:
            judged.append(_recalled(excerpt, postings.score(wanted, terms), shared, coverage))
    return sorted(judged, key=lambda each: (-each.score, each.id))


def _recalled(excerpt: Excerpt, score: float, shared: Sequence[str], coverage: float) -> RecalledExcerpt:
    return RecalledExcerpt(
        id=excerpt.source,
        kind=excerpt.kind,
        at=datetime.fromtimestamp(excerpt.since, UTC).isoformat().replace("+00:00", "Z"),
        text=excerpt.text.strip(),
        score=round(score, 4),
        terms=tuple(shared),
        reason=f"shares {len(shared)} terms, {coverage:.0%} of what the person's words are worth",
    )


def _chosen(judged: Sequence[RecalledExcerpt], most: int, left_tokens: int) -> Iterator[RecalledExcerpt]:
    """Whole excerpts within the budget, one of each turn, and none that reads like an instruction to the model."""
    taken: Collection[str] = set()
    for excerpt in judged:
        tokens = excerpt_tokens(excerpt)
        if len(taken) < most and excerpt.id not in taken and tokens <= left_tokens:
            if is_suspicious(excerpt.text):
                continue
            taken = {*taken, excerpt.id}
            left_tokens -= tokens
            yield excerpt
