"""Times recall in a real index beside a real store, and the same questions put to FTS5 and to a dictionary."""

import asyncio
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import ParamSpec
from unittest import mock

import msgspec

from bead.bus.service import HotRoute
from bead.bus.transport import InProcessTransport
from bead.clients.index import IndexClient
from bead.clients.store import StoreClient
from bead.facts import FactType, Trust
from bead.home import Home
from bead.recall import Cue, CueSource
from bead.settings import IndexSettings, StoreSettings
from bead.text.terms import significant_terms
from bead.wire.index import RecallRequest
from bead.wire.store import WriteFact
from bead_evals.bench.failures import BenchFailed
from bead_evals.bench.stats import percentile
from bead_index.app import create_service as index_service
from bead_store.app import create_service as store_service
from bead_store.home import prepare

VISIBLE_SHARE = 5
"""One fact in so many is in the project that asks."""
TERMS = 40
_VOCABULARY = 3_000
_FACT_WORDS = 12
_READY_LIMIT_S = 120.0
_SEARCH_LIMIT_S = 10.0
_WRITERS = 16
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprtvz" for vowel in "aiou"]

P = ParamSpec("P")


class Times(msgspec.Struct, frozen=True):
    """Wall clock of one kind of call, milliseconds."""

    p50_ms: float
    p95_ms: float


class SizeResult(msgspec.Struct, frozen=True):
    """One number of facts."""

    facts: int
    visible: int
    terms: int
    recall: Times
    fts5_rank: Times
    fts5_score: Times
    floor: Times
    write: Times
    """From the call that writes a fact to the first search that finds it."""
    fts5_write: Times


async def measure(facts: int, requests: int, writes: int) -> SizeResult:
    """Everything at one number of facts.

    Raises:
        BenchFailed: recall found nothing, or a part did not start.
    """
    rng = Random(facts)
    words = Words(rng)
    made = list(made_facts(facts, words))
    visible = [fact for fact in made if fact.project == "shop"]
    questions = [words.some(TERMS) for _ in range(requests)]
    with tempfile.TemporaryDirectory(prefix="bead-bench-") as folder, without_flushes():
        home = Home(Path(folder))
        prepared = prepare(home)
        store = store_service(StoreSettings(), home, "me")
        client = StoreClient(InProcessTransport("store", store.app))
        async with store.running():
            await write_all(client, made)
            index = index_service(IndexSettings(), home, client, prepared.home_id)
            searching = IndexClient(InProcessTransport("index", index.app))
            async with index.running():
                await ready(client, searching)
                recall = index.hot["/v1/recall"]
                table = _Fts5(home.root / "bench.db", [fact.body for fact in visible])
                times = await _time_questions(questions, recall, table, _postings(visible))
                written = [await _time_write(client, searching, number) for number in range(writes)]
                inserted = [_timed(table.add, f"inserted{number}") for number in range(writes)]
                table.close()
    return SizeResult(facts, len(visible), TERMS, *map(_summed, (*times, written, inserted)))


async def _time_questions(
    questions: Sequence[Sequence[str]], recall: HotRoute, table: "_Fts5", postings: dict[str, tuple[int, ...]]
) -> tuple[list[float], list[float], list[float], list[float]]:
    """Milliseconds of recall, FTS5 by rank, FTS5 by score, and the floor, for each question in turn."""
    recalls: list[float] = []
    ranks: list[float] = []
    scores: list[float] = []
    floors: list[float] = []
    found = 0
    for question in questions:
        body = msgspec.json.encode(_request(question))
        began = time.perf_counter()
        answer = await recall(body)
        recalls.append(_ms_since(began))
        found += b'"uid"' in answer
        terms = list(significant_terms(" ".join(question)))
        ranks.append(_timed(table.by_rank, terms))
        scores.append(_timed(table.by_score, terms))
        floors.append(_timed(_looked_up, postings, terms))
    if not found:
        raise BenchFailed("recall found nothing for any question, so there is nothing to measure")
    return recalls, ranks, scores, floors


async def _time_write(store: StoreClient, index: IndexClient, number: int) -> float:
    word = f"written{number}"
    began = time.perf_counter()
    await store.write_fact(WriteFact(key=f"user/{word}", body=f"This is {word}.", trust=Trust.USER_STATED))
    async with asyncio.timeout(_SEARCH_LIMIT_S):
        while not (await index.search(word)).hits:
            pass
    return _ms_since(began)


