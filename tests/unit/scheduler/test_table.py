"""The table at work, under a clock of the test's and a keeper in memory."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import CollectorRegistry

from bead.errors import Unavailable
from bead.settings import JobSettings, JobsSettings
from bead.wire.jobs import MAX_MESSAGE, Job, JobName, JobNoted, JobResult, JobTable, NoteJob
from bead_scheduler.table import Table, Work, look_quietly


class Keeper:
    """Keeps the table as the store does."""

    def __init__(self) -> None:
        self.table = JobTable()
        self.is_away = False

    async def jobs(self) -> JobTable:
        if self.is_away:
            raise Unavailable("the store does not answer")
        await asyncio.sleep(0)
        return self.table

    async def note_job(self, note: NoteJob) -> JobNoted:
        if self.is_away:
            raise Unavailable("the store does not answer")
        await asyncio.sleep(0)  # a round trip, in which another may come first
        kept = {job.name: job for job in self.table.jobs}
        line = kept.get(note.job.name)
        if line and (line.last.started if line.last else None) != note.seen:
            return JobNoted(is_noted=False, job=line)
        self.table = JobTable(jobs=tuple((kept | {note.job.name: note.job}).values()))
        return JobNoted(is_noted=True, job=note.job)


class Machine:
    """A bead whose clock the test moves; `start` is a new process on the same home."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 12, tzinfo=UTC)
        self.keeper = Keeper()
        self.ran: list[JobName] = []
        self.fails: dict[JobName, Exception] = {}
        self.hangs: set[JobName] = set()
        self.outlasts_store: set[JobName] = set()
        self.longest_s = 60.0
        self.settings = JobsSettings()
        self.table = self.start()

    def start(self, *names: JobName) -> Table:
        works = {name: self._work(name) for name in names or (JobName.STATE, JobName.DREAM, JobName.STORE)}
        self.table = Table(
            self.settings, works, self.keeper, lambda: self.now, UTC, CollectorRegistry(), self.longest_s
        )
        return self.table

    async def at(self, now: datetime) -> list[JobName]:
        """What runs when the clock is looked at then."""
        self.now = now
        self.ran.clear()
        await self.table.look()
        return list(self.ran)

    def _work(self, name: JobName) -> Work:
        async def work() -> str:
            self.ran.append(name)
            if name in self.hangs:
                await asyncio.Event().wait()
            self.keeper.is_away = name in self.outlasts_store
            if name in self.fails:
                raise self.fails[name]
            return f"did {name}"

        return work


@pytest.fixture
async def machine() -> Machine:
    machine = Machine()
    await machine.table.look()
    return machine


NIGHT = datetime(2026, 12, 1, 5, tzinfo=UTC)


def job(machine: Machine, name: JobName) -> Job:
    return next(job for job in machine.keeper.table.jobs if job.name is name)


async def test_nothing_runs_when_bead_is_installed(machine: Machine) -> None:
    assert machine.ran == []
    assert job(machine, JobName.DREAM).next == datetime(2026, 12, 1, 3, 30, tzinfo=UTC)


async def test_what_is_due_runs_in_the_order_of_the_table_and_once(machine: Machine) -> None:
    assert await machine.at(NIGHT) == [JobName.STATE, JobName.DREAM, JobName.STORE]
    assert await machine.at(NIGHT + timedelta(hours=3)) == []


async def test_a_restart_repeats_nothing(machine: Machine) -> None:
    await machine.at(NIGHT)
    machine.start()
    assert await machine.at(NIGHT + timedelta(minutes=1)) == []


async def test_a_process_that_died_in_a_job_does_not_begin_it_again_that_day(machine: Machine) -> None:
    machine.fails[JobName.STATE] = SystemExit()  # type: ignore[assignment]
    with pytest.raises(SystemExit):
        await machine.at(NIGHT)
    del machine.fails[JobName.STATE]
    machine.start()
    assert await machine.at(NIGHT + timedelta(minutes=1)) == [JobName.DREAM, JobName.STORE]
    last = job(machine, JobName.STATE).last
    assert last is not None and last.result is JobResult.RUNNING and last.ended is None


async def test_a_night_without_power_is_caught_up_once(machine: Machine) -> None:
    machine.start()
    assert await machine.at(NIGHT + timedelta(days=9, hours=4)) == [JobName.STATE, JobName.DREAM, JobName.STORE]
    assert await machine.at(NIGHT + timedelta(days=9, hours=5)) == []


async def test_a_failed_job_says_why_and_keeps_no_other_back(machine: Machine) -> None:
    machine.fails[JobName.STATE] = Unavailable("the disk is full " + "x" * MAX_MESSAGE)
    assert await machine.at(NIGHT) == [JobName.STATE, JobName.DREAM, JobName.STORE]
    last = job(machine, JobName.STATE).last
    assert last is not None and last.result is JobResult.FAILED and last.message.startswith("the disk is full")
    assert machine.table.trouble()[0].startswith("job 'state' failed: the disk is full")


