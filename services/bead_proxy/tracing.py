"""What one request was given and why, told when its answer has ended: ids, scores and numbers (D8, I15).

`Notes` is filled by `memory` on the way; `Tracer` makes a trace of it and hands it on, off the request path. When more
traces wait than may, the newest is dropped and counted: a request never waits for its own trace.
"""

import asyncio
import re
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bead.clients.store import StoreClient
from bead.conversations import Block, BlockKind
from bead.errors import BeadError
from bead.recall import Code
from bead.tasks import Tasks
from bead.wire.index import RecallAnswer
from bead.wire.traces import Chosen as ChosenId
from bead.wire.traces import Rival, TurnTrace
from bead_proxy.capture import Place
from bead_proxy.choosing import Chosen
from bead_proxy.failures import log_failure
from bead_proxy.metrics import Metrics
from bead_proxy.protocol import ModelRequest, Usage

OnTrace = Callable[[TurnTrace], None]

NO_SESSION = "unknown"
"""Of a request that names none and was not read."""
OFF, TOO_LARGE, UNREADABLE, FAILED = "off for this request", "too large", "unreadable", "failed"
"""Why memory had nothing to do with a request."""
MOST_WAITING = 500
_ONE_TRY_S = 5.0
_CHARACTERS_A_TOKEN = 4
_SOURCE = re.compile(r"#(turn-\d+)\Z")


@dataclass(slots=True)
class Notes:
    """What is known of one request so far."""

    protocol: str
    harness: str
    session: str = ""
    """As the headers name it, for a request whose place is never known."""
    started: float = field(default_factory=time.perf_counter)
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    model: str = ""
    kind: str = ""
    cues: dict[str, int] = field(default_factory=dict)
    place: Place | None = None
    blocks: Sequence[Block] = ()
    """Those the request carries, earlier ones included."""
    chosen: Chosen | None = None
    """What was decided for this request and kept."""
    abstained: str = ""
    failures: list[str] = field(default_factory=list)
    added_ms: dict[str, float] = field(default_factory=dict)
    captured: "asyncio.Future[str | None] | None" = None
    """Where the person's side of it lies in the raw log, once it does."""

    def read(self, request: ModelRequest) -> None:
        """Note what the request is."""
        self.model = request.model
        if request.side is not None:
            self.kind, self.abstained = request.side.value, "side request"
        else:
            self.kind = "human" if request.users and request.users[-1].human_text else "tool"
        for cue in request.cues:
            self.cues[cue.source.value] = self.cues.get(cue.source.value, 0) + len(cue.text)

    def spent(self, part: str, since: float) -> None:
        """Add the time from `since` until now to a part's."""
        self.added_ms[part] = round(self.added_ms.get(part, 0.0) + (time.perf_counter() - since) * 1_000, 3)

    @property
    def inserted_tokens(self) -> int:
        """Estimate, of every block in the request."""
        return sum(_tokens(block.text) for block in self.blocks)

    @property
    def added_block(self) -> bool:
        """Whether this request carries text that no request before it carried."""
        return self.chosen is not None and any(block.text for block in self.chosen.blocks)