async def write_all(store: StoreClient, facts: Sequence[WriteFact]) -> None:
    waiting = iter(facts)

    async def write() -> None:
        for fact in waiting:
            await store.write_fact(fact)

    async with asyncio.TaskGroup() as group:
        for _ in range(_WRITERS):
            group.create_task(write())


async def ready(store: StoreClient, index: IndexClient) -> None:
    seq = (await store.manifest()).seq
    if not await index.applied(seq, wait_s=_READY_LIMIT_S):
        raise BenchFailed(f"the index was not ready within {_READY_LIMIT_S:.0f} s", exit_code=3)


def _request(question: Sequence[str]) -> RecallRequest:
    return RecallRequest(
        owner="me", project="shop", session="bench", cues=(Cue(CueSource.PERSON, " ".join(question)),), max_facts=2
    )


def made_facts(count: int, words: "Words") -> Iterator[WriteFact]:
    for number in range(count):
        project = "shop" if number % VISIBLE_SHARE == 0 else f"other{number % VISIBLE_SHARE}"
        body = " ".join(words.some(_FACT_WORDS)).capitalize() + "."
        yield WriteFact(
            key=f"project/{project}/fact-{number}", body=body, type=FactType.REFERENCE, trust=Trust.USER_STATED,
            project=project,
        )  # fmt: skip


def _postings(facts: Sequence[WriteFact]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for number, fact in enumerate(facts):
        for term in significant_terms(fact.body):
            found.setdefault(term, []).append(number)
    return {term: tuple(numbers) for term, numbers in found.items()}


class Words:
    """Made-up words, the n-th of them n times rarer than the first, as in natural text."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._words = list(dict.fromkeys("".join(rng.choices(_SYLLABLES, k=4)) for _ in range(_VOCABULARY)))
        self._weights = list(accumulate(1 / (place + 10) for place in range(len(self._words))))

    def some(self, count: int) -> list[str]:
        """`count` different words."""
        found: dict[str, None] = {}
        while len(found) < count:
            found |= dict.fromkeys(self._rng.choices(self._words, cum_weights=self._weights, k=count))
        return list(found)[:count]


class _Fts5:
    """The usual full-text table, as somebody would write it in an hour."""

    def __init__(self, path: Path, texts: Sequence[str]) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("CREATE VIRTUAL TABLE words USING fts5(terms)")
        self._db.execute("BEGIN")
        self._db.executemany("INSERT INTO words (terms) VALUES (?)", [(self._terms(text),) for text in texts])
        self._db.execute("COMMIT")

    def close(self) -> None:
        self._db.close()

    def add(self, text: str) -> None:
        self._db.execute("INSERT INTO words (terms) VALUES (?)", (text,))

    def by_rank(self, terms: Sequence[str]) -> list[tuple[int]]:
        query = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10"
        return self._db.execute(query, (self._any(terms),)).fetchall()

    def by_score(self, terms: Sequence[str]) -> list[tuple[int, float]]:
        query = "SELECT rowid, bm25(words) AS s FROM words WHERE words MATCH ? ORDER BY s LIMIT 10"
        return self._db.execute(query, (self._any(terms),)).fetchall()

    @staticmethod
    def _terms(text: str) -> str:
        return " ".join(significant_terms(text))

    @staticmethod
    def _any(terms: Sequence[str]) -> str:
        return " OR ".join(f'"{term}"' for term in terms)


@contextmanager
def without_flushes() -> Iterator[None]:
    # A throw-away home: what a flush costs is the disk's number, and ten thousand of them would be all one waits for.
    with mock.patch.object(os, "fsync"), mock.patch.object(os, "fdatasync", create=True):
        yield


def _looked_up(postings: dict[str, tuple[int, ...]], terms: Sequence[str]) -> int:
    return sum([len(postings.get(term, ())) for term in terms])


def _timed(work: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> float:
    began = time.perf_counter()
    work(*args, **kwargs)
    return _ms_since(began)


def _ms_since(began: float) -> float:
    return (time.perf_counter() - began) * 1_000


def _summed(samples: Sequence[float]) -> Times:
    return Times(percentile(samples, 0.5), percentile(samples, 0.95))
