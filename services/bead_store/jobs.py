"""Keeps the scheduler's table of jobs in `store/jobs.json`, so that a restart knows what ran; decides nothing.

Beside it the store's own part of a job that has no other place: clearing old conversations.
"""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI
from pydantic import ValidationError

from bead.wire.jobs import ConversationsCleared, JobTable
from bead_store import files
from bead_store.disk import Disk

if TYPE_CHECKING:
    from bead_store.app import Store

_MAX_BYTES = 256 << 10


class Jobs:
    """One home's table; read and replaced in one lane."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self._path = path
        self._disk = disk

    def read(self) -> JobTable:
        """The table as it was kept last; empty when there is none or it cannot be read: the jobs begin anew."""
        try:
            return JobTable.model_validate_json(files.read(self._path, _MAX_BYTES))
        except (FileNotFoundError, ValidationError):
            return JobTable()

    def keep(self, table: JobTable) -> None:
        """Put `table` in the place of the last one, durable.

        Raises:
            Unavailable: the disk refused; the old table is whole.
        """
        data = table.model_dump_json(indent=1).encode()
        try:
            self._disk.create(self._path, data)
        except FileExistsError:
            self._disk.replace(self._path, data)


def add_job_routes(api: FastAPI, store: Callable[[], "Store"]) -> None:
    """`GET` and `PUT /v1/jobs`, and the job that clears conversations."""

    @api.get("/v1/jobs")
    async def read() -> JobTable:
        return await store().slow_lane.run(store().jobs.read)

    @api.put("/v1/jobs", status_code=204)
    async def keep(table: JobTable) -> None:
        await store().slow_lane.run(store().jobs.keep, table)

    @api.post("/v1/conversations/clear")
    async def clear() -> ConversationsCleared:
        days = timedelta(days=store().conversation_days)
        before_ns = int((store().now() - days).timestamp() * 1e9)
        return ConversationsCleared(
            conversations=await store().turn_lane.run(store().conversations.clear_old, before_ns)
        )
