"""A store in memory behind the real client: the routes of `bead.wire.store` and `bead.wire.vault`, no files.

    store = FakeStore()
    await store.client.write_fact(WriteFact(body="Deploys go out on Tuesday."))
    store.down = True          # every call now fails as if nothing listened
    store.restart()            # a new epoch, as after a restore

Held true by those tests of the store's contract that speak of no file (tests/contract/index/test_fake_store.py). It
scans nothing: credentials and private spans are kept as they come. What a person decides is in `decisions`.
"""

import asyncio
import hashlib
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from urllib.parse import quote, unquote

import msgspec
from fastapi import FastAPI, Request, Response
from prometheus_client import CollectorRegistry

from bead import __version__, keys
from bead.bus.service import Service, create_api
from bead.bus.transport import DEFAULT_TIMEOUT_S, Answer, InProcessTransport
from bead.clients.store import StoreClient
from bead.conversations import Block, Conversation
from bead.errors import BadRequest, NotFound, Refused, ServiceDown, StaleConversation
from bead.facts import FactType, FactVersion, Sensitivity, Status, TriggerCard, Trust
from bead.projects import same_project, scope_name, strength
from bead.text.instructions import is_suspicious
from bead.turns import Role
from bead.wire.backup import BackupDone, StartBackup
from bead.wire.drafts import is_drained_tag
from bead.wire.dream import Calibration
from bead.wire.forget import ConfirmSelected, SelectForget, SelectPreview
from bead.wire.health import Health
from bead.wire.jobs import ConversationsCleared, JobNoted, JobTable, NoteJob
from bead.wire.store import (
    AGENT_FACTS_A_SESSION,
    Acknowledge,
    AppendTurn,
    Change,
    ChangeKind,
    ChangePage,
    CommitBlocks,
    ConfirmForget,
    Decided,
    FactList,
    FindConversation,
    ForgetKeys,
    ForgetPreview,
    ForgetReceipt,
    History,
    Manifest,
    ManifestEntry,
    Mark,
    Project,
    Rekey,
    Rekeyed,
    ResolveProject,
    ReviewItem,
    ReviewQueue,
    SessionList,
    SessionView,
    TurnAppended,
    TurnView,
    UseRefreshed,
    Verb,
    WriteAnswer,
    WriteFact,
)
from bead.wire.traces import KeptTrace, TraceKept, TracePage, TurnTrace, is_turn_id
from tests.fakes.decisions import Decisions
from tests.fakes.drafts import FakeDrafts, add_fake_draft_routes
from tests.fakes.episodes import FakeEpisodes, add_episode_routes
from tests.fakes.vault import FakeVault, add_fake_vault_routes
from tests.fakes.views import add_fake_view_routes

Asked = TypeVar("Asked")
_SOMEBODYS_HOME = re.compile(r"/(?:home|Users)/[^/]+\Z|/root\Z")


