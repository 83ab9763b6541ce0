"""Group fsync: what was appended becomes durable together, at most one delay after the first append (D12)."""

import asyncio

import structlog

from bead.errors import BeadError
from bead.tasks import Tasks
from bead_store.disk import Disk
from bead_store.lanes import Lane

log = structlog.get_logger()


class GroupSync:
    """Told by the disk after every append; syncs in a lane of its own, so that no append waits for a slow disk."""

    def __init__(self, disk: Disk, lane: Lane, tasks: Tasks, delay_s: float) -> None:
        self._disk = disk
        self._lane = lane
        self._tasks = tasks
        self._delay_s = delay_s
        self._loop = asyncio.get_running_loop()
        self._is_due = False
        self._is_stopped = False

    def soon(self) -> None:
        """Something was appended; callable from any thread."""
        if not self._is_due:
            self._is_due = True
            self._loop.call_soon_threadsafe(self._start)

    def stop(self) -> None:
        """Start no more groups: the owner syncs the last one itself."""
        self._is_stopped = True

    def _start(self) -> None:
        if not self._is_stopped:
            self._tasks.start(self._run(), name="group fsync")

    async def _run(self) -> None:
        await asyncio.sleep(self._delay_s)
        # First the flag: what is appended from here on is either in this group or starts the next one.
        self._is_due = False
        try:
            await self._lane.run(self._disk.sync_appended)
        except BeadError as error:
            log.error("appended data could not be synced; writing has stopped", error=error.code)
