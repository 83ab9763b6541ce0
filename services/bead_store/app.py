"""Wires the store: lock, files, catalogue, raw log, conversations, change feed; opened and closed in one place."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import structlog
from fastapi import FastAPI
from prometheus_client import CollectorRegistry, Counter, Gauge

from bead import __version__
from bead.bus.service import Service, create_api
from bead.errors import BeadError, DamagedFile, Unavailable, WritesStopped
from bead.home import Home
from bead.secrecy import forbid_core_dumps
from bead.settings import BackupSettings, ScanSettings, StoreSettings
from bead.tasks import Tasks
from bead.wire.health import Health
from bead.wire.store import UseRefreshed
from bead_store import sections
from bead_store.asking import ask_refusing_disk
from bead_store.audit import Audit
from bead_store.backup_routes import add_backup_routes
from bead_store.backups import Backups
from bead_store.catalogue import Catalogue
from bead_store.changes import Changes
from bead_store.conversations import Conversations
from bead_store.copies import Copies
from bead_store.credentials import Credentials
from bead_store.disk import Disk
from bead_store.draftfiles import DraftFiles
from bead_store.drafts import Drafts, add_draft_routes
from bead_store.dream.journal import Journal
from bead_store.dream.night import Night
from bead_store.dream.notes import Notes
from bead_store.dream.routes import add_dream_routes
from bead_store.dream.undo import Undo
from bead_store.edits import FactEdits, HandEdits
from bead_store.episodes import Episodes, add_episode_routes
from bead_store.facts import Facts
from bead_store.forget import Forgetting, Lanes, Parts
from bead_store.forget_routes import add_forget_routes
from bead_store.heard import Heard
from bead_store.home import Prepared, prepare
from bead_store.intents import Intents, Operation
from bead_store.jobs import Jobs, add_job_routes
from bead_store.lanes import Lane
from bead_store.lock import HomeLock
from bead_store.offline import OfflineEdits
from bead_store.projects import Projects
from bead_store.raw import RawLog
from bead_store.receipts import Receipts
from bead_store.regrouping import Regrouping
from bead_store.rekey import Rekeying
from bead_store.review import ReviewFiles
from bead_store.routes import add_routes, hot_routes
from bead_store.scan import NO_EXCEPTIONS, Scan
from bead_store.sealing import Sealing
from bead_store.settling import settle
from bead_store.standing import add_standing_routes
from bead_store.sync import GroupSync
from bead_store.tombstones import Tombstones
from bead_store.traces import Traces, add_trace_routes
from bead_store.use import Use
from bead_store.vault import Vault
from bead_store.vault_routes import add_vault_routes
from bead_store.verdicts import Verdicts
from bead_store.view_routes import add_view_routes
from bead_store.views import Views
from bead_store.watch import Watch

_OTHERS_AT_WORK_S = 60.0
NO_BACKUP = BackupSettings()
_USE_FILES = 2
"""What a refresh before this one, or a full file, has left, and what came since."""

log = structlog.get_logger()


class Store:
    """Everything of one open home. Made inside the lock; what its parts may do is in their modules."""

    def __init__(
        self,
        settings: StoreSettings,
        scan_settings: ScanSettings,
        home: Home,
        owner: str,
        prepared: Prepared,
        tasks: Tasks,
        writes: Counter,
        backup: BackupSettings = NO_BACKUP,
    ) -> None:
        self.home_id = prepared.home_id
        self.writes = writes
        self.fact_lane = Lane("facts")
        self.turn_lane = Lane("turns")
        self.read_lane = Lane("reads")
        self.slow_lane = Lane("slow")
        self._sync_lane = Lane("sync")
        self.disk = Disk()
        self.changes = Changes()
        self.scan = Scan((prepared.bus_secret, prepared.proxy_token, prepared.admin_token), scan_settings)
        self.sync = GroupSync(self.disk, self._sync_lane, tasks, settings.group_fsync_ms / 1000)
        self.disk.on_append = self.sync.soon
        self.catalogue = Catalogue(home.facts, owner, prepared.home_id, self.disk)
        self.review = ReviewFiles(home.queue, self.disk, prepared.home_id)
        self.projects = Projects(home.projects, self.disk, str(Path.home()))
        self.audit = Audit(home.audit_log, self.disk, now)
        self.tombstones = Tombstones(home.tombstones, prepared.tombstone_key, disk=self.disk, now=now)
        self.intents = Intents(home.intents, self.disk)
        self.facts = Facts(
            home.facts,
            owner,
            disk=self.disk,
            catalogue=self.catalogue,
            review=self.review,
            projects=self.projects,
            changes=self.changes,
            audit=self.audit,
            scan=self.scan,
            tombstones=self.tombstones,
            now=now,
        )
        self.raw = RawLog(
            home.raw,
            owner,
            disk=self.disk,
            scan=self.scan,
            changes=self.changes,
            without_forgotten=lambda text: self.tombstones.spans.redacted(text),
        )
        self.episodes = Episodes(
            home.episodes,
            disk=self.disk,
            scan=self.scan,
            tombstones=self.tombstones,
            changes=self.changes,
            now=now,
        )
        self.use = Use(home.use, self.disk, now)
        self.traces = Traces(home.traces, self.disk, now)
        self.jobs = Jobs(home.jobs, self.disk)
        self.conversation_days = settings.conversation_days
        self.heard = Heard(
            changes=self.changes,
            catalogue=self.catalogue,
            raw=self.raw,
            use=self.use,
            turn_lane=self.turn_lane,
            slow_lane=self.slow_lane,
        )
        self.conversations = Conversations(home.sessions, disk=self.disk, use=self.use)
        self.credentials = Credentials(
            home.facts,
            catalogue=self.catalogue,
            sessions=self.raw,
            scan=self.scan,
            disk=self.disk,
            audit=self.audit,
            changes=self.changes,
            fact_lane=self.fact_lane,
            turn_lane=self.turn_lane,
            slow_lane=self.slow_lane,
            others=lambda: self._texts_beside(home),
        )
        self.credentials.on_other = self.episodes.rewritten
        self.catalogue.foreign = FactEdits(
            self.catalogue, disk=self.disk, audit=self.audit, changes=self.changes, credentials=self.credentials
        )
        self.edits = HandEdits(
            home.facts,
            home.raw,
            catalogue=self.catalogue,
            sessions=self.raw,
            episodes=self.episodes,
            audit=self.audit,
            fact_lane=self.fact_lane,
            turn_lane=self.turn_lane,
            read_lane=self.read_lane,
        )
        self.rekeying = Rekeying(
            home.facts,
            disk=self.disk,
            catalogue=self.catalogue,
            projects=self.projects,
            review=self.review,
            tombstones=self.tombstones,
            intents=self.intents,
            changes=self.changes,
            audit=self.audit,
        )
        self.verdicts = Verdicts(
            facts=self.facts,
            rekeying=self.rekeying,
            review=self.review,
            tombstones=self.tombstones,
            intents=self.intents,
            audit=self.audit,
        )
        self.drafts = Drafts(
            DraftFiles(home.drafts, self.disk, now),
            facts=self.facts,
            tombstones=self.tombstones,
            intents=self.intents,
            scan=self.scan,
            audit=self.audit,
            now=now,
        )
        self.now = now
        self.journal = Journal(home.dream / "runs", self.disk, now)
        self.notes = Notes(home.dream, home.reports, self.disk)
        self.night = Night(
            journal=self.journal,
            notes=self.notes,
            facts=self.facts,
            catalogue=self.catalogue,
            review=self.review,
            episodes=self.episodes,
            tombstones=self.tombstones,
            scan=self.scan,
            audit=self.audit,
            now=now,
        )
        self.undo = Undo(
            home.facts,
            journal=self.journal,
            notes=self.notes,
            facts=self.facts,
            catalogue=self.catalogue,
            review=self.review,
            episodes=self.episodes,
            tombstones=self.tombstones,
            intents=self.intents,
            disk=self.disk,
            changes=self.changes,
            audit=self.audit,
        )
        self.vault = Vault(home, self.disk)
        self.copies = Copies(home.copies, self.disk)
        self.copies.handlers[sections.KIND] = sections.forget_in_section
        self.backup_settings = backup
        self.backup_turn = asyncio.Lock()
        """One backup at a time: two that end in the same folder would take each other's objects away."""
        self.backups = Backups(
            home,
            home_id=prepared.home_id,
            key=prepared.tombstone_key,
            copies=self.copies,
            disk=self.disk,
            recipient=lambda: backup.recipient or self.vault.recipient(),
        )
        self.forgetting = Forgetting(
            Parts(
                home=home,
                disk=self.disk,
                catalogue=self.catalogue,
                raw=self.raw,
                episodes=self.episodes,
                conversations=self.conversations,
                traces=self.traces,
                tombstones=self.tombstones,
                intents=self.intents,
                changes=self.changes,
                audit=self.audit,
                copies=self.copies,
                receipts=Receipts(home.receipts, self.disk),
                vault=self.vault,
                lanes=Lanes(self.fact_lane, self.turn_lane, self.slow_lane),
                now=now,
            ),
            tasks=tasks,
        )
        self.facts.require_plain = self.vault.require_plain
        self.sealing = Sealing(
            home,
            owner,
            vault=self.vault,
            disk=self.disk,
            catalogue=self.catalogue,
            projects=self.projects,
            tombstones=self.tombstones,
            intents=self.intents,
            changes=self.changes,
            audit=self.audit,
            scan=self.scan,
            forgetting=self.forgetting,
            lane=self.fact_lane,
            reading=self.slow_lane,
            now=now,
        )
        self.offline = OfflineEdits(
            home.facts,
            home.audit_log,
            catalogue=self.catalogue,
            disk=self.disk,
            audit=self.audit,
            changes=self.changes,
            lane=self.fact_lane,
            reading=self.slow_lane,
            began_ns=time.time_ns(),
        )
        self.regrouping = Regrouping(
            projects=self.projects,
            catalogue=self.catalogue,
            sealed=lambda: tuple(sealed.key for sealed in self.vault.keys()),
            rekey=lambda request: self.sealing.rekey(request, self.rekeying.rekey),
            lane=self.fact_lane,
            tasks=tasks,
        )
        self.views = Views(
            self.catalogue,
            self.raw,
            self.conversations,
            self.use,
            raw_folder=home.raw,
            reports_folder=home.reports,
            audit_log=home.audit_log,
            now=now,
        )
        self.watch = Watch(settings, (home.facts, home.raw, home.episodes), self.edits.noticed)
        self.tasks = tasks
        self.fact_lane.behind = self._mark_behind
        self._watches = settings.watch != "off"
        self._home = home

    async def settle(self) -> None:
        """The last process did not come to its end: what it wrote is made durable before anybody hears of it."""
        try:
            await self.slow_lane.run(settle, self._home.root)
        except WritesStopped as error:
            self.disk.stopped = error.message
            log.error("what the last process wrote could not be made durable", error=error.code)

    async def load(self) -> None:
        """Read what is there and finish what a crash interrupted."""
        await self.fact_lane.run(self._load_facts)
        await self.turn_lane.run(self._load_turns)
        await self.traces.lane.run(self.traces.load)
        await self.read_lane.run(self.scan.wait)
        await self._finish_intents()
        with suppress(BeadError):  # they stay as they are, and the next start marks them
            await self.fact_lane.run(self.facts.mark_behind)
        self.tasks.start(self.edits.run(), name="look at edited files")
        self.regrouping.soon()
        self.tasks.start(self.heard.run(), name="listen to agents")
        self.tasks.start(ask_refusing_disk(self.disk, self._home.root, self.slow_lane), name="ask a disk that refused")
        if self._watches:
            self.tasks.start(self.watch.run(), name="watch files")

    async def refresh_use(self) -> UseRefreshed:
        """Note in the facts' files when they were injected last, and drop the lines that said so.

        Raises:
            Unavailable: the disk refused; what is not folded yet is kept for the next time.
        """
        lines = refreshed = 0
        for _ in range(_USE_FILES):
            taken = await self.turn_lane.run(self.use.take)
            if taken is None:
                break
            for key, uid in await self.slow_lane.run(self.catalogue.keys_of, taken.last_injected.keys()):
                # One at a time: no write waits for all of them.
                refreshed += await self.fact_lane.run(self.facts.note_injected, key, uid, taken.last_injected[uid])
            await self.turn_lane.run(self.use.drop, taken)
            lines += taken.lines
        return UseRefreshed(lines=lines, facts=refreshed)

    async def _finish_intents(self) -> None:
        """Nobody is answered before this: what was begun in another life is done, or rolled back, first.

        One that cannot be finished (the disk is full) stays open, and health tells.
        """
        for id, intent in list(self.intents.open.items()):
            try:
                if intent.operation is Operation.REKEY:
                    await self.fact_lane.run(self.rekeying.finish, id, intent)
                elif intent.operation is Operation.FORGET:
                    await self.forgetting.resume(id, intent)
                elif intent.operation in (Operation.SEAL, Operation.UNSEAL, Operation.MOVE_SEALED):
                    await self.sealing.resume(id, intent)
                elif intent.operation in (Operation.APPROVE, Operation.DISCARD):
                    await self.fact_lane.run(self.drafts.finish, id, intent)
                elif intent.operation is Operation.UNDO:
                    await self.fact_lane.run(self.undo.finish, id, intent)
                else:
                    await self.fact_lane.run(self.verdicts.finish, id, intent)
            except BeadError as error:
                log.error("an operation could not be finished", operation=intent.operation, error=error.code)

    async def close(self) -> None:
        """Let running work end and make the last appends durable."""
        self.changes.close()
        self.traces.close()
        for lane in (self.slow_lane, self.fact_lane, self.turn_lane, self.read_lane, self.traces.lane):
            await asyncio.to_thread(lane.close)
        if not self.disk.stopped:
            await self._sync_lane.run(self.disk.sync_appended)
        await asyncio.to_thread(self._sync_lane.close)

    def _texts_beside(self, home: Home) -> list[Path]:
        """Files that hold what somebody said and are neither facts nor turns."""
        return [*self.episodes.paths_in(home.episodes), *home.drafts.glob("*.md"), *home.queue.glob("*.md")]

    def _mark_behind(self) -> None:
        with suppress(BeadError):  # the next start marks what is left
            self.facts.mark_behind()

    def trouble(self) -> tuple[str, ...]:
        """What does not work, in plain words for a health answer."""
        unfinished = sum(not intent.waits_for_index for intent in self.intents.open.values())
        damaged = self.catalogue.damaged_count + len(self._table_damage()) + len(self.conversations.damage)
        damaged += len(self._record_damage())
        return tuple(
            words
            for words in (
                self.disk.stopped or self.disk.refusing,
                self.scan.trouble,
                self.watch.trouble,
                f"{unfinished} operations are not finished yet" if unfinished else None,
                f"{damaged} file{'' if damaged == 1 else 's'} cannot be read; 'bead doctor' names them"
                if damaged
                else None,
            )
            if words
        )

    def damage(self) -> list[DamagedFile]:
        """Files that cannot be read; the review queue's are looked at when somebody asks for them."""
        found = [*self.catalogue.damage(), *self._table_damage(), *self._record_damage(), *self.conversations.damage]
        return [*found, *self.sealing.both()]

    def _record_damage(self) -> list[DamagedFile]:
        return [*([self.tombstones.damage] if self.tombstones.damage else []), *self.intents.damage]

    def _table_damage(self) -> list[DamagedFile]:
        return [self.projects.damage] if self.projects.damage else []

    def _load_facts(self) -> None:
        # The store's own folders are ours alone under the lock; tokens are made by any process that prepares the home.
        store = self._home.facts.parent
        self.disk.sweep(store, skip=self._home.facts)
        self.disk.sweep(self._home.sessions)
        self.disk.sweep(self._home.root, _OTHERS_AT_WORK_S, skip=store)
        self.vault.load()
        self.projects.load()
        self.tombstones.load()
        self.intents.load()
        self.episodes.load()
        self.disk.remove_leftovers(self.catalogue.load())
        self.facts.finish_interrupted()
        self.journal.end_open()

    def _load_turns(self) -> None:
        self.raw.load()
        self.conversations.load()
        self.use.load()


