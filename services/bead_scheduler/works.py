"""What each job does, through the other services; when is `timetable`'s, and running them is `table`'s."""

import asyncio
from collections.abc import Mapping

from bead.bus.transport import Transport
from bead.clients.dream import DreamClient
from bead.clients.index import IndexClient
from bead.clients.store import StoreClient
from bead.errors import Unavailable
from bead.wire.backup import StartBackup
from bead.wire.dream import RunState, StartRun
from bead.wire.jobs import JobName
from bead_scheduler.table import Work

_POLL_S = 1.0


def works(buses: Mapping[str, Transport]) -> dict[JobName, Work]:
    """Every job that the services behind `buses` (`store`, `index`, `dream`) can do."""
    store, index, dream = StoreClient(buses["store"]), IndexClient(buses["index"]), DreamClient(buses["dream"])

    async def state() -> str:
        removed = await store.clear_conversations()
        return f"{removed.conversations} old conversations removed"

    async def use() -> str:
        done = await store.refresh_use()
        return f"{done.facts} facts noted"

    async def night() -> str:
        return await _night(dream)

    async def check_index() -> str:
        await index.check()
        return "compared with the store"

    async def check_store() -> str:
        return await _check_store(store)

    async def backup() -> str:
        return await _backup(store)

    return {
        JobName.STATE: state,
        JobName.USE: use,
        JobName.DREAM: night,
        JobName.INDEX: check_index,
        JobName.STORE: check_store,
        JobName.BACKUP: backup,
    }


async def _night(dream: DreamClient) -> str:
    """Start a run and wait for its end; a run ends by itself, its own limits see to that.

    Raises:
        RunInProgress: a person started one.
        Unavailable: it failed.
    """
    run = await dream.start(StartRun())
    while run.state is RunState.RUNNING:
        await asyncio.sleep(_POLL_S)
        run = await dream.current()
    if run.state is RunState.FAILED:
        raise Unavailable(run.message or "the run failed")
    return ", ".join(f"{count} {word}" for word, count in sorted(run.counts.items())) or "nothing to do"


async def _backup(store: StoreClient) -> str:
    """The mirror in the folder of the settings, and every object of it checked."""
    done = await store.backup(StartBackup())
    if done.path is None:
        return "no folder is set (backup.dir)"
    mended = f", {done.wrong} were wrong and are mended" if done.wrong else ""
    return f"{done.files} files, {done.written} written, {done.removed} removed{mended}"


async def _check_store(store: StoreClient) -> str:
    """The audit log's chain, and every file that cannot be read.

    Raises:
        Unavailable: something needs a person.
    """
    audit = await store.verify_audit()
    damage = await store.damage()
    if audit.first_bad_line is not None:
        raise Unavailable("the audit log is not intact; `bead audit verify` says where")
    if damage.files:
        raise Unavailable(f"{len(damage.files)} damaged files; `bead doctor` names them")
    return f"{audit.lines} audit lines and every file whole"
