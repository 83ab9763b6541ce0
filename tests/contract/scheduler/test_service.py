"""The scheduler beside a store: what is due runs at its start, and health and the store tell the same of it."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

from bead.bus.transport import DEFAULT_TIMEOUT_S, Answer, InProcessTransport, Transport
from bead.clients.health import health
from bead.clients.store import StoreClient
from bead.errors import ServiceDown, Unavailable
from bead.settings import SchedulerSettings
from bead.tasks import Tasks
from bead.wire.jobs import Job, JobName, JobResult, JobTable
from bead_scheduler.app import create_service, follow_the_clock
from tests.fakes.store import FakeStore

YESTERDAY = datetime(2026, 11, 29, 12, tzinfo=UTC)
MORNING = datetime(2026, 11, 30, 9, tzinfo=UTC)
SETTINGS = SchedulerSettings(timezone="UTC", look_s=0.05)


class Gone:
    """A service that does not answer."""

    async def send(self, method: str, path: str, body: bytes = b"", *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Answer:
        raise ServiceDown("no answer")


@pytest.fixture
async def store() -> FakeStore:
    store = FakeStore()
    jobs = tuple(Job(name=name, is_on=True, at=at(name), since=YESTERDAY) for name in JobName)
    store.jobs = JobTable(jobs=jobs)
    return store


def at(name: JobName) -> str:
    found: str = getattr(SETTINGS.jobs, name.value).at
    return found


async def drained() -> str:
    return "2 drafts"


async def settled(bus: Transport, done: Callable[[dict[JobName, Job]], bool]) -> dict[JobName, Job]:
    """The table that health tells, as soon as it is `done`."""
    async with asyncio.timeout(10):
        while True:
            jobs = {job.name: job for job in (await health(bus)).jobs}
            if jobs and done(jobs):
                return jobs
            await asyncio.sleep(0)


def all_ended(jobs: dict[JobName, Job]) -> bool:
    return all(job.last is not None and job.last.ended is not None for job in jobs.values())


async def caught_up(store: FakeStore, drain: Callable[[], Awaitable[str]]) -> tuple[Transport, dict[JobName, Job]]:
    buses: dict[str, Transport] = {
        "store": InProcessTransport("store", store.service.app),
        "index": Gone(),
        "dream": Gone(),
    }
    service = create_service(SETTINGS, "home", buses, {JobName.DRAIN: drain}, clock=lambda: MORNING)
    bus = InProcessTransport("scheduler", service.app)
    async with service.running():
        return bus, await settled(bus, all_ended)


async def test_a_night_that_was_missed_is_caught_up_at_the_start_and_noted_in_the_store(store: FakeStore) -> None:
    _, jobs = await caught_up(store, drained)

    last = jobs[JobName.DRAIN].last
    assert last is not None and (last.result, last.message) == (JobResult.DONE, "2 drafts")
    assert last.due == datetime(2026, 11, 30, 3, 20, tzinfo=UTC)
    kept = await StoreClient(InProcessTransport("store", store.service.app)).jobs()
    assert {job.name: job for job in kept.jobs} == jobs


async def test_a_service_that_is_away_fails_its_own_job_only_and_health_says_so(store: FakeStore) -> None:
    bus, jobs = await caught_up(store, drained)

    results = {name: job.last.result for name, job in jobs.items() if job.last}
    assert results[JobName.DREAM] is results[JobName.INDEX] is JobResult.FAILED
    assert results[JobName.STATE] is results[JobName.DRAIN] is JobResult.DONE
    assert any("'dream' failed: no answer" in trouble for trouble in (await health(bus)).degraded)


async def test_a_job_of_the_host_that_cannot_be_done_says_why(store: FakeStore) -> None:
    async def refused() -> str:
        raise Unavailable("the folder of the agent's memories is not readable")

    _, jobs = await caught_up(store, refused)

    last = jobs[JobName.DRAIN].last
    assert last is not None and last.message == "the folder of the agent's memories is not readable"


async def test_a_clock_that_is_put_back_by_years_does_not_end_the_looking() -> None:
    """What the library keeps is a moment of the wall clock; after the clock is put back that moment is far away."""
    looked = asyncio.Event()

    async def look() -> None:
        looked.set()

    beat = AsyncIOScheduler(timezone=UTC)
    beat.add_job(look, IntervalTrigger(seconds=1), next_run_time=datetime.now(UTC) + timedelta(days=1_000))
    beat.start()
    try:
        async with asyncio.timeout(10), Tasks() as tasks:
            tasks.start(follow_the_clock(beat, timedelta(seconds=0.02)), name="follow")
            await looked.wait()
    finally:
        beat.shutdown(wait=False)