def now() -> datetime:
    """The store's clock."""
    return datetime.now(UTC)


def create_service(
    settings: StoreSettings,
    home: Home,
    owner: str,
    scan_settings: ScanSettings = NO_EXCEPTIONS,
    backup: BackupSettings = NO_BACKUP,
) -> Service:
    """The store of `home`, ready to run; nothing is opened before its lifespan begins."""
    registry = CollectorRegistry()
    writes = Counter("bead_store_writes", "Facts by what a write did.", ["verb"], registry=registry)
    opened: list[Store] = []
    waiting = Gauge("bead_store_queue_items", "Items that wait for a person.", registry=registry)
    waiting.set_function(lambda: len(opened[0].review.ids()) if opened else 0)
    facts = Gauge("bead_store_facts", "Keys that hold a fact.", registry=registry)
    facts.set_function(lambda: sum(1 for _ in opened[0].catalogue.entries()) if opened else 0)

    def store() -> Store:
        if not opened:
            raise Unavailable("the store is not running yet, or not any more")
        return opened[0]

    @asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncIterator[None]:
        forbid_core_dumps()
        prepared = await asyncio.to_thread(prepare, home)
        async with HomeLock(home.lock, settings.lock_wait_s) as lock:
            async with AsyncExitStack() as stack:
                tasks = Tasks()
                opened.append(Store(settings, scan_settings, home, owner, prepared, tasks, writes, backup))
                disk = store().disk
                stack.callback(opened.clear)
                stack.push_async_callback(store().close)
                await stack.enter_async_context(tasks)
                stack.callback(store().sync.stop)
                if not lock.is_settled:
                    await store().settle()
                await store().load()
                if lock.is_settled:
                    # After another end a line of the log may be lost, and what it said must not be taken back.
                    tasks.start(store().offline.run(), name="look at files that changed while bead was off")
                yield
            if disk.is_settled:
                lock.note_settled()

    api = create_api("store", lifespan, _health(opened), registry)
    add_routes(api, store)
    add_forget_routes(api, store)
    add_vault_routes(api, store)
    add_view_routes(api, store)
    add_standing_routes(api, store)
    add_episode_routes(api, store)
    add_dream_routes(api, store)
    add_trace_routes(api, lambda: store().traces)
    add_job_routes(api, store)
    add_draft_routes(api, store)
    add_backup_routes(api, store)
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
