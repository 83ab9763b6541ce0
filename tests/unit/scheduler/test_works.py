"""What the nightly backup says of itself."""

from bead.bus.transport import InProcessTransport
from bead.wire.jobs import JobName
from bead_scheduler.works import works
from tests.fakes.store import FakeStore


async def test_the_backup_is_told_in_counts_and_damage_is_named() -> None:
    store = FakeStore()
    bus = InProcessTransport("store", store.service.app)
    work = works(dict.fromkeys(("store", "index", "dream"), bus))[JobName.BACKUP]

    assert await work() == "3 files, 3 written, 0 removed"
    store.backup = store.backup.model_copy(update={"wrong": 2})
    assert (await work()).endswith("2 were wrong and are mended")
    store.backup = store.backup.model_copy(update={"path": None})
    assert await work() == "no folder is set (backup.dir)"
