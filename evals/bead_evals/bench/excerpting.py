"""Times the search for excerpts of past conversations, beside raw FTS5 and beside the mere look-ups in a dictionary."""

import asyncio
import os
import tempfile
import time
from collections.abc import Coroutine, Iterator, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from bead.recall import Cue, CueSource
from bead.tasks import Tasks
from bead.text.terms import significant_terms
from bead.turns import Role
from bead.wire.index import RecallRequest
from bead.wire.store import TurnView
from bead_evals.bench.stats import percentile
from bead_index.database import IndexFile
from bead_index.excerpts import CANDIDATES, MOST_IN_PROJECT, Excerpts
from bead_index.postings import Postings
from bead_index.worker import Worker

PROJECTS = 5
TERMS = 50
_WORDS = 70
_VOCABULARY = 30_000
_TURNS = 100
_CHECKED = 10
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprtvz" for vowel in "aiou"]
_AT = datetime(2026, 11, 5, tzinfo=UTC)
_BEST = 5


class ExcerptResult(msgspec.Struct, frozen=True):
    """One number of chunks; times in milliseconds unless they say otherwise."""

    chunks: int
    in_scope: int
    terms: int
    recall_p50: float
    recall_p95: float
    fts5_p50: float
    fts5_p95: float
    floor_p50: float
    floor_p95: float
    kept: float
    """Part of the exact best five that is among the candidates."""
    start_s: float
    """Reading one project's postings from the file."""
    memory_mb: float
    """What they add to the process."""


async def measure(chunks: int, requests: int) -> ExcerptResult:
    """Everything at one number of chunks."""
    rng = Random(chunks)
    words = _Made(rng)
    with tempfile.TemporaryDirectory(prefix="bead-bench-") as folder:
        path = Path(folder) / "index.db"
        _fill(path, chunks, words)
        async with Worker(path) as worker, Tasks() as tasks:
            loading: list[asyncio.Task[None]] = []

            def start(work: Coroutine[Any, Any, None], *, name: str) -> None:
                loading.append(tasks.start(work, name=name))

            excerpts = Excerpts(worker, start)
            before, began = _resident_mb(), time.perf_counter()
            await excerpts.find(_request(words.question()), 1_500)
            await asyncio.gather(*loading)
            start_s, memory_mb = time.perf_counter() - began, _resident_mb() - before
            rows = await worker.read(lambda index: index.excerpt_terms("p0", 0, MOST_IN_PROJECT))
            held = [(id, terms.split()) for id, terms in rows]
            postings = Postings(held)
            recalls, raw, floors = [], [], []
            questions = [words.question() for _ in range(requests)]
            for question in questions:
                recalls.append(await _timed(excerpts.find(_request(question), 1_500)))
                terms = list(significant_terms(question))
                raw.append(await _timed(worker.read(lambda index, terms=terms: index.match(terms, 10))))  # type: ignore[misc]
                began = time.perf_counter()
                sum([postings.holders(term) for term in terms])
                floors.append((time.perf_counter() - began) * 1_000)
    kept = _kept(postings, held, questions[:_CHECKED])
    return ExcerptResult(
        chunks,
        len(held),
        TERMS,
        *(percentile(recalls, 0.5), percentile(recalls, 0.95)),
        *(percentile(raw, 0.5), percentile(raw, 0.95)),
        *(percentile(floors, 0.5), percentile(floors, 0.95)),
        kept=kept,
        start_s=start_s,
        memory_mb=memory_mb,
    )


def _fill(path: Path, chunks: int, words: "_Made") -> None:
    index = IndexFile(path, writing=True)
    for first in range(0, chunks, _TURNS):
        session = f"s{first}"
        project = f"p{first // _TURNS % PROJECTS}"
        with index.transaction():
            index.put_session(session, list(_turns(session, project, min(_TURNS, chunks - first), words)))
    index.close()


def _turns(session: str, project: str, count: int, words: "_Made") -> Iterator[TurnView]:
    for number in range(1, count + 1):
        yield TurnView(
            session=session,
            ordinal=number,
            role=Role.ASSISTANT,
            at=_AT,
            project=project,
            text=words.chunk(),
            source=f"raw/2026/11/05/{session}.md#turn-{number}",
        )


def _request(question: str) -> RecallRequest:
    cues = (Cue(CueSource.PERSON, question),)
    return RecallRequest(owner="me", project="p0", session="bench", cues=cues, max_excerpts=2)


def _kept(postings: Postings, held: Sequence[tuple[int, list[str]]], questions: Sequence[str]) -> float:
    kept = 0
    for question in questions:
        weights = dict.fromkeys(significant_terms(question), 1.0)
        scores = {id: postings.score(weights, terms) for id, terms in held}
        best = sorted(scores, key=lambda id: -scores[id])[:_BEST]
        kept += len({each.id for each in postings.top(weights, CANDIDATES)}.intersection(best))
    return kept / (_BEST * len(questions))


async def _timed(work: Coroutine[Any, Any, object]) -> float:
    began = time.perf_counter()
    await work
    return (time.perf_counter() - began) * 1_000


def _resident_mb() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


class _Made:
    """Made-up talk, the n-th word n times rarer than the first; a third of a question's words are from one chunk."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._words = list(dict.fromkeys("".join(rng.choices(_SYLLABLES, k=5)) for _ in range(_VOCABULARY)))
        self._cumulated = list(accumulate(1 / (place + 10) for place in range(len(self._words))))
        self._some: list[list[str]] = []

    def chunk(self) -> str:
        """One piece of talk."""
        words = self._rng.choices(self._words, cum_weights=self._cumulated, k=_WORDS)
        if len(self._some) < 1_000:
            self._some.append(words)
        return " ".join(words)

    def question(self) -> str:
        """Some `TERMS` different words."""
        known = self._rng.sample(self._rng.choice(self._some), TERMS // 3)
        more = self._rng.choices(self._words, cum_weights=self._cumulated, k=2 * TERMS)
        return " ".join(list(dict.fromkeys(known + more))[:TERMS])
