"""Asks a disk that refused a write whether it takes one again, so that health tells what is so now.

What was refused is its caller's to try again. A failed fsync is not asked about: only a start makes that good.
"""

import asyncio
from contextlib import suppress
from pathlib import Path

from bead.errors import BeadError
from bead_store.disk import Disk
from bead_store.lanes import Lane

PAUSE_S = 5.0


async def ask_refusing_disk(disk: Disk, folder: Path, lane: Lane, pause_s: float = PAUSE_S) -> None:
    """Look every `pause_s` seconds, for ever; a write in `folder` is tried only after a refusal."""
    while True:
        await asyncio.sleep(pause_s)
        if disk.refusing and not disk.stopped:
            with suppress(BeadError):  # health goes on saying so
                await lane.run(disk.probe, folder)
