"""The scheduler's table in the store: it outlives a restart, and damage makes it begin anew."""

from datetime import UTC, datetime, timedelta

from bead.home import Home
from bead.wire.jobs import Job, JobName, JobResult, JobRun, JobTable
from tests.contract.store.opening import Open, opened

NOW = datetime(2026, 11, 30, 3, 30, tzinfo=UTC)
RUN = JobRun(due=NOW, started=NOW, ended=NOW + timedelta(seconds=3), result=JobResult.DONE, message="3 facts noted")
TABLE = JobTable(jobs=(Job(name=JobName.USE, is_on=True, at="03:30", since=NOW, last=RUN, next=NOW),))


async def test_a_new_home_has_no_table(store: Open) -> None:
    assert await store.client.jobs() == JobTable()


async def test_the_table_comes_back_and_is_replaced_whole(store: Open) -> None:
    await store.client.keep_jobs(TABLE)
    assert await store.client.jobs() == TABLE
    await store.client.keep_jobs(JobTable())
    assert await store.client.jobs() == JobTable()


async def test_the_table_outlives_a_restart(home: Home) -> None:
    async with opened(home) as first:
        await first.client.keep_jobs(TABLE)
    async with opened(home) as second:
        assert await second.client.jobs() == TABLE


async def test_a_damaged_table_begins_anew(home: Home) -> None:
    async with opened(home) as store:
        await store.client.keep_jobs(TABLE)
        home.jobs.write_bytes(b"{not json")
        assert await store.client.jobs() == JobTable()
        await store.client.keep_jobs(TABLE)
        assert await store.client.jobs() == TABLE
