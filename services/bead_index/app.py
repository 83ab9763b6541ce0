"""Wires the index: the file, the follower, recall and pinned as hot routes, search for people.

Nothing here reads the environment; what the routes do is `selection`, `pinned` and `search`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from time import perf_counter
from typing import TypeVar

import msgspec
import structlog
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from bead import __version__
from bead.blocks import fact_tokens
from bead.bus.service import HotRoute, Service, create_api
from bead.clients.store import StoreClient
from bead.errors import BadRequest, Unavailable
from bead.home import Home
from bead.settings import IndexSettings
from bead.tasks import Tasks
from bead.wire.dream import Calibration
from bead.wire.explain import ExplainRequest
from bead.wire.health import Health
from bead.wire.index import PinnedRequest, RecallRequest, SearchAnswer
from bead_index.cards import CardGate
from bead_index.database import Damaged
from bead_index.evidence import EvidenceGate
from bead_index.excerpts import Excerpts
from bead_index.explain import explain
from bead_index.facts import FactTable
from bead_index.follow import Follower
from bead_index.metrics import Metrics
from bead_index.pinned import pinned
from bead_index.search import Question, moment, search
from bead_index.selection import Gate, recall
from bead_index.worker import Worker

REBUILD_S = 600.0
MAX_WAIT_S = 60.0
_BUILDING = "the search index is being built again from the store; try again soon"

_GATES: Mapping[str, Callable[[], Gate]] = {"cards": CardGate, "strict": EvidenceGate}

Request = TypeVar("Request")
log = structlog.get_logger()


class Index:
    """One running index; `running` opens what it needs and closes it again."""

    def __init__(self, home: Home, store: StoreClient, gate: str, metrics: Metrics) -> None:
        self._home = home
        self._store = store
        self._gate_name = gate
        self._gate: Gate = _GATES[gate]()
        self._metrics = metrics
        self._rebuilding = asyncio.Lock()
        self._worker: Worker | None = None
        self._follower: Follower | None = None
        self._excerpts: Excerpts | None = None
        self._tasks: Tasks | None = None
        self._following: asyncio.Task[None] | None = None
        self._calibration = Calibration()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Follow the store while the block runs."""
        async with Worker(self._home.index_db) as worker, Tasks() as tasks:
            self._worker, self._tasks, self._excerpts = worker, tasks, Excerpts(worker, tasks.start)
            self._follower = Follower(self._store, worker, self._excerpts.written, self._calibrate)
            self._following = tasks.start(self._follower.run(), name="index follows the store")
            yield

    def health(self, home_id: str) -> Health:
        """Ready once the copy was equal to the store; degraded while it cannot follow."""
        follower = self._follower
        stopped = ("the index has stopped following the store; start it again",) if self._has_stopped() else ()
        return Health(
            name="index",
            version=__version__,
            ready=follower is not None and follower.ready and not stopped,
            home_id=home_id,
            degraded=stopped or (follower.degraded if follower else ("the index is not running",)),
        )

    def _calibrate(self, calibration: Calibration) -> None:
        self._calibration = calibration
        self._gate.calibrate(calibration)

    async def recall(self, body: bytes) -> bytes:
        """`POST /v1/recall`."""
        request = _decoded(_recall_request, body)
        began = perf_counter()
        answer = recall(request, self._facts(), self._gate)
        if request.max_excerpts and self._excerpts is not None:
            left = request.budget_tokens - sum(fact_tokens(fact) for fact in answer.facts)
            answer = msgspec.structs.replace(answer, excerpts=await self._excerpts.find(request, left))
        self._metrics.recalled(perf_counter() - began)
        return _encode(answer)

    async def pinned(self, body: bytes) -> bytes:
        """`POST /v1/pinned`."""
        return _encode(pinned(_decoded(_pinned_request, body), self._facts()))

    async def explain(self, body: bytes) -> bytes:
        """`POST /v1/explain`."""
        request = _decoded(_explain_request, body)
        gate = _GATES[self._gate_name]()
        gate.calibrate(self._calibration)
        return _encode(explain(request, self._facts(), gate, self._gate_name))

    async def search(self, question: Question) -> SearchAnswer:
        """`GET /v1/search`."""
        self._facts()
        assert self._worker is not None and self._follower is not None and self._tasks is not None
        if not self._follower.file_is_whole:
            raise Unavailable(_BUILDING)
        try:
            return await search(self._worker, question)
        except Damaged:
            if not self._rebuilding.locked():
                self._tasks.start(self.rebuild(is_damaged=True), name="rebuild a damaged index")
            raise Unavailable(_BUILDING) from None

    async def applied(self, seq: int, wait_s: float) -> bool:
        """`GET /v1/applied`."""
        return self._follower is not None and await self._follower.wait_applied(seq, min(wait_s, MAX_WAIT_S))

    async def check(self) -> None:
        """Compare the copy with the store and repair what differs.

        Raises:
            Unavailable: not within ten minutes.
        """
        assert self._follower is not None
        await self._follower.check(REBUILD_S)

    async def rebuild(self, *, is_damaged: bool = False) -> None:
        """Build the file anew, and return when it is in the place of the old one.

        The old one answers until then, unless it is damaged: that one is thrown away first.

        Raises:
            Unavailable: not within ten minutes; it goes on in the background.
        """
        async with self._rebuilding:
            assert self._follower is not None and self._tasks is not None and self._following is not None
            self._following.cancel()
            await asyncio.wait({self._following})
            try:
                self._follower.build_anew()
                if is_damaged:
                    log.warning("index.db is damaged; it is built again from the store")
                    await self._follower.start_over()
            finally:
                self._following = self._tasks.start(self._follower.run(), name="index follows the store")
            if not await self._follower.wait_compared(REBUILD_S):
                raise Unavailable("the index is not whole again yet: " + "; ".join(self._follower.degraded))

    def _facts(self) -> FactTable:
        if self._follower is None:
            raise Unavailable("memories are not loaded: the index is not running")
        return self._follower.facts()

    def _has_stopped(self) -> bool:
        return self._following is not None and self._following.done() and not self._rebuilding.locked()


