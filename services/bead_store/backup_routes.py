"""`POST /v1/backup`: a run, or a look at what an earlier one wrote."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI

from bead.errors import BadRequest
from bead.wire.backup import BackupDone, StartBackup

if TYPE_CHECKING:
    from bead_store.app import Store


def add_backup_routes(api: FastAPI, store: Callable[[], "Store"]) -> None:
    """The one route."""

    @api.post("/v1/backup")
    async def backup(request: StartBackup) -> BackupDone:
        named = request.path or store().backup_settings.dir
        if named is None:
            return BackupDone(path=None)
        folder = Path(named)
        if not folder.is_absolute():
            raise BadRequest("a backup's folder is named with its whole path, from / on")
        return await _run(store(), folder, request)


async def _run(store: "Store", folder: Path, request: StartBackup) -> BackupDone:
    backups = store.backups
    if request.only_verify:
        return await store.slow_lane.run(backups.verify, folder)
    async with store.backup_turn:
        place = await store.fact_lane.run(backups.open, folder)
        ready, wrong = await store.slow_lane.run(backups.prepare, place)
        done = await store.fact_lane.run(backups.finish, place, ready, wrong)
        await store.fact_lane.run(store.copies.paid, folder)
        return done
