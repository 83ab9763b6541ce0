"""The scheduler's table in the store: it outlives a restart, and damage makes it begin anew."""

import asyncio
from datetime import UTC, datetime, timedelta

from bead.home import Home
from bead.wire.jobs import Job, JobName, JobNoted, JobResult, JobRun, JobTable, NoteJob
from tests.contract.store.opening import Open, opened

NOW = datetime(2026, 11, 30, 3, 30, tzinfo=UTC)
RUN = JobRun(due=NOW, started=NOW, ended=NOW + timedelta(seconds=3), result=JobResult.DONE, message="3 facts noted")
LINE = Job(name=JobName.USE, is_on=True, at="03:30", since=NOW, last=RUN, next=NOW)
TABLE = JobTable(jobs=(LINE,))


async def test_a_new_home_has_no_table(store: Open) -> None:
    assert await store.client.jobs() == JobTable()


async def test_the_table_comes_back_and_a_line_of_it_is_replaced(store: Open) -> None:
    await store.client.note_job(NoteJob(job=LINE))
    assert await store.client.jobs() == TABLE
    off = LINE.model_copy(update={"is_on": False})
    assert await store.client.note_job(NoteJob(job=off, seen=NOW)) == JobNoted(is_noted=True, job=off)
    state = LINE.model_copy(update={"name": JobName.STATE})
    await store.client.note_job(NoteJob(job=state))
    assert await store.client.jobs() == JobTable(jobs=(off, state))


async def test_of_many_that_begin_a_run_one_is_noted(store: Open) -> None:
    """All of them have seen the same last run."""
    await store.client.note_job(NoteJob(job=LINE))
    begun = [
        LINE.model_copy(update={"last": JobRun(due=NOW, started=NOW + timedelta(days=1, seconds=number))})
        for number in range(5)
    ]

    answers = await asyncio.gather(*(store.client.note_job(NoteJob(job=each, seen=NOW)) for each in begun))

    [first] = [each.job for each in answers if each.is_noted]
    assert {each.job for each in answers} == {first}, "the others are told whose it is"
    assert await store.client.jobs() == JobTable(jobs=(first,))
    assert not (await store.client.note_job(NoteJob(job=LINE))).is_noted, "nor by one who knows of no run at all"


async def test_the_table_outlives_a_restart(home: Home) -> None:
    async with opened(home) as first:
        await first.client.note_job(NoteJob(job=LINE))
    async with opened(home) as second:
        assert await second.client.jobs() == TABLE


async def test_a_damaged_table_begins_anew(home: Home) -> None:
    async with opened(home) as store:
        await store.client.note_job(NoteJob(job=LINE))
        home.jobs.write_bytes(b"{not json")
        assert await store.client.jobs() == JobTable()
        assert (await store.client.note_job(NoteJob(job=LINE, seen=NOW))).is_noted
        assert await store.client.jobs() == TABLE
