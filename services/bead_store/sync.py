"""Group fsync: what was appended becomes durable together, at most one delay after the first append (D12)."""

import asyncio

import structlog

from bead.errors import BeadError
from bead.tasks import Tasks
from bead_store.files import Disk
from bead_store.lanes import Lane

log = structlog.get_logger()


class GroupSync:
    """Called after every append; runs in a lane of its own, so that no append waits for a slow disk."""

    def __init__(self, disk: Disk, lane: Lane, tasks: Tasks, delay_s: float) -> None:
        self._disk = disk
        self._lane = lane
        self._tasks = tasks
        self._delay_s = delay_s
        self._is_due = False

    def soon(self) -> None:
        """Something was appended."""
        if not self._is_due:
            self._is_due = True
            self._tasks.start(self._run(), name="group fsync")

    async def _run(self) -> None:
        await asyncio.sleep(self._delay_s)
        self._is_due = False
        try:
            await self._lane.run(self._disk.sync_appended)
        except BeadError as error:
            log.error("appended data could not be synced; writing has stopped", error=error.code)
