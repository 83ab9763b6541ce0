"""The scheduler service: APScheduler gives the beat, `table` runs what is due; `GET /v1/jobs` tells the table.

Notes of runs lie in the store; this service keeps nothing.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from bead import __version__
from bead.bus.service import Service, create_api
from bead.bus.transport import Transport
from bead.clients.store import StoreClient
from bead.settings import SchedulerSettings
from bead.tasks import Tasks
from bead.wire.health import Health
from bead.wire.jobs import JobName, JobTable
from bead_scheduler.table import Table, Work, look_quietly
from bead_scheduler.works import works


def create_service(
    settings: SchedulerSettings,
    home_id: str,
    buses: Mapping[str, Transport],
    host_works: Mapping[JobName, Work] | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Service:
    """Wire the service over the `buses` it may call; `host_works` are jobs that only a process on the host can do."""
    registry = CollectorRegistry()
    zone: tzinfo = ZoneInfo(settings.timezone) if settings.timezone else AsyncIOScheduler().timezone
    table = Table(
        settings.jobs, works(buses) | dict(host_works or {}), StoreClient(buses["store"]), clock, zone, registry
    )

    def health() -> Health:
        return Health(
            name="scheduler",
            version=__version__,
            ready=True,
            home_id=home_id,
            degraded=table.trouble(),
            jobs=table.jobs(),
        )

    @asynccontextmanager
    async def resources(api: FastAPI) -> AsyncIterator[None]:
        # It warns at each beat that comes while jobs are at work.
        logging.getLogger("apscheduler").setLevel(logging.CRITICAL)
        beat = AsyncIOScheduler(timezone=UTC)
        every = IntervalTrigger(seconds=settings.look_s, timezone=UTC)
        beat.add_job(
            look_quietly,
            every,
            args=[table],
            next_run_time=datetime.now(UTC),
            misfire_grace_time=None,
            coalesce=True,
            max_instances=1,
        )
        beat.start()
        try:
            async with Tasks() as tasks:
                tasks.start(follow_the_clock(beat, timedelta(seconds=settings.look_s)), name="follow the clock")
                yield
        finally:
            beat.shutdown(wait=False)

    api = create_api("scheduler", resources, health, registry)
    _add_routes(api, table)
    return Service("scheduler", api, registry=registry)


async def follow_the_clock(beat: AsyncIOScheduler, every: timedelta) -> None:
    """The next look is never further off than `every`: when the wall clock is put back, the library would wait for it
    to come again, be it hours or years."""
    while True:
        await asyncio.sleep(every.total_seconds())  # by a clock that nobody puts
        soon = datetime.now(UTC) + every
        for job in beat.get_jobs():
            if job.next_run_time is not None and job.next_run_time > soon:
                job.modify(next_run_time=datetime.now(UTC))


def _add_routes(api: FastAPI, table: Table) -> None:
    @api.get("/v1/jobs")
    async def jobs() -> JobTable:
        return JobTable(jobs=table.jobs())
