"""Keeps the copy equal to the store: the change feed while both run, the manifest after a start or a new epoch.

The facts in memory change first, then the file, then the acknowledgement; what was forgotten is acknowledged only when
no byte of it is left. The store is asked, never told. What is done with the copy is `selection`'s and `search`'s.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import TypeVar

import structlog
from pydantic import ValidationError

from bead.clients.store import StoreClient
from bead.errors import BeadError, Corrupt, NotFound, Unavailable
from bead.facts import FactVersion
from bead.tasks import Tasks
from bead.wire.dream import Calibration
from bead.wire.store import Change, ChangeKind, ChangePage, Manifest
from bead_index.batch import Batch, Turns, Versions
from bead_index.builder import building
from bead_index.database import Damaged, IndexFile, Position
from bead_index.facts import FactTable
from bead_index.pace import long_lived, unhurried
from bead_index.schema import EPISODE, FACT, TURN
from bead_index.worker import Worker

CONSUMER = "index"
POLL_S = 10.0
"""Longest time one question for changes stays open; also how soon a deleted `index.db` is noticed."""
BATCH = 100
"""Most facts or sessions that one transaction takes in."""
GATHER_S = 0.25
"""How long new turns wait for each other: the request that brought one is over before it is worked on."""
QUIET_S = 300.0
"""Time without a change after which the whole manifest may be asked for; with many facts that takes a moment."""
_PIECE_S = 0.001
"""Longest stretch of work on the event loop, which also answers model requests."""
BATCH_CHARACTERS = 1_000_000
"""Text of turns that is held in memory before it is written."""
_FEW = 20
MANY = 200
"""So many facts, sessions and episodes that differ are written by a process of their own, with all others."""
_KINDS = {ChangeKind.FACT: FACT, ChangeKind.TURN: TURN, ChangeKind.EPISODE: EPISODE}
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 5.0

T = TypeVar("T")
log = structlog.get_logger()


class Follower:
    """The copy and how far it has come. `run` never ends by itself; trouble is told in `degraded`."""

    def __init__(
        self,
        store: StoreClient,
        worker: Worker,
        on_written: Callable[[bool], None] | None = None,
        on_calibration: Callable[[Calibration], None] | None = None,
    ) -> None:
        """`on_written` hears of every change of the file, and whether text that it held is no more.

        `on_calibration` hears what the nights have taught the gate, first and whenever it changes.
        """
        self._on_calibration = on_calibration
        self._store = store
        self._worker = worker
        self._on_written = on_written or (lambda went: None)
        self._table = FactTable()
        self._position = Position("", 0)
        self._compared = False
        self._ready = False
        self._whole = False
        self._anew = False
        """The next comparison builds the file, whatever it holds."""
        self._trouble = "the index has not been compared with the store yet"
        self._reported = False
        self._moved = asyncio.Condition()
        self._last_change = 0.0
        self._check: asyncio.Event | None = None
        """Somebody waits for a comparison with the store."""

    @property
    def degraded(self) -> tuple[str, ...]:
        """What does not work, in plain words; empty when the copy follows."""
        building = ("the search index is being built again from the store",) if self._ready and not self._whole else ()
        return (*((self._trouble,) if self._trouble else ()), *building)

    @property
    def ready(self) -> bool:
        """Whether the copy has been equal to the store once: before that it may hold what was forgotten."""
        return self._ready

    @property
    def position(self) -> Position:
        """How far the copy has come."""
        return self._position

    @property
    def file_is_whole(self) -> bool:
        """Whether searching the file finds all there is; not while it is being built."""
        return self._whole

    def facts(self) -> FactTable:
        """The facts that may be injected.

        Raises:
            Unavailable: the copy has not been compared with the store yet.
        """
        if not self._ready:
            raise Unavailable("memories are not loaded: " + self._trouble)
        return self._table

    async def wait_applied(self, seq: int, wait_s: float) -> bool:
        """Whether change `seq` is applied within `wait_s`."""
        return await self._wait(lambda: self._compared and self._position.seq >= seq, wait_s)

    async def wait_compared(self, wait_s: float) -> bool:
        """Whether the copy is equal to a manifest of the store within `wait_s`."""
        return await self._wait(lambda: self._compared, wait_s)

    async def check(self, wait_s: float) -> None:
        """Compare the copy with the store once more and repair what differs.

        Raises:
            Unavailable: it could not be done within `wait_s`; the index goes on trying.
        """
        self._check = self._check or asyncio.Event()
        try:
            async with asyncio.timeout(wait_s):
                await self._check.wait()
        except TimeoutError:
            raise Unavailable(f"the index was not compared within {wait_s:g} s: {self._trouble or 'busy'}") from None

    def build_anew(self) -> None:
        """Let the next comparison build the file anew; file and facts in memory go on answering until then."""
        self._compared, self._anew = False, True

    async def start_over(self) -> None:
        """Throw the file away; the next comparison builds it again. The facts in memory go on answering."""
        self._compared = self._whole = False
        self._position = Position("", 0)
        await self._worker.reset()
        self._on_written(True)

    async def run(self) -> None:
        """Follow for ever."""
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                await self._step()
                pause_s = _FIRST_PAUSE_S
                self._report("")
                continue
            except Damaged:
                self._report("index.db is damaged and is being built again")
                await self._recover_file()
            except ValidationError:
                self._report("the store's answers are of another version; run the same version of both")
            except BeadError as error:
                self._report(f"the index cannot follow the store: {error.message}")
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _step(self) -> None:
        if self._check or not self._compared:
            await self._compare()
            if self._check:
                self._check.set()
                self._check = None
            return
        asked = time.monotonic()
        page = await self._store.changes(self._position.epoch, self._position.seq, POLL_S, GATHER_S)
        held = await self._worker.write(IndexFile.position)
        if page.epoch != self._position.epoch or held.epoch != self._position.epoch:
            self._compared = False
            self._whole = held.epoch == self._position.epoch
        elif page.changes or page.seq > self._position.seq:
            await self._apply(page)
            self._last_change = time.monotonic()
        else:
            if asked - self._last_change >= QUIET_S:
                await self._learn_hashes()
            if time.monotonic() - asked < _FIRST_PAUSE_S:  # a store that is going down sends its readers home at once
                await asyncio.sleep(_FIRST_PAUSE_S)

    async def _apply(self, page: ChangePage) -> None:
        if not page.changes:
            await self._settle(Batch(), Position(page.epoch, page.seq))
        for some in _batches(page.changes):
            batch = await self._fetch(some)
            await self._change_table(batch, self._table)
            await self._settle(batch, Position(page.epoch, some[-1].seq))

    async def _settle(self, batch: Batch, position: Position) -> None:
        await self._write(batch, position)
        await self._worker.write(_purge_if_needed)
        await self._arrive(position)

    async def _write(self, batch: Batch, position: Position | None = None) -> None:
        self._on_written(await self._worker.write(lambda index: batch.write(index, position)))

    async def _arrive(self, position: Position) -> None:
        async with self._moved:
            self._position = position
            self._compared = True
            self._moved.notify_all()
        await self._store.acknowledge(CONSUMER, position.epoch, position.seq)

    async def _fetch(self, changes: Iterable[Change]) -> Batch:
        batch = Batch()
        newest = {(change.kind, change.id): change for change in changes}.values()
        longer = [change.id for change in newest if change.kind is ChangeKind.TURN and change.first is not None]
        held = await self._worker.write(lambda index: index.last_ordinals(longer)) if longer else {}
        for change in newest:
            if change.kind is ChangeKind.FACT:
                await self._fetch_fact(batch, change.id, None, gone=change.gone)
            elif change.kind is ChangeKind.TURN:
                after = min(held.get(change.id, 0), (change.first or 1) - 1)
                await self._fetch_session(batch, change.id, None, gone=change.gone, after=after)
            elif change.kind is ChangeKind.EPISODE:
                await self._fetch_episode(batch, change.id, None, gone=change.gone)
            elif change.kind is ChangeKind.CALIBRATION:
                await self._calibrate()
        return batch

    async def _calibrate(self) -> None:
        if self._on_calibration is not None:
            self._on_calibration(await self._store.calibration())

    async def _fetch_fact(self, batch: Batch, key: str, hash: str | None, *, gone: bool = False) -> None:
        # An unreadable highest version makes its key unavailable; the older value must not stay searchable (I1).
        try:
            fact = None if gone else await self._store.current_fact(key)
        except (NotFound, Corrupt):
            fact = None
        if fact is None:
            batch.gone_facts.append(key)
        else:
            batch.facts.append(await self._with_older(fact, hash))

    async def _with_older(self, fact: FactVersion, hash: str | None) -> Versions:
        if fact.version == 1:
            return Versions(fact, hash)
        try:
            versions = (await self._store.history(fact.key)).versions
        except (NotFound, Corrupt):
            return Versions(fact, hash)
        older = tuple(version for version in versions if version.version < fact.version)
        return Versions(fact, hash, older if len(older) < len(versions) else ())

    async def _fetch_session(
        self, batch: Batch, session: str, hash: str | None, *, gone: bool = False, after: int = 0
    ) -> None:
        try:
            view = None if gone else await self._store.session(session, after)
        except (NotFound, Corrupt):
            view = None
        if view is None:
            batch.gone_sessions.append(session)
        else:
            batch.sessions.append(Turns(session, after, view.turns, hash))

    async def _fetch_episode(self, batch: Batch, id: str, hash: str | None, *, gone: bool = False) -> None:
        try:
            episode = None if gone else await self._store.episode(id)
        except (NotFound, Corrupt):
            episode = None
        if episode is None:
            batch.gone_episodes.append(id)
        else:
            batch.episodes.append((episode, hash))

    async def _change_table(self, batch: Batch, table: FactTable) -> None:
        until = time.monotonic() + _PIECE_S
        for key in batch.gone_facts:
            table.drop(key)
        for each in batch.facts:
            table.put(each.fact)
            if time.monotonic() > until:
                await asyncio.sleep(0)
                until = time.monotonic() + _PIECE_S

    async def _compare(self) -> None:
        """Make the copy equal to the store: what differs is fetched, and where that is much, the file built anew."""
        await self._calibrate()
        manifest = await self._store.manifest()
        wanted = {kind: _wanted(manifest, kind) for kind in _KINDS}
        held = {kind: await self._worker.write(partial(IndexFile.hashes, kind=name)) for kind, name in _KINDS.items()}
        different = {kind: _different(wanted[kind], held[kind]) for kind in _KINDS}
        if self._anew or sum(map(len, different.values())) > MANY:
            await self._build(manifest)
        else:
            await self._mend(different, wanted, held)
        # Built aside and swapped, so that what answers meanwhile is the old copy, whole.
        table = await self._worker.write(_table_of)
        position = await self._catch_up(table, Position(manifest.epoch, manifest.seq))
        self._table.let_go()
        self._table, self._anew = table, False
        await self._settle(Batch(), position)
        self._ready = self._whole = True

    async def _mend(
        self,
        different: dict[ChangeKind, dict[str, str]],
        wanted: dict[ChangeKind, dict[str, str]],
        held: dict[ChangeKind, dict[str, str | None]],
    ) -> None:
        gone = Batch(
            gone_facts=_without(held[ChangeKind.FACT], wanted[ChangeKind.FACT]),
            gone_sessions=_without(held[ChangeKind.TURN], wanted[ChangeKind.TURN]),
            gone_episodes=_without(held[ChangeKind.EPISODE], wanted[ChangeKind.EPISODE]),
        )
        await self._change_table(gone, self._table)
        await self._write(gone)
        await self._take_facts(different[ChangeKind.FACT])
        await self._take_sessions(different[ChangeKind.TURN])
        await self._take_episodes(different[ChangeKind.EPISODE])

    async def _build(self, manifest: Manifest) -> None:
        """Put a new file into the place of the old one, which follows the store until then."""
        async with Tasks() as tasks, building(self._store, self._worker.new_path) as builder:
            tasks.start(self._keep_up(manifest), name="follow while a new index is built")
            await builder.build(manifest)
        await self._worker.swap()
        self._on_written(True)

    async def _keep_up(self, manifest: Manifest) -> None:
        """Bring changes to what answers meanwhile. Nothing is acknowledged: the new file has not seen them."""
        seq = manifest.seq
        while True:
            try:
                page = await self._store.changes(manifest.epoch, seq, POLL_S, 0.0)
                if page.epoch != manifest.epoch:
                    return
                await self._change(page, self._table)
                seq = page.seq
            except (BeadError, Damaged, ValidationError) as error:
                log.warning("changes wait until the new index is built", error=type(error).__name__)
                return

    async def _catch_up(self, table: FactTable, position: Position) -> Position:
        """Bring `table` and the file to the store's newest change, before anybody is answered from them.

        Raises:
            Unavailable: the store has begun a new epoch.
        """
        while True:
            page = await self._store.changes(position.epoch, position.seq)
            if page.epoch != position.epoch:
                raise Unavailable("the store has begun anew; the index compares once more")
            if not page.changes:
                return position
            await self._change(page, table)
            position = Position(page.epoch, page.seq)

    async def _change(self, page: ChangePage, table: FactTable) -> None:
        for some in _batches(page.changes):
            batch = await self._fetch(some)
            await self._change_table(batch, table)
            await self._write(batch)
            await self._worker.write(_purge_if_needed)

    async def _take_facts(self, wanted: dict[str, str]) -> None:
        if len(wanted) <= _FEW:
            batch = Batch()
            for key, hash in wanted.items():
                await self._fetch_fact(batch, key, hash)
            await self._write(batch)
            return
        after: str | None = None
        while True:
            page = await self._store.list_facts(after=after, limit=BATCH)
            found = [await self._with_older(fact, wanted[fact.key]) for fact in page.facts if fact.key in wanted]
            if found:
                await self._write(Batch(facts=found))
            after = page.next_after
            if after is None:
                return

    async def _take_sessions(self, wanted: dict[str, str]) -> None:
        batch = Batch()
        for number, (session, hash) in enumerate(wanted.items(), 1):
            await self._fetch_session(batch, session, hash)
            if number == len(wanted) or number % BATCH == 0 or batch.characters >= BATCH_CHARACTERS:
                await self._write(batch)
                batch = Batch()

    async def _take_episodes(self, wanted: dict[str, str]) -> None:
        for some in _batches(wanted.items()):
            batch = Batch()
            for id, hash in some:
                await self._fetch_episode(batch, id, hash)
            await self._write(batch)

    async def _learn_hashes(self) -> None:
        """In a quiet moment, note what the manifest calls the things that the feed has brought.

        Without it the next start would fetch them all again.
        """
        unknown = await self._worker.write(IndexFile.without_hash)
        if not unknown:
            return
        manifest = await self._store.manifest()
        if Position(manifest.epoch, manifest.seq) != self._position:
            return
        known = {(_KINDS[entry.kind], entry.id): entry.hash for entry in manifest.entries if entry.kind in _KINDS}
        named = [(kind, id, known[kind, id]) for kind, id in unknown if (kind, id) in known]
        await self._worker.write(lambda index: _set_hashes(index, named))

    async def _recover_file(self) -> None:
        try:
            await self.start_over()
        except BeadError as error:
            self._report(f"the index cannot be kept: {error.message}")

    async def _wait(self, reached: Callable[[], bool], wait_s: float) -> bool:
        try:
            async with asyncio.timeout(wait_s), self._moved:
                await self._moved.wait_for(reached)
        except TimeoutError:
            return reached()
        return True

    def _report(self, trouble: str) -> None:
        """Tell `trouble` (empty: all is well) in health, and once in the log until all is well again."""
        if trouble and not self._reported:
            log.warning("index does not follow the store", reason=trouble)
        self._reported = bool(trouble)
        self._trouble = trouble


def _batches(items: Iterable[T]) -> Iterable[list[T]]:
    left = iter(items)
    while some := list(islice(left, BATCH)):
        yield some


def _table_of(index: IndexFile) -> FactTable:
    with long_lived():
        return FactTable(unhurried(index.facts()))


def _purge_if_needed(index: IndexFile) -> None:
    if index.needs_purge():
        index.purge()


def _wanted(manifest: Manifest, kind: ChangeKind) -> dict[str, str]:
    return {entry.id: entry.hash for entry in manifest.entries if entry.kind is kind}


def _without(held: Iterable[str], wanted: dict[str, str]) -> list[str]:
    return [id for id in held if id not in wanted]


def _different(wanted: dict[str, str], held: dict[str, str | None]) -> dict[str, str]:
    return {id: hash for id, hash in wanted.items() if held.get(id) != hash}


def _set_hashes(index: IndexFile, named: Sequence[tuple[str, str, str]]) -> None:
    with index.transaction():
        for kind, id, hash in named:
            index.set_hash(kind, id, hash)