class FakeStore:
    """See the module."""

    def __init__(self, owner: str = "me") -> None:
        self.down = False
        """While true, no call reaches the store."""
        self.calls: Counter[str] = Counter()
        """Answered calls by method and path."""
        self.refused = 0
        """Calls that found it down."""
        self.acknowledged: dict[str, int] = {}
        """Last sequence number of each consumer."""
        self.queue: list[ReviewItem] = []
        self.proposals: dict[str, WriteFact] = {}
        """What an accept would write, by review item."""
        self.stated: Counter[str] = Counter()
        """New statements of agents, by session."""
        self.decisions = Decisions(self)
        self.vault = FakeVault(self)
        self.episodes = FakeEpisodes(self)
        self.drafts = FakeDrafts(self)
        self.calibration = Calibration()
        self.clock = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
        """Time of the next write; each write takes a second."""
        self.service = self._create_service()
        self.client = StoreClient(_Reachable(self, InProcessTransport("store", self.service.app)))
        self._owner = owner
        self._epoch = 1
        self._seq = 0
        self._changes: dict[tuple[ChangeKind, str], Change] = {}
        """The newest change of each key and session, oldest first."""
        self._changed = asyncio.Condition()
        self.facts: dict[str, list[FactVersion]] = {}
        self.turns: dict[str, dict[str, TurnView]] = {}
        self._projects: dict[str, list[str]] = {}
        """The identities of each project, strongest first."""
        self._directories: dict[str, str] = {}
        self.conversations: dict[str, Conversation] = {}
        self._whose: dict[str, tuple[str, str]] = {}
        self.traces: list[KeptTrace] = []
        self.jobs = JobTable()
        self.backup = BackupDone(path="/somewhere", files=3, written=3)
        self._trace_seq = 0
        self._traced = asyncio.Condition()
        self._used: list[tuple[datetime, tuple[str, ...]]] = []
        """When blocks were kept and the facts of each, since the last refresh."""

    # -- what tests do behind the client's back -----------------------------------------------------------------------

    @property
    def seq(self) -> int:
        """Last sequence number."""
        return self._seq

    @property
    def epoch(self) -> str:
        """Name of this life of the feed."""
        return f"epoch-{self._epoch}"

    def restart(self) -> None:
        """Begin a new epoch: sequence numbers start again and only the manifest tells what there is."""
        self._epoch += 1
        self._seq = 0
        self._changes.clear()

    async def forget(self, key: str) -> int:
        """Remove every version of `key`; the sequence number of that change."""
        del self.facts[key]
        return await self.note(ChangeKind.FACT, key, gone=True)

    def lose(self, key: str) -> None:
        """Remove `key` without a trace in the feed, as when files are deleted while nothing runs."""
        del self.facts[key]

    async def redact_turn(self, session: str, ordinal: int) -> int:
        """Replace a turn's text as forget does; the sequence number of that change."""
        turns = self.turns[session]
        turn_id = next(turn_id for turn_id, turn in turns.items() if turn.ordinal == ordinal)
        turns[turn_id] = turns[turn_id].model_copy(update={"text": "[forgotten]"})
        return await self.note(ChangeKind.TURN, session)

    async def put(self, fact: FactVersion) -> int:
        """Store `fact` as it is, past every rule; the sequence number of that change."""
        self.facts.setdefault(fact.key, []).append(fact)
        return await self.note(ChangeKind.FACT, fact.key)

    # -- facts --------------------------------------------------------------------------------------------------------

    async def write_fact(self, request: WriteFact) -> WriteAnswer:
        """`POST /v1/facts`."""
        if not request.body.strip() or "\0" in request.body:
            raise BadRequest("a fact needs text without null characters")
        if any(is_drained_tag(source) for source in request.sources):
            raise Refused("the tags of the drain are for drafts only")
        if request.sensitivity is Sensitivity.SECRET:
            return await self.vault.write(request)
        in_project = request.project and request.type is not FactType.USER
        scope = f"project/{request.project}" if in_project else "user"
        key = str(keys.in_scope(scope, request.key or keys.derive_name(request.body)))
        self.vault.require_plain(key)
        self.decisions.check(key, request)
        versions = self.facts.get(key, [])
        current = versions[-1] if versions else None
        new = self._new_version(request, key, current)
        if current and (current.body, current.type) == (new.body, new.type):
            answer = await self._reinforce(current, new)
            self.decisions.lift(key, request)
            return answer
        is_held = new.trust is not Trust.USER_STATED and (request.review or is_suspicious(new.body))
        if is_held or (current and current.trust.outranks(new.trust)):
            return self._queue(current, new, request)
        if request.session is not None and new.trust is not Trust.USER_STATED:
            if self.stated[request.session] >= AGENT_FACTS_A_SESSION:
                return self._queue(current, new, request).model_copy(update={"reason": "too many in one session"})
            self.stated[request.session] += 1
        if current:
            versions[-1] = current.model_copy(update={"status": Status.SUPERSEDED})
        self.facts.setdefault(key, []).append(new)
        await self.note(ChangeKind.FACT, key)
        self.decisions.lift(key, request)
        verb = Verb.SUPERSEDED if current else Verb.CREATED
        return WriteAnswer(
            verb=verb, key=key, uid=new.uid, version=new.version, replaced=current.body if current else None
        )

    def current_fact(self, key: str) -> FactVersion:
        """`GET /v1/facts/{key}`."""
        return self.history(key).versions[-1]

    def history(self, key: str) -> History:
        """`GET /v1/facts/{key}/history`."""
        keys.parse(key)
        self.vault.require_plain(key)
        if key not in self.facts:
            raise NotFound("no fact is stored under that key")
        return History(key=key, versions=tuple(self.facts[key]))

    def list_facts(self, scope: str | None, after: str | None, limit: int) -> FactList:
        """`GET /v1/facts`."""
        if scope:
            keys.check_scope(scope)
        found = [
            self.facts[key][-1]
            for key in sorted(self.facts)
            if (not scope or keys.parse(key).scope == scope) and (after is None or key > after)
        ]
        return FactList(facts=tuple(found[:limit]), next_after=found[limit - 1].key if len(found) > limit else None)

    async def mark(self, mark: Mark) -> FactVersion:
        """`POST /v1/marks`."""
        if mark.status in (Status.SEALED, Status.SUPERSEDED):
            raise BadRequest("a mark neither seals nor supersedes")
        current = self.current_fact(mark.key)
        said = {name: getattr(mark, name) for name in ("pinned", "status", "when")}
        marked = current.model_copy(update={name: value for name, value in said.items() if value is not None})
        if marked != current:
            self.facts[mark.key][-1] = marked
            await self.note(ChangeKind.FACT, mark.key)
        return marked

    def _new_version(self, request: WriteFact, key: str, current: FactVersion | None) -> FactVersion:
        in_project = key.startswith("project/")
        self.clock += timedelta(seconds=1)
        return FactVersion(
            uid=current.uid if current else hashlib.sha256(f"{key} {self.clock}".encode()).hexdigest()[:16],
            key=key,
            version=current.version + 1 if current else 1,
            type=request.type or (FactType.PROJECT if in_project else FactType.USER),
            owner=self._owner,
            status=Status.CURRENT,
            trust=request.trust,
            sensitivity=request.sensitivity,
            valid_from=self.clock,
            body=request.body,
            sources=request.sources,
            harness=request.harness,
            pinned=current.pinned if current else False,
            when=request.when or TriggerCard(),
        )

    async def _reinforce(self, current: FactVersion, new: FactVersion) -> WriteAnswer:
        better: dict[str, object] = {}
        if new.trust.outranks(current.trust):
            better["trust"] = new.trust
        card = new.when if not current.trust.outranks(new.trust) else _joined(current.when, new.when)
        if new.when and card != current.when:
            better["when"] = card
        if current.status is Status.DORMANT and not current.trust.outranks(new.trust):
            better["status"] = Status.CURRENT
        verb = Verb.REINFORCED if better else Verb.UNCHANGED
        if better:
            self.facts[current.key][-1] = current.model_copy(update=better)
            await self.note(ChangeKind.FACT, current.key)
        return WriteAnswer(verb=verb, key=current.key, uid=current.uid, version=current.version)

    def _queue(self, current: FactVersion | None, new: FactVersion, request: WriteFact) -> WriteAnswer:
        id = hashlib.sha256(f"{new.key}\0{new.body}".encode()).hexdigest()[:16]
        item = ReviewItem(
            id=id, kind="lower-trust", key=new.key, body=new.body, trust=new.trust, created=new.valid_from
        )
        if all(item.id != id for item in self.queue):
            self.queue.append(item)
            self.proposals[id] = request
        return WriteAnswer(
            verb=Verb.QUEUED,
            key=new.key,
            uid=current.uid if current else id,
            version=current.version if current else 0,
            review_id=id,
        )

    # -- turns --------------------------------------------------------------------------------------------------------

    async def append_turn(self, request: AppendTurn) -> TurnAppended:
        """`POST /v1/turns`."""
        try:
            at = datetime.fromisoformat(request.at)
        except ValueError:
            raise BadRequest("'at' is no time") from None
        turns = self.turns.setdefault(request.session, {})
        known = request.turn_id in turns
        if not known:
            ordinal = len(turns) + 1
            first = next((turn.at for turn in turns.values()), at)
            turns[request.turn_id] = TurnView(
                session=request.session,
                ordinal=ordinal,
                role=Role(request.role),
                at=at,
                project=request.project,
                text=request.text,
                source=f"raw/{first:%Y/%m/%d}/{request.session}.md#turn-{ordinal}",
                complete=request.complete,
            )
            self.turns[request.session] = self.turns.pop(request.session)  # newest last
            await self.note(ChangeKind.TURN, request.session, added=ordinal)
        return TurnAppended(turns[request.turn_id].source, known)

    def session(self, session: str, after: int = 0) -> SessionView:
        """`GET /v1/sessions/{id}`."""
        if session not in self.turns:
            raise NotFound("no such session")
        newer = tuple(turn for turn in self.turns[session].values() if turn.ordinal > after)
        return SessionView(session=session, turns=newer)

    def sessions(self, limit: int) -> SessionList:
        """`GET /v1/sessions`."""
        return SessionList(sessions=tuple(reversed(self.turns))[:limit])

    # -- projects, conversations --------------------------------------------------------------------------------------

    def resolve_project(self, request: ResolveProject) -> Project | None:
        """`POST /v1/projects/resolve`."""
        directory = request.directory
        ids = tuple(sorted((*request.identities, *filter(None, [request.identity])), key=strength))
        if not (directory or ids) or (directory and not directory.startswith("/")):
            raise BadRequest("a project is found by an absolute 'directory' or by 'identities'")
        directory = directory.rstrip("/") if directory else None
        if not ids and directory is not None:
            if known := self._nearest(directory):
                return known
            if not directory or _SOMEBODYS_HOME.match(directory):
                return None
        ids = ids or (f"path:{directory}",)
        names = list(self._projects)
        number = same_project(list(self._projects.values()), ids)
        if number is None:
            by_path = [n for n, known in enumerate(self._projects.values()) if known == [f"path:{directory}"]]
            number = by_path[0] if by_path else None
        name = self._free_name(request.name or re.split("[/:]", ids[0].rstrip("/"))[-1])
        name = name if number is None else names[number]
        for other, theirs in self._projects.items():
            self._projects[other] = [id for id in theirs if other == name or id not in ids or strength(id) < 2]
        self._projects[name] = sorted(dict.fromkeys((*self._projects.get(name, []), *ids)), key=strength)
        if directory:
            self._directories[directory] = name
        return self._project(name)

    def _project(self, name: str) -> Project:
        return Project(name=name, identity=self._projects[name][0])

    def _nearest(self, directory: str) -> Project | None:
        """The project of `directory`, or of the nearest folder above it that is known by more than its path."""
        for known in sorted(self._directories, key=len, reverse=True):
            project = self._project(self._directories[known])
            if directory == known or (directory.startswith(f"{known}/") and not project.identity.startswith("path:")):
                return project
        return None

    def _free_name(self, name: str) -> str:
        return next(free for free in _names(scope_name(name)) if free not in self._projects)

    async def find_conversation(self, request: FindConversation) -> Conversation:
        """`POST /v1/conversations/find`."""
        id = f"{request.session}-{request.thread}"
        own = self.conversations.get(id, Conversation(id, 0))
        others = self._others(request.owner, request.project, id) if len(request.positions) > 1 else []
        found: list[Block] = []
        for position in request.positions:
            at = ([b for b in each.blocks if b.position == position] for each in (own, *others))
            found += next((blocks for blocks in at if blocks), [])
        return Conversation(id, own.generation, tuple(found))

    async def commit_blocks(self, request: CommitBlocks) -> Conversation:
        """`POST /v1/conversations/commit`."""
        current = self.conversations.get(request.conversation, Conversation(request.conversation, 0))
        held = {(block.position, block.kind): block for block in current.blocks}
        clash = any(held.get((block.position, block.kind), block) != block for block in request.blocks)
        is_refused = any(not self.decisions.refused_uids.isdisjoint(block.fact_uids) for block in request.blocks)
        if current.generation != request.generation or clash or is_refused:
            raise StaleConversation("the conversation has moved on", state=msgspec.to_builtins(current))
        new = tuple(block for block in request.blocks if (block.position, block.kind) not in held)
        self._used += [(self.clock, block.fact_uids) for block in new if block.fact_uids]
        kept = Conversation(current.id, current.generation or 1, current.blocks + new)
        self.conversations.pop(current.id, None)
        self.conversations[current.id] = kept  # newest last
        self._whose[current.id] = (request.owner, request.project)
        return Conversation(current.id, kept.generation)

    async def refresh_use(self) -> UseRefreshed:
        """`POST /v1/use/refresh`."""
        used, self._used = self._used, []
        last = {uid: at for at, uids in used for uid in uids}
        refreshed = 0
        for key, versions in self.facts.items():
            at, current = last.get(versions[-1].uid), versions[-1]
            if at and not (current.last_injected and current.last_injected >= at):
                versions[-1] = current.model_copy(update={"last_injected": at})
                await self.note(ChangeKind.FACT, key)
                refreshed += 1
        return UseRefreshed(lines=len(used), facts=refreshed)

    async def keep_trace(self, trace: TurnTrace) -> TraceKept:
        """`POST /v1/traces`."""
        if not is_turn_id(trace.turn):
            raise BadRequest("'turn' of a trace names a turn")
        async with self._traced:
            self._trace_seq += 1
            self.traces.append(KeptTrace(self._trace_seq, trace.without(self.decisions.refused_uids)))
            self._traced.notify_all()
        return TraceKept(self._trace_seq)

    async def trace_page(self, after: int | None, limit: int, wait_s: float) -> TracePage:
        """`GET /v1/traces`."""
        if after is None:
            return TracePage(self._trace_seq, tuple(self.traces[-limit:]))
        async with self._traced:
            try:
                async with asyncio.timeout(wait_s):
                    await self._traced.wait_for(lambda: self._trace_seq != after)
            except TimeoutError:
                pass
        return TracePage(self._trace_seq, tuple(kept for kept in self.traces if kept.seq > after)[:limit])

    def trace(self, turn: str) -> KeptTrace:
        """`GET /v1/traces/{turn}`."""
        for kept in reversed(self.traces):
            if kept.trace.turn == turn:
                return kept
        raise NotFound("no trace of that turn is kept")

    def _others(self, owner: str, project: str, id: str) -> list[Conversation]:
        """Other conversations of the same owner and project, newest first."""
        return [
            conversation
            for conversation in reversed(self.conversations.values())
            if conversation.id != id and self._whose[conversation.id] == (owner, project)
        ]

    # -- the feed -----------------------------------------------------------------------------------------------------

    async def changes(self, epoch: str, after: int, wait_s: float) -> ChangePage:
        """`GET /v1/changes`."""

        def there() -> bool:
            return epoch != self.epoch or self.seq > after

        async with self._changed:
            try:
                async with asyncio.timeout(wait_s):
                    await self._changed.wait_for(there)
            except TimeoutError:
                pass
        newer = (change for change in self._changes.values() if change.seq > after)
        return ChangePage(epoch=self.epoch, seq=self.seq, changes=tuple(newer) if epoch == self.epoch else ())

    def manifest(self) -> Manifest:
        """`GET /v1/manifest`."""
        entries = [_entry(ChangeKind.FACT, key, versions) for key, versions in self.facts.items()]
        entries += [_entry(ChangeKind.TURN, session, turns.values()) for session, turns in self.turns.items()]
        entries += self.episodes.entries()
        return Manifest(epoch=self.epoch, seq=self.seq, entries=tuple(entries))

    async def note(self, kind: ChangeKind, id: str, *, gone: bool = False, added: int | None = None) -> int:
        async with self._changed:
            self._seq += 1
            before = self._changes.pop((kind, id), None)
            if before and (before.gone or before.first is None) and self.acknowledged.get("index", 0) < before.seq:
                added = None
            self._changes[kind, id] = Change(seq=self._seq, kind=kind, id=id, gone=gone, first=added)
            self._changed.notify_all()
        return self.seq

    # -- routes -------------------------------------------------------------------------------------------------------

    def _create_service(self) -> Service:
        registry = CollectorRegistry()

        @asynccontextmanager
        async def lifespan(api: FastAPI) -> AsyncIterator[None]:
            yield

        def health() -> Health:
            return Health(name="store", version=__version__, ready=True, home_id="fake")

        api = create_api("store", lifespan, health, registry)
        _add_routes(api, self)
        add_fake_vault_routes(api, lambda: self.vault)
        add_fake_draft_routes(api, self)
        add_episode_routes(api, self.episodes)
        add_fake_view_routes(api, self)
        hot = {
            "/v1/turns": _hot(AppendTurn, self.append_turn),
            "/v1/conversations/find": _hot(FindConversation, self.find_conversation),
            "/v1/conversations/commit": _hot(CommitBlocks, self.commit_blocks),
            "/v1/traces": _hot(TurnTrace, self.keep_trace),
        }
        return Service("store", api, hot, registry)


