"""Keeps the scheduler's table of jobs in `store/jobs.json`, so that a restart knows what ran; decides nothing.

Beside it the store's own part of a job that has no other place: clearing old conversations.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI
from pydantic import ValidationError

from bead.wire.jobs import ConversationsCleared, Job, JobNoted, JobTable, NoteJob
from bead_store import files
from bead_store.disk import Disk

if TYPE_CHECKING:
    from bead_store.app import Store

_MAX_BYTES = 256 << 10


class Jobs:
    """One home's table; read and noted in one lane, so that of two notes one is first."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self._path = path
        self._disk = disk

    def read(self) -> JobTable:
        """The table as it was kept last; empty when there is none or it cannot be read: the jobs begin anew."""
        try:
            return JobTable.model_validate_json(files.read(self._path, _MAX_BYTES))
        except (FileNotFoundError, ValidationError):
            return JobTable()

    def note(self, note: NoteJob) -> JobNoted:
        """One line of the table, durable; left as it is when its last run is not the one that `note` has seen.

        Raises:
            Unavailable: the disk refused; the old table is whole.
        """
        kept = {job.name: job for job in self.read().jobs}
        line = kept.get(note.job.name)
        if line is not None and _began(line) != note.seen:
            return JobNoted(is_noted=False, job=line)
        self._keep(JobTable(jobs=tuple((kept | {note.job.name: note.job}).values())))
        return JobNoted(is_noted=True, job=note.job)

    def _keep(self, table: JobTable) -> None:
        data = table.model_dump_json(indent=1).encode()
        try:
            self._disk.create(self._path, data)
        except FileExistsError:
            self._disk.replace(self._path, data)


def _began(job: Job) -> datetime | None:
    return job.last.started if job.last else None


def add_job_routes(api: FastAPI, store: Callable[[], "Store"]) -> None:
    """The table of jobs, noting one line of it, and the job that clears conversations."""

    @api.get("/v1/jobs")
    async def read() -> JobTable:
        return await store().slow_lane.run(store().jobs.read)

    @api.post("/v1/jobs/note")
    async def note(line: NoteJob) -> JobNoted:
        return await store().slow_lane.run(store().jobs.note, line)

    @api.post("/v1/conversations/clear")
    async def clear() -> ConversationsCleared:
        days = timedelta(days=store().conversation_days)
        before_ns = int((store().now() - days).timestamp() * 1e9)
        return ConversationsCleared(
            conversations=await store().turn_lane.run(store().conversations.clear_old, before_ns)
        )
