"""Starts, watches, cancels and ends runs: one at a time, with its progress for whoever looks.

What a run does is `run`'s. However it ends, the store is told, so that it can be undone.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime

import structlog

from bead.clients.night import NightClient
from bead.clients.store import StoreClient
from bead.errors import BeadError, NotFound, Refused, RunInProgress
from bead.scan import Scanner
from bead.settings import DreamSettings
from bead.tasks import Tasks
from bead.wire.dream import (
    BeginRun,
    DreamStatus,
    FinishRun,
    NightState,
    Phase,
    RunState,
    RunView,
    StartRun,
    Undone,
)
from bead_dream.asking import LimitReached, Model, OnSpend
from bead_dream.changes import Changes
from bead_dream.extract import MAX_NIGHTS, unread
from bead_dream.providers import provider_of
from bead_dream.run import Run

COUNTED_S = 60.0
_DRY = "dry"

log = structlog.get_logger()


class Runner:
    """The runs of one home."""

    def __init__(
        self,
        settings: DreamSettings,
        *,
        store: StoreClient,
        nights: NightClient,
        tasks: Tasks,
        environ: Mapping[str, str],
        now: Callable[[], datetime],
        on_spend: OnSpend | None = None,
    ) -> None:
        self._settings = settings
        self._store = store
        self._nights = nights
        self._tasks = tasks
        self._environ = environ
        self._now = now
        self._on_spend = on_spend
        self._view: RunView | None = None
        self._task: asyncio.Task[None] | None = None
        self._scanner: Scanner | None = None
        self._counted: tuple[float, int] | None = None
        """When unread sessions were counted, and how many there were."""
        self._starting = asyncio.Lock()
        self._changed = asyncio.Condition()

    @property
    def current(self) -> RunView:
        """The run at work, else the last one of this process.

        Raises:
            NotFound: none has been.
        """
        if self._view is None:
            raise NotFound("no dream run has begun since this service was started")
        return self._view

    @property
    def _is_at_work(self) -> bool:
        return self._view is not None and self._view.state is RunState.RUNNING

    async def start(self, request: StartRun) -> RunView:
        """Begin a run; it goes on by itself.

        Raises:
            RunInProgress: one is at work.
            BadRequest: the settings name a provider without a model.
        """
        if self._starting.locked() or self._is_at_work:
            raise RunInProgress("a dream run is at work already; 'bead dream status' shows how far it is")
        async with self._starting:
            provider = provider_of(self._settings, self._environ)
            name, model = self._settings.provider, provider.model if provider else None
            run = _DRY
            if not request.dry_run:
                run = (await self._nights.begin(BeginRun(provider=name, model=model))).id
            self._view = RunView(
                id=run,
                state=RunState.RUNNING,
                dry_run=request.dry_run,
                provider=name,
                model=model,
                phase=Phase.CHECK,
                done=0,
                total=0,
                started=self._now(),
            )
            changes = Changes(self._nights, run, self._settings.max_changes, is_dry=request.dry_run)
            if self._scanner is None:
                self._scanner = await asyncio.to_thread(Scanner.load)
            scanner = self._scanner
            asked = None
            if provider is not None:
                asked = Model(provider, self._settings, self._nights, scanner, self._now().date())
                asked.on_call = lambda tokens: self._tell(tokens=tokens)
                asked.on_spend = self._on_spend or asked.on_spend
            work = Run(
                self._settings,
                store=self._store,
                nights=self._nights,
                model=asked,
                scanner=scanner,
                changes=changes,
                progress=lambda phase, done, total: self._tell(phase=phase, done=done, total=total),
                now=self._now(),
            )
            phases = request.phases or tuple(Phase)
            self._task = self._tasks.start(self._work(work, changes, phases), name="dream run")
            return self._view

    async def cancel(self) -> RunView:
        """End the run at work where it is; what it has done stays, and can be undone.

        Raises:
            NotFound: none is at work.
        """
        if self._task is None or not self._is_at_work:
            raise NotFound("no dream run is at work")
        self._task.cancel()
        await asyncio.wait({self._task})
        return self.current

    async def undo(self, run: str) -> Undone:
        """Take a run back.

        Raises:
            Refused: it is at work.
        """
        if self._is_at_work:
            raise Refused("a dream run is at work; cancel it first or wait until it has ended")
        self._counted = None
        return await self._nights.undo(run)

    async def events(self) -> AsyncIterator[RunView]:
        """The current run now and whenever it has come further, until it has ended."""
        told: RunView | None = None
        while True:
            view = self.current
            if view is not told:
                told = view
                yield view
            if view.state is not RunState.RUNNING:
                return
            async with self._changed:
                if self._view is told:
                    await self._changed.wait()

    async def status(self) -> DreamStatus:
        """What a person asks about."""
        night = await self._nights.state()
        trouble: str | None = None
        try:
            provider_of(self._settings, self._environ)
        except BeadError as error:
            trouble = error.message
        view = self._view
        return DreamStatus(
            provider=self._settings.provider,
            model=self._settings.model,
            trouble=trouble,
            running=view if view is not None and view.state is RunState.RUNNING else None,
            runs=(await self._nights.runs()).runs,
            unread_sessions=await self._unread(night),
            failing_sessions=sum(state.failures >= MAX_NIGHTS for state in night.sessions.values()),
            spent_today=await self._nights.spent(self._now().date().isoformat()),
        )

    async def _unread(self, night: NightState) -> int:
        """How many sessions have something new; looking costs a read of each, so the answer is kept for a minute."""
        at = asyncio.get_running_loop().time()
        if self._counted is None or at - self._counted[0] > COUNTED_S:
            self._counted = at, len(await unread(self._store, night))
        return self._counted[1]

    async def _work(self, work: Run, changes: Changes, phases: tuple[Phase, ...]) -> None:
        state, message = RunState.DONE, None
        try:
            await work.work(phases)
        except LimitReached as limit:
            state, message = RunState.STOPPED, limit.message
        except asyncio.CancelledError:
            state, message = RunState.CANCELLED, "cancelled"
        except BeadError as error:
            state, message = RunState.FAILED, error.message
            log.warning("a dream run failed", error=error.code)
        except Exception as error:  # whatever it was, the run must end for those who wait, and be undoable
            state, message = RunState.FAILED, f"an error of bead itself ({type(error).__name__}); see its log"
            log.exception("a dream run failed", error=type(error).__name__)
        message = message or work.message
        if message:
            work.message = message
        # Shielded: a cancelled run is ended properly too.
        await asyncio.shield(self._tasks.start(self._end(work, changes, state, message), name="end of a dream run"))

    async def _end(self, work: Run, changes: Changes, state: RunState, message: str | None) -> None:
        self._counted = None
        view = self.current
        counts = dict(changes.counts)
        report = preview = None
        try:
            if view.dry_run:
                preview = "\n".join(work.report())
            else:
                self._tell(phase=Phase.REPORT)
                finish = FinishRun(state=state, counts=counts, night=work.night, lines=work.report())
                report = (await self._nights.finish(view.id, finish)).report
        except BeadError as error:
            state, message = RunState.FAILED, error.message
        self._tell(state=state, counts=counts, message=message, report=report, preview=preview, ended=self._now())

    def _tell(self, **news: object) -> None:
        self._view = self.current.model_copy(update=news)
        self._tasks.start(self._wake(), name="tell of a dream run")

    async def _wake(self) -> None:
        async with self._changed:
            self._changed.notify_all()