class _Reachable:
    """The way to a store that can be cut."""

    def __init__(self, store: FakeStore, bus: InProcessTransport) -> None:
        self._store = store
        self._bus = bus

    async def send(self, method: str, path: str, body: bytes = b"", *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Answer:
        if self._store.down:
            self._store.refused += 1
            raise ServiceDown("no answer from the fake store")
        answer = await self._bus.send(method, path, body, timeout_s=timeout_s)
        self._store.calls[f"{method} {path.partition('?')[0]}"] += 1
        if self._store.down:
            raise ServiceDown("the fake store went away")
        return answer


def fact_path(key: str) -> str:
    """Path of one fact, as `calls` counts it."""
    return f"/v1/facts/{quote(key, safe='')}"


def _add_routes(api: FastAPI, store: FakeStore) -> None:
    @api.post("/v1/facts")
    async def write_fact(request: WriteFact) -> WriteAnswer:
        return await store.write_fact(request)

    @api.get("/v1/facts")
    async def list_facts(scope: str | None = None, after: str | None = None, limit: int = 1_000) -> FactList:
        return store.list_facts(scope, after, limit)

    @api.get("/v1/facts/{key:path}")
    async def fact(request: Request) -> FactVersion | History:
        # Read as it was sent: `user%2Feditor/history` is a history, `user%2Feditor%2Fhistory` is a key.
        tail = request.scope["raw_path"].decode().partition("/v1/facts/")[2]
        if tail.endswith("/history"):
            return store.history(unquote(tail.removesuffix("/history")))
        return store.current_fact(unquote(tail))

    @api.post("/v1/marks")
    async def mark(request: Mark) -> FactVersion:
        return await store.mark(request)

    @api.get("/v1/queue")
    async def queue() -> ReviewQueue:
        return ReviewQueue(items=tuple(store.queue))

    @api.post("/v1/queue/{item:path}/accept")
    async def accept(item: str) -> Decided:
        return await store.decisions.accept(item)

    @api.post("/v1/queue/{item:path}/reject")
    async def reject(item: str) -> Decided:
        return await store.decisions.reject(item)

    @api.post("/v1/rekey")
    async def rekey(request: Rekey) -> Rekeyed:
        return await store.decisions.rekey(request)

    @api.post("/v1/forget/preview")
    async def preview_forget(request: ForgetKeys) -> ForgetPreview:
        return store.decisions.preview(request)

    @api.post("/v1/forget")
    async def forget(request: ConfirmForget) -> ForgetReceipt:
        return await store.decisions.forget(request)

    @api.post("/v1/forget/select/preview")
    async def preview_selected(request: SelectForget) -> SelectPreview:
        return store.decisions.preview_selected(request)

    @api.post("/v1/forget/select")
    async def forget_selected(request: ConfirmSelected) -> ForgetReceipt:
        return await store.decisions.forget_selected(request)

    @api.post("/v1/use/refresh")
    async def refresh_use() -> UseRefreshed:
        return await store.refresh_use()

    @api.post("/v1/projects/resolve")
    async def resolve(request: ResolveProject) -> Project | None:
        return store.resolve_project(request)

    @api.get("/v1/sessions")
    async def sessions(limit: int = 100) -> SessionList:
        return store.sessions(limit)

    @api.get("/v1/sessions/{session}")
    async def session(session: str, after: int = 0) -> SessionView:
        return store.session(session, after)

    @api.get("/v1/changes")
    async def changes(epoch: str, after: int, wait_s: float = 0.0) -> ChangePage:
        return await store.changes(epoch, after, wait_s)

    @api.post("/v1/changes/ack", status_code=204)
    async def acknowledge(request: Acknowledge) -> None:
        store.acknowledged[request.consumer] = request.seq

    @api.post("/v1/backup")
    async def backup(request: StartBackup) -> BackupDone:
        return store.backup

    @api.get("/v1/jobs")
    async def jobs() -> JobTable:
        return store.jobs

    @api.post("/v1/jobs/note")
    async def note_job(note: NoteJob) -> JobNoted:
        kept = {job.name: job for job in store.jobs.jobs}
        line = kept.get(note.job.name)
        if line is not None and (line.last.started if line.last else None) != note.seen:
            return JobNoted(is_noted=False, job=line)
        store.jobs = JobTable(jobs=tuple((kept | {note.job.name: note.job}).values()))
        return JobNoted(is_noted=True, job=note.job)

    @api.post("/v1/conversations/clear")
    async def clear_conversations() -> ConversationsCleared:
        return ConversationsCleared(conversations=0)  # none is ever old

    @api.get("/v1/traces")
    async def traces(after: int | None = None, limit: int = 100, wait_s: float = 0.0) -> Response:
        page = await store.trace_page(after, limit, wait_s)
        return Response(msgspec.json.encode(page), media_type="application/json")

    @api.get("/v1/traces/{turn:path}")
    async def trace(turn: str) -> Response:
        return Response(msgspec.json.encode(store.trace(turn)), media_type="application/json")

    @api.get("/v1/dream/calibration")
    async def calibration() -> Calibration:
        return store.calibration

    @api.get("/v1/manifest")
    async def manifest() -> Manifest:
        return store.manifest()


def _hot(
    kind: type[Asked], answer: Callable[[Asked], Awaitable[msgspec.Struct]]
) -> Callable[[bytes], Awaitable[bytes]]:
    async def route(body: bytes) -> bytes:
        try:
            request = msgspec.json.decode(body, type=kind)
        except msgspec.DecodeError:
            raise BadRequest("the request is not well formed") from None
        return msgspec.json.encode(await answer(request))

    return route


def _joined(card: TriggerCard, more: TriggerCard) -> TriggerCard:
    fields = {name: (*getattr(card, name), *getattr(more, name)) for name in TriggerCard.model_fields}
    return TriggerCard(**{name: tuple(dict.fromkeys(values)) for name, values in fields.items()})


def _entry(kind: ChangeKind, id: str, parts: Iterable[FactVersion | TurnView]) -> ManifestEntry:
    whole = "\n".join(part.model_dump_json() for part in parts)
    return ManifestEntry(kind=kind, id=id, hash=hashlib.sha256(whole.encode()).hexdigest())


def _names(base: str) -> Iterable[str]:
    yield base
    number = 2
    while True:
        yield f"{base}-{number}"
        number += 1