def create_service(settings: IndexSettings, home: Home, store: StoreClient, home_id: str) -> Service:
    """The index of `home`, following `store`; its lifespan opens `index.db` and starts to follow."""
    registry = CollectorRegistry()
    index = Index(home, store, settings.gate, Metrics(registry))

    @asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncIterator[None]:
        async with index.running():
            yield

    api = create_api("index", lifespan, lambda: index.health(home_id), registry)
    _add_routes(api, index)
    return Service("index", api, _hot(index), registry)


def _hot(index: Index) -> dict[str, HotRoute]:
    return {"/v1/recall": index.recall, "/v1/pinned": index.pinned, "/v1/explain": index.explain}


def _add_routes(api: FastAPI, index: Index) -> None:
    @api.get("/v1/search")
    async def get_search(
        q: str,
        project: str | None = None,
        limit: int = 20,
        all_versions: bool = False,
        as_of: str | None = None,
        explain: bool = False,
    ) -> SearchAnswer:
        at = moment(as_of) if as_of else None
        return await index.search(Question(q, project, limit, all_versions, at, explain))

    @api.post("/v1/rebuild", status_code=204)
    async def post_rebuild() -> None:
        await index.rebuild()

    @api.post("/v1/check", status_code=204)
    async def post_check() -> None:
        await index.check()

    @api.get("/v1/applied")
    async def get_applied(seq: int, wait_s: float = 0.0) -> bool:
        return await index.applied(seq, wait_s)


_encode = msgspec.json.Encoder().encode
_recall_request = msgspec.json.Decoder(RecallRequest).decode
_explain_request = msgspec.json.Decoder(ExplainRequest).decode
_pinned_request = msgspec.json.Decoder(PinnedRequest).decode


def _decoded(decode: Callable[[bytes], Request], body: bytes) -> Request:
    try:
        return decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        place = str(error).partition(" - at ")[2] if isinstance(error, msgspec.ValidationError) else ""
        raise BadRequest(f"the request is not well formed{f' at {place}' if place else ''}") from None
