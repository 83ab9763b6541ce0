"""Wires the store: lock, files, catalogue, raw log, conversations, change feed; opened and closed in one place."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from fastapi import FastAPI
from prometheus_client import CollectorRegistry, Counter

from bead import __version__
from bead.bus.service import Service, create_api
from bead.errors import DamagedFile, Unavailable
from bead.home import Home
from bead.settings import StoreSettings
from bead.tasks import Tasks
from bead.wire.health import Health
from bead_store import files
from bead_store.audit import Audit
from bead_store.catalogue import Catalogue
from bead_store.changes import Changes
from bead_store.conversations import Conversations
from bead_store.facts import Facts
from bead_store.home import Prepared, prepare
from bead_store.lanes import Lane
from bead_store.lock import HomeLock
from bead_store.projects import Projects
from bead_store.raw import RawLog
from bead_store.review import ReviewFiles
from bead_store.routes import add_routes, hot_routes
from bead_store.scan import Scan
from bead_store.sync import GroupSync

_OTHERS_AT_WORK_S = 60.0


class Store:
    """Everything of one open home. Made inside the lock; what its parts may do is in their modules."""

    def __init__(
        self, settings: StoreSettings, home: Home, owner: str, prepared: Prepared, tasks: Tasks, writes: Counter
    ) -> None:
        self.home_id = prepared.home_id
        self.writes = writes
        self.fact_lane = Lane("facts")
        self.turn_lane = Lane("turns")
        self.read_lane = Lane("reads")
        self._sync_lane = Lane("sync")
        self.disk = files.Disk()
        self.changes = Changes()
        self.scan = Scan((prepared.bus_secret, prepared.proxy_token, prepared.admin_token))
        self.sync = GroupSync(self.disk, self._sync_lane, tasks, settings.group_fsync_ms / 1000)
        self.disk.on_append = self.sync.soon
        self.catalogue = Catalogue(home.facts, owner, prepared.home_id, self.disk)
        self.review = ReviewFiles(home.queue, self.disk, prepared.home_id)
        self.projects = Projects(home.projects, self.disk, str(Path.home()))
        self.facts = Facts(
            home.facts,
            owner,
            disk=self.disk,
            catalogue=self.catalogue,
            review=self.review,
            projects=self.projects,
            changes=self.changes,
            audit=Audit(home.audit_log, self.disk, now),
            scan=self.scan,
            now=now,
        )
        self.raw = RawLog(home.raw, owner, disk=self.disk, scan=self.scan, changes=self.changes)
        self.conversations = Conversations(home.sessions, disk=self.disk)
        self._home = home

    async def load(self) -> None:
        """Read what is there and finish what a crash interrupted."""
        await self.fact_lane.run(self._load_facts)
        await self.turn_lane.run(self._load_turns)
        await self.read_lane.run(self.scan.wait)

    async def close(self) -> None:
        """Let running work end and make the last appends durable."""
        self.changes.close()
        for lane in (self.fact_lane, self.turn_lane, self.read_lane):
            await asyncio.to_thread(lane.close)
        if not self.disk.stopped:
            await self._sync_lane.run(self.disk.sync_appended)
        await asyncio.to_thread(self._sync_lane.close)

    def trouble(self) -> tuple[str, ...]:
        """What does not work, in plain words for a health answer."""
        damaged = self.catalogue.damaged_count + len(self._table_damage()) + len(self.conversations.damage)
        return tuple(
            words
            for words in (
                self.disk.stopped,
                self.scan.trouble,
                f"{damaged} files cannot be read; 'bead doctor' names them" if damaged else None,
            )
            if words
        )

    def damage(self) -> list[DamagedFile]:
        """Files that cannot be read; the review queue's are looked at when somebody asks for them."""
        return [*self.catalogue.damage(), *self._table_damage(), *self.conversations.damage]

    def _table_damage(self) -> list[DamagedFile]:
        return [self.projects.damage] if self.projects.damage else []

    def _load_facts(self) -> None:
        # The store's own folders are ours alone under the lock; tokens are made by any process that prepares the home.
        self.disk.sweep(self._home.facts.parent)
        self.disk.sweep(self._home.sessions)
        self.disk.sweep(self._home.root, min_age_s=_OTHERS_AT_WORK_S)
        self.projects.load()
        self.catalogue.load()
        self.facts.finish_interrupted()

    def _load_turns(self) -> None:
        self.raw.load()
        self.conversations.load()


def now() -> datetime:
    """The store's clock."""
    return datetime.now(UTC)


def create_service(settings: StoreSettings, home: Home, owner: str) -> Service:
    """The store of `home`, ready to run; nothing is opened before its lifespan begins."""
    registry = CollectorRegistry()
    writes = Counter("bead_store_writes", "Facts by what a write did.", ["verb"], registry=registry)
    opened: list[Store] = []

    def store() -> Store:
        if not opened:
            raise Unavailable("the store is not running yet, or not any more")
        return opened[0]

    @asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncIterator[None]:
        prepared = await asyncio.to_thread(prepare, home)
        async with HomeLock(home.lock, settings.lock_wait_s), AsyncExitStack() as stack:
            tasks = Tasks()
            opened.append(Store(settings, home, owner, prepared, tasks, writes))
            stack.callback(opened.clear)
            stack.push_async_callback(store().close)
            await stack.enter_async_context(tasks)
            stack.callback(store().sync.stop)
            await store().load()
            yield

    api = create_api("store", lifespan, _health(opened), registry)
    add_routes(api, store)
    return Service("store", api, hot_routes(store), registry)


def _health(opened: list[Store]) -> Callable[[], Health]:
    def health() -> Health:
        if not opened:
            return Health(name="store", version=__version__, ready=False, home_id="", degraded=("is starting",))
        store = opened[0]
        return Health(
            name="store",
            version=__version__,
            ready=store.disk.stopped is None and store.scan.trouble is None,
            home_id=store.home_id,
            degraded=store.trouble(),
        )

    return health