class Tracer:
    """Hands traces to the store, and to whoever follows in this process."""

    def __init__(self, store: StoreClient, metrics: Metrics, on_trace: OnTrace | None) -> None:
        self._store = store
        self._metrics = metrics
        self._on_trace = on_trace
        self._waiting: asyncio.Queue[tuple[Notes, Usage, int]] = asyncio.Queue(MOST_WAITING)

    def start(self, tasks: Tasks) -> None:
        """Begin to hand on."""
        tasks.start(self._run(), name="tell traces")

    async def drain(self, limit_s: float) -> None:
        """Wait until all is handed on, at most `limit_s`."""
        try:
            async with asyncio.timeout(limit_s):
                await self._waiting.join()
        except TimeoutError:
            self._metrics.traces.labels("dropped").inc(self._waiting.qsize())

    def tell(self, notes: Notes, usage: Usage, status: int) -> None:
        """The answer to the request of `notes` has ended. Never waits and never raises."""
        if notes.place is None and not notes.abstained:
            return
        try:
            self._waiting.put_nowait((notes, usage, status))
        except asyncio.QueueFull:
            self._metrics.traces.labels("dropped").inc()

    async def _run(self) -> None:
        while True:
            notes, usage, status = await self._waiting.get()
            try:
                await self._hand_on(notes, usage, status)
            except Exception as error:
                # One that cannot be told must not end the telling.
                log_failure("a trace could not be told", error)
                self._metrics.traces.labels("lost").inc()
            finally:
                self._waiting.task_done()

    async def _hand_on(self, notes: Notes, usage: Usage, status: int) -> None:
        trace = trace_of(notes, usage, status, await _step(notes))
        if trace.abstained:
            self._metrics.abstentions.labels(trace.abstained).inc()
        self._follow(trace)
        try:
            async with asyncio.timeout(_ONE_TRY_S):
                await self._store.keep_trace(trace)
        except (BeadError, TimeoutError):
            self._metrics.traces.labels("lost").inc()
        else:
            self._metrics.traces.labels("kept").inc()

    def _follow(self, trace: TurnTrace) -> None:
        try:
            if self._on_trace is not None:
                self._on_trace(trace)
        except Exception as error:
            # Whoever follows may break; the store keeps the trace all the same.
            log_failure("a trace could not be followed", error)


def trace_of(notes: Notes, usage: Usage, status: int, step: str) -> TurnTrace:
    """The trace of one request; one that memory had nothing to do with says why, and may have no place."""
    place, chosen = notes.place, notes.chosen
    session = place.session if place else notes.session or NO_SESSION
    recalled = chosen.recalled if chosen else None
    pinned = next((block for block in notes.blocks if block.kind is BlockKind.PINNED), None)
    return TurnTrace(
        turn=f"{session}/{step}",
        at=notes.at.isoformat(timespec="milliseconds"),
        session=session,
        thread=place.thread if place else "",
        project=place.scope if place else "",
        harness=notes.harness,
        protocol=notes.protocol,
        model=notes.model,
        kind=notes.kind,
        pinned=pinned.fact_uids if pinned else (),
        is_pinned_new=bool(pinned and chosen and pinned in chosen.blocks),
        selected=_selected(recalled) if recalled else (),
        rejected=tuple(
            Rival(rival.uid, rival.score, rival.code.value) for rival in (recalled.rejected if recalled else ())
        ),
        cues=notes.cues,
        threshold=_threshold(chosen),
        added_ms=notes.added_ms,
        input_tokens=usage.input,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        inserted_tokens=notes.inserted_tokens,
        abstained=notes.abstained or ("" if recalled and (recalled.facts or recalled.excerpts) else "nothing relevant"),
        failures=tuple(notes.failures),
        status=status,
    )


def _selected(recalled: RecallAnswer) -> tuple[ChosenId, ...]:
    """Facts by uid, then excerpts by where they lie."""
    facts = (
        ChosenId(fact.uid, fact.version, fact.score, fact.code.value, _tokens(fact.body)) for fact in recalled.facts
    )
    excerpts = (ChosenId(each.id, 0, each.score, Code.EXCERPT.value, _tokens(each.text)) for each in recalled.excerpts)
    return (*facts, *excerpts)


def _threshold(chosen: Chosen | None) -> float:
    """Of the gates, only the cards' has one that is the same for all facts: its scores are 0 to 1."""
    facts = chosen.recalled.facts if chosen and chosen.recalled else ()
    return 0.5 if facts and facts[0].code is not Code.EVIDENCE else 0.0


async def _step(notes: Notes) -> str:
    """`turn-N` where the person's side was kept, else a name that no other request has."""
    if notes.captured is not None:
        done, _ = await asyncio.wait({notes.captured}, timeout=_ONE_TRY_S)
        source = notes.captured.result() if done and not notes.captured.cancelled() else None
        if source and (match := _SOURCE.search(source)):
            return match[1]
    return f"request-{secrets.token_hex(6)}"


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_A_TOKEN)