async def test_an_unforeseen_error_tells_its_class_and_no_content(machine: Machine) -> None:
    machine.fails[JobName.STATE] = RuntimeError("what a person typed")
    await machine.at(NIGHT)
    last = job(machine, JobName.STATE).last
    assert last is not None and "RuntimeError" in last.message and "typed" not in last.message


async def test_a_job_that_is_off_does_not_run_and_does_not_catch_up_when_it_is_on_again(machine: Machine) -> None:
    machine.settings = JobsSettings(dream=JobSettings(at="03:30", on=False))
    machine.start()
    assert JobName.DREAM not in await machine.at(NIGHT)
    assert job(machine, JobName.DREAM).next is None
    machine.settings = JobsSettings()
    machine.start()
    assert await machine.at(NIGHT + timedelta(hours=1)) == []
    assert JobName.DREAM in await machine.at(NIGHT + timedelta(days=1))


async def test_another_time_in_the_config_counts_from_then_on(machine: Machine) -> None:
    machine.settings = JobsSettings(dream=JobSettings(at="11:00"))
    machine.start()
    assert await machine.at(datetime(2026, 11, 30, 12, 30, tzinfo=UTC)) == []
    assert job(machine, JobName.DREAM).next == datetime(2026, 12, 1, 11, tzinfo=UTC)


async def test_no_job_begins_while_the_store_is_away(machine: Machine) -> None:
    machine.keeper.is_away = True
    machine.now = NIGHT
    await look_quietly(machine.table)
    assert machine.ran == []
    machine.keeper.is_away = False
    assert JobName.DREAM in await machine.at(NIGHT)


async def test_a_bead_without_the_drain_keeps_what_another_noted_of_it(machine: Machine) -> None:
    machine.start(JobName.DRAIN, JobName.STATE)
    await machine.at(NIGHT)
    await machine.at(NIGHT + timedelta(days=1))
    machine.start(JobName.STATE)
    await machine.at(NIGHT + timedelta(days=2))
    assert job(machine, JobName.DRAIN).last is not None


async def test_a_job_that_hangs_is_given_up_and_keeps_no_other_back(machine: Machine) -> None:
    machine.longest_s = 0.05
    machine.start()
    machine.hangs = {JobName.DREAM}

    assert await machine.at(NIGHT) == [JobName.STATE, JobName.DREAM, JobName.STORE]

    last = job(machine, JobName.DREAM).last
    assert last is not None and last.result is JobResult.FAILED
    assert "did not end within" in last.message
    machine.hangs = set()
    assert JobName.DREAM in await machine.at(NIGHT + timedelta(days=1))


async def test_a_job_that_runs_out_of_its_own_time_broke_and_was_not_given_up(machine: Machine) -> None:
    machine.fails = {JobName.DREAM: TimeoutError()}
    await machine.at(NIGHT)
    last = job(machine, JobName.DREAM).last
    assert last is not None and "it broke (TimeoutError)" in last.message


async def test_of_two_schedulers_on_one_home_one_runs_the_night(machine: Machine) -> None:
    first = machine.table
    second = machine.start()
    await second.look()
    machine.now = NIGHT
    machine.ran.clear()

    await first.look()
    await second.look()

    assert machine.ran == [JobName.STATE, JobName.DREAM, JobName.STORE]
    assert {each.last.result for each in second.jobs() if each.last} == {JobResult.DONE}


async def test_of_two_that_look_in_the_same_moment_one_runs_each_job(machine: Machine) -> None:
    """Both have seen the same table, and each asks before the other was answered."""
    first = machine.table
    second = machine.start()
    await second.look()
    machine.now = NIGHT
    machine.ran.clear()

    await asyncio.gather(first.look(), second.look())

    assert sorted(machine.ran) == sorted([JobName.STATE, JobName.DREAM, JobName.STORE])
    await asyncio.gather(first.look(), second.look())
    assert first.jobs() == second.jobs()
    assert {each.last.result for each in second.jobs() if each.last} == {JobResult.DONE}


async def test_a_scheduler_that_knows_an_older_table_takes_no_run_back(machine: Machine) -> None:
    old = machine.table
    machine.start()
    await machine.at(NIGHT)
    ran = machine.keeper.table

    await old.look()

    assert {each.name: each.last for each in machine.keeper.table.jobs} == {each.name: each.last for each in ran.jobs}


async def test_an_end_that_the_store_did_not_hear_is_told_it_later(machine: Machine) -> None:
    machine.outlasts_store = {JobName.STATE}
    machine.start(JobName.STATE)
    machine.now = NIGHT
    await look_quietly(machine.table)
    last = job(machine, JobName.STATE).last
    assert last is not None and last.result is JobResult.RUNNING

    machine.keeper.is_away = False
    await machine.table.look()
    last = job(machine, JobName.STATE).last
    assert last is not None and last.result is JobResult.DONE
