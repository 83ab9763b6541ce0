"""The table of jobs at work: looks at the clock, runs what is due one after the other, and notes each run in the store.

When a job is due is `timetable`'s to say, what it does is a function it is given.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, tzinfo
from typing import Protocol

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge

from bead.errors import BeadError, Unavailable
from bead.settings import JobSettings, JobsSettings
from bead.wire.jobs import MAX_MESSAGE, Job, JobName, JobNoted, JobResult, JobRun, JobTable, NoteJob
from bead_scheduler.timetable import due, next_moment

Work = Callable[[], Awaitable[str]]
"""Does one job; what it did in a few words without content. Raises BeadError when it could not."""

LONGEST_S = 6 * 3600.0
"""A job that has not ended by then is given up, so that it holds no other back."""

log = structlog.get_logger()


class Keeper(Protocol):
    """Where the table outlives the process: the store."""

    async def jobs(self) -> JobTable: ...

    async def note_job(self, note: NoteJob) -> JobNoted: ...


class Table:
    """The jobs of one home. Only jobs that somebody can do here (`works`) are in it."""

    def __init__(
        self,
        settings: JobsSettings,
        works: Mapping[JobName, Work],
        keeper: Keeper,
        clock: Callable[[], datetime],
        zone: tzinfo,
        registry: CollectorRegistry,
        longest_s: float = LONGEST_S,
    ) -> None:
        self._settings = settings
        self._longest_s = longest_s
        self._works = {name: works[name] for name in JobName if name in works}
        self._keeper = keeper
        self._clock = clock
        self._zone = zone
        self._jobs: dict[JobName, Job] = {}
        self._ended: dict[JobName, NoteJob] = {}
        """Ends that the store does not know of yet."""
        self._at_work = asyncio.Lock()
        self._runs = Counter("bead_job_runs", "Runs of jobs, by how they ended", ("job", "result"), registry=registry)
        self._took = Gauge("bead_job_seconds", "Time that the last run of a job took", ("job",), registry=registry)

    async def look(self) -> None:
        """Run what is due now. What cannot be noted is not begun: it would begin again after each restart."""
        async with self._at_work:
            if not self._jobs:
                await self._load()
            await self._note_ends()
            if any(job.last and job.last.result is JobResult.RUNNING for job in self._jobs.values()):
                await self._see_what_others_ended()
            for name in self._works:
                moment = self._due(self._jobs[name])
                if moment is not None:
                    await self._run(name, JobRun(due=moment, started=self._clock()))

    def jobs(self) -> tuple[Job, ...]:
        """The table as it is now; empty before the store has answered."""
        return tuple(self._jobs.values())

    def trouble(self) -> tuple[str, ...]:
        """Jobs whose last run failed, in words for a person."""
        failed = (job for job in self._jobs.values() if job.is_on and job.last and job.last.result is JobResult.FAILED)
        return tuple(f"job '{job.name}' failed: {job.last.message}" for job in failed if job.last)

    def _due(self, job: Job) -> datetime | None:
        if not job.is_on:
            return None
        return due(job.at, job.since, job.last.due if job.last else None, self._clock(), self._zone)

    async def _load(self) -> None:
        known = {job.name: job for job in (await self._keeper.jobs()).jobs}
        now = self._clock()
        jobs = {}
        for name in self._works:
            line, kept = self._line(name, known.get(name), now), known.get(name)
            jobs[name] = line if line == kept else await self._noted(line, kept)
        self._jobs = jobs

    async def _noted(self, line: Job, seen: Job | None) -> Job:
        """`line`, kept by the store; with the run that another scheduler on this home has begun since, if one has."""
        noted = await self._keeper.note_job(NoteJob(job=line, seen=_began(seen)))
        return line if noted.is_noted else self._with_next(line.model_copy(update={"last": noted.job.last}))

    async def _see_what_others_ended(self) -> None:
        for kept in (await self._keeper.jobs()).jobs:
            own = self._jobs.get(kept.name)
            if own and own.last and _began(kept) == _began(own):
                self._jobs[kept.name] = own.model_copy(update={"last": kept.last})

    def _line(self, name: JobName, known: Job | None, now: datetime) -> Job:
        setting: JobSettings = getattr(self._settings, name.value)
        since = now
        if known and known.is_on and known.at == setting.at and known.since <= now:
            since = known.since
        line = Job(name=name, is_on=setting.on, at=setting.at, since=since, last=known.last if known else None)
        return self._with_next(line)

    def _with_next(self, job: Job) -> Job:
        now = self._clock()
        last = job.last.due if job.last else None
        moment = due(job.at, job.since, last, now, self._zone) or next_moment(job.at, now, self._zone)
        return job.model_copy(update={"next": moment if job.is_on else None})

    async def _run(self, name: JobName, run: JobRun) -> None:
        """Unless another scheduler on this home was first: the store lets one of them note that it begins."""
        job = self._jobs[name]
        begun = self._with_next(job.model_copy(update={"last": run}))
        self._jobs[name] = await self._noted(begun, job)
        if self._jobs[name] is not begun:
            return
        began = time.monotonic()
        result, message = await self._outcome(name)
        self._took.labels(name).set(time.monotonic() - began)
        self._runs.labels(name, result).inc()
        log.info("job ended", job=name.value, result=result.value)
        ended = run.model_copy(update={"ended": self._clock(), "result": result, "message": message[:MAX_MESSAGE]})
        self._jobs[name] = self._with_next(job.model_copy(update={"last": ended}))
        self._ended[name] = NoteJob(job=self._jobs[name], seen=run.started)
        await self._note_ends()

    async def _outcome(self, name: JobName) -> tuple[JobResult, str]:
        try:
            async with asyncio.timeout(self._longest_s) as limit:
                return JobResult.DONE, await self._works[name]()
        except TimeoutError as error:
            if limit.expired():
                return JobResult.FAILED, f"it did not end within {self._longest_s / 3600:g} hours and was given up"
            return self._broke(name, error)
        except BeadError as error:
            return JobResult.FAILED, error.message
        except Exception as error:
            return self._broke(name, error)

    def _broke(self, name: JobName, error: Exception) -> tuple[JobResult, str]:
        # The class only: an exception's text may hold what it choked on (I15).
        log.error("job broke", job=name.value, error=type(error).__name__)
        return JobResult.FAILED, f"it broke ({type(error).__name__}); `bead logs` has the time"

    async def _note_ends(self) -> None:
        for name, note in list(self._ended.items()):
            await self._keeper.note_job(note)
            del self._ended[name]


def _began(job: Job | None) -> datetime | None:
    return job.last.started if job and job.last else None


async def look_quietly(table: Table) -> None:
    """One look at the clock; a store that does not answer is asked again at the next one."""
    try:
        await table.look()
    except Unavailable:
        log.warning("jobs wait for the store")
    except BeadError as error:
        log.error("jobs could not be looked at", error=error.code)
    except Exception as error:  # the library would log its text, which may hold what it choked on (I15)
        log.error("looking at jobs broke", error=type(error).__name__)
