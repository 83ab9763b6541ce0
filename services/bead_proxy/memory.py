"""The request path: what memory does with one request for a model's answer, inside one deadline.

    read → project → positions → copy of the conversation → what is pinned there goes in again → decide for the newest
    message → commit → splice

Whatever fails, the request goes on: with what is known already, else as it came (I8, I9, I10). Reading a provider's
bytes is its protocol's (`protocols`), sending is `forward`'s, asking the index is `choosing`'s, keeping is the store's.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from time import monotonic, perf_counter
from typing import NamedTuple, TypeVar

from bead.clients.index import IndexClient
from bead.clients.store import StoreClient
from bead.conversations import Block
from bead.errors import BeadError, StaleConversation
from bead.settings import ProjectsSettings, ProxySettings
from bead.turns import Role
from bead.wire.store import CommitBlocks, FindConversation, Project
from bead_proxy.accounts import Accounts
from bead_proxy.caller import Caller, session_name
from bead_proxy.capture import Capture, Place, Words
from bead_proxy.choosing import NOTHING, Chooser, Chosen
from bead_proxy.conversations import Copies, Copy, insertions
from bead_proxy.directories import Directories
from bead_proxy.failures import log_failure
from bead_proxy.metrics import Metrics
from bead_proxy.patience import NotLoaded, Patience
from bead_proxy.permission import allows
from bead_proxy.protocol import ModelRequest, Pieces, Reply, Unreadable, spliced
from bead_proxy.recent import Chain, ReadOn, Recent
from bead_proxy.rerank import Reranker
from bead_proxy.tracing import FAILED, OFF, TOO_LARGE, UNREADABLE, Notes
from bead_proxy.visible import Visible

T = TypeVar("T")
Explain = Callable[[Place, Chosen], None]


@dataclass(slots=True)
class Prepared:
    """What goes upstream, and what to do with the answer when it has ended."""

    body: Pieces
    on_reply: Callable[[Reply], None] | None = None
    """None: nobody reads the answer."""
    notes: Notes | None = None
    """What its trace will say; None where memory has nothing to do with it."""

    def take_body(self) -> Pieces:
        """The body, which is not kept here any longer: an answer can take minutes."""
        body, self.body = self.body, ()
        return body


class _Step(NamedTuple):
    """One request on its way through memory."""

    request: ModelRequest
    place: Place
    notes: Notes
    deadline: float
    """On the loop's clock."""
    is_visible: Visible
    """Whether the model has a text before it anyway."""


class Memory:
    """One process's memory in the request path."""

    def __init__(
        self,
        settings: ProxySettings,
        owner: str,
        store: StoreClient,
        index: IndexClient,
        directories: Directories,
        capture: Capture,
        metrics: Metrics,
        explain: Explain | None = None,
        accounts: Accounts | None = None,
        rerank: Reranker | None = None,
    ) -> None:
        """`explain` is told every decision that was kept, for a trace."""
        self._settings = settings
        self._owner = owner
        self._store = store
        self._directories = directories
        self._capture = capture
        self._metrics = metrics
        self._explain = explain
        self._accounts = accounts or Accounts(monotonic)
        self._recent = Recent(owner)
        self._copies = Copies()
        self._store_patience = Patience("the store")
        self._chooser = Chooser(settings, owner, index, rerank)
        self._longest_s = settings.memory_timeout_ms / 1_000
        if rerank and rerank.is_on:
            self._longest_s += settings.rerank.timeout_ms / 1_000

    async def prepare(
        self, body: bytes, caller: Caller, read_on: ReadOn, protocol: str = "", model: str = ""
    ) -> Prepared:
        """`body` with memory in it, at most `settings.memory_timeout_ms` later; as it came when anything is wrong."""
        notes = Notes(protocol, caller.harness or "", caller.session or "")
        if caller.is_off:
            return _untouched(body, notes, OFF)
        if len(body) > self._settings.inject_body_limit_mb << 20:
            self._metrics.unread.labels("too large").inc()
            return _untouched(body, notes, TOO_LARGE)
        why = FAILED
        try:
            return await self._prepare(body, caller, read_on, notes, model)
        except Unreadable as error:
            self._metrics.unread.labels(str(error)).inc()
            why = UNREADABLE
        except NotLoaded as error:
            self._trouble(error, notes)
        except Exception as error:
            # The fail-open boundary: trouble with memory never breaks a request (I10).
            log_failure("memory failed; the request goes on without it", error)
            self._metrics.trouble(f"an error in the proxy ({type(error).__name__})")
        return _untouched(body, notes, why)

    async def _prepare(self, body: bytes, caller: Caller, read_on: ReadOn, notes: Notes, model: str) -> Prepared:
        request, chain = self._recent.read(body, caller.session, read_on)
        request = _with_headers(request, caller, model)
        notes.read(request)
        notes.spent("read", notes.started)
        if not request.users:
            return Prepared((body,))
        now = asyncio.get_running_loop().time()
        deadline = now + self._longest_s
        where = _Where(self._directories, self._settings.projects, request, chain, caller)
        captured = notes.captured = self._capture_person(request, caller, where)
        # Lets the turn be handed to the store first: it is written while the index and the store are asked.
        await asyncio.sleep(0)
        pieces: Pieces = (body,)
        if (place := await self._place(where, notes, deadline)) and not place.is_off:
            pieces = await self._inject(body, request, place, notes, deadline)
        if captured is not None:
            since = perf_counter()
            await self._wait_until_written(captured, deadline)
            notes.spent("store", since)
        notes.spent("all", notes.started)
        return Prepared(pieces, self._on_reply(request, caller, where), None if place and place.is_off else notes)

    async def _place(self, where: "_Where", notes: Notes, deadline: float) -> Place | None:
        try:
            notes.place = await (where() if where.is_known else self._ask_store(where, deadline))
        except NotLoaded as error:
            self._trouble(error, notes)
        return notes.place

    async def _inject(self, body: bytes, request: ModelRequest, place: Place, notes: Notes, deadline: float) -> Pieces:
        if self._settings.inject == "off":
            notes.abstained = "off"
            return (body,)
        notes.blocks = blocks = await self._blocks(_Step(request, place, notes, deadline, Visible(body)))
        return spliced(body, insertions(request, place.positions, blocks)) if blocks else (body,)

    # -- what goes in ----------------------------------------------------------------------------------------------

    async def _blocks(self, step: _Step) -> Sequence[Block]:
        """The blocks that this request carries, old and new."""
        place = step.place
        copy = self._copies.of(place.session, place.thread)
        try:
            async with _held(copy.lock, step.deadline):
                await self._bring_up_to_date(copy, step)
        except NotLoaded as error:
            self._trouble(error, step.notes)
        return copy.blocks(place.positions)

    async def _bring_up_to_date(self, copy: Copy, step: _Step) -> None:
        place, notes = step.place, step.notes
        is_fresh = not copy.covers(place.positions)
        if is_fresh:
            since = perf_counter()
            await self._load(copy, place, step.deadline)
            notes.spent("store", since)
        chosen = await self._choose_or_not(copy, step)
        if chosen.blocks:
            since = perf_counter()
            await self._commit(copy, step, chosen)
            notes.spent("store", since)
        elif not is_fresh and copy.blocks(place.positions):
            # Nothing to commit, so the store had no chance to say that something was forgotten: ask.
            await self._load(copy, place, step.deadline)

    async def _load(self, copy: Copy, place: Place, deadline: float) -> None:
        question = FindConversation(
            owner=self._owner,
            project=place.scope,
            session=place.session,
            thread=place.thread,
            positions=place.positions,
        )
        copy.take(await self._ask_store(lambda: self._store.find_conversation(question), deadline), place.positions)

    async def _choose_or_not(self, copy: Copy, step: _Step) -> Chosen:
        """New blocks; none when the index cannot say, so that another request decides."""
        since, place, notes = perf_counter(), step.place, step.notes
        may_recall = self._accounts.may_recall(place.session, place.thread)
        if not may_recall:
            notes.abstained = "cache"
        try:
            return await self._chooser.choose(
                copy, step.request, place, step.deadline, may_recall=may_recall, is_visible=step.is_visible
            )
        except NotLoaded as error:
            self._trouble(error, notes)
            return NOTHING
        finally:
            notes.spent("recall", since)

    async def _commit(self, copy: Copy, step: _Step, chosen: Chosen) -> None:
        """Have the store keep the decision before the model sees it; decide once more if a forget came in between."""
        for is_last in (False, True):
            question = CommitBlocks(
                conversation=copy.id,
                generation=copy.generation,
                owner=self._owner,
                project=step.place.scope,
                blocks=(*copy.found, *chosen.blocks),
            )
            try:
                answer = await self._ask_store(lambda: self._store.commit_blocks(question), step.deadline)  # noqa: B023
            except StaleConversation as error:
                if is_last:
                    raise NotLoaded("the conversation changed twice") from error
                await self._load(copy, step.place, step.deadline)
                chosen = await self._choose_or_not(copy, step)
                if not chosen.blocks:
                    return
            else:
                copy.keep(chosen.blocks, answer.generation)
                step.notes.chosen = chosen
                self._count(chosen, step.place)
                return

    def _count(self, chosen: Chosen, place: Place) -> None:
        for block in chosen.blocks:
            if block.text:
                self._metrics.injections.labels(block.kind.value).inc()
        if self._explain is None:
            return
        try:
            self._explain(place, chosen)
        except Exception as error:
            # The decision holds: a trace that cannot be written must not keep it out of the request.
            log_failure("a decision could not be explained", error)

    async def _ask_store(self, work: Callable[[], Awaitable[T]], deadline: float) -> T:
        try:
            return await self._store_patience.call(work, deadline)
        except StaleConversation:
            raise
        except BeadError as error:
            raise NotLoaded(f"the store refused ({error.code})") from None

    # -- what is captured ------------------------------------------------------------------------------------------

    def _trouble(self, error: NotLoaded, notes: Notes) -> None:
        self._metrics.trouble(str(error))
        notes.failures.append(str(error))

    async def _wait_until_written(self, captured: asyncio.Future[str | None], deadline: float) -> None:
        """The person's words are kept before the model sees them, unless the store takes too long."""
        if self._store_patience.is_resting:
            return
        done, _ = await asyncio.wait({captured}, timeout=deadline - asyncio.get_running_loop().time())
        if not done:
            self._store_patience.rest()
            self._metrics.trouble("the store did not write in time")

    def _capture_person(
        self, request: ModelRequest, caller: Caller, where: "_Where"
    ) -> asyncio.Future[str | None] | None:
        if not _has_turn(request) or not request.turn_text:
            return None
        words = Words(
            role=Role.USER,
            text=request.turn_text,
            place=where,
            harness=caller.harness,
            model=request.model,
            human_text="" if caller.is_subagent else request.typed,
        )
        return self._capture.start(where.order, words)

    def _on_reply(self, request: ModelRequest, caller: Caller, where: "_Where") -> Callable[[Reply], None]:
        model, has_turn = request.model, _has_turn(request)

        def take(reply: Reply) -> None:
            self._metrics.used(reply.usage)
            if has_turn and reply.text:
                words = Words(
                    role=Role.ASSISTANT,
                    text=reply.text,
                    place=where,
                    harness=caller.harness,
                    model=model,
                    is_complete=reply.complete,
                )
                self._capture.start(where.order, words)

        return take


class _Where:
    """The place of one request, found once; finding it may need the store."""

    def __init__(
        self,
        directories: Directories,
        projects: ProjectsSettings,
        request: ModelRequest,
        chain: Chain,
        caller: Caller,
    ) -> None:
        self._directories = directories
        self._projects = projects
        self._named, self._directory = caller.project, request.directory
        self._session = caller.session or (session_name(request.session) if request.session else None)
        self._chain: Chain | None = chain
        self._place: Place | None = None

    @property
    def is_known(self) -> bool:
        """Whether the answer is here without asking the store."""
        return self._directories.known(self._named, self._directory)

    @property
    def order(self) -> str:
        """Whose turns come one after the other, known even before the place is."""
        return self._session or ""

    async def __call__(self) -> Place:
        """The place.

        Raises:
            BeadError: the store did not say which project a directory is.
        """
        if self._place is None:
            project = await self._directories.project(self._named, self._directory)
            # Two may wait for the same look-up: the request, and the turn that is captured of it.
            if self._place is None:
                self._place = self._in(project)
                self._chain = None  # an answer can take minutes
        return self._place

    def _in(self, project: Project | None) -> Place:
        assert self._chain is not None, "there is a chain until there is a place"
        positions = self._chain.positions(project.name if project else "")
        session = self._session or session_name(f"thread-{positions[0]}")
        has_memory = allows(self._projects, project.name if project else "", self._directory)
        return Place(session, project, positions, is_off=not has_memory)


def _untouched(body: bytes, notes: Notes, why: str) -> Prepared:
    """The request as it came; its trace says why."""
    notes.abstained = why
    return Prepared((body,), notes=notes)


def _with_headers(request: ModelRequest, caller: Caller, model: str) -> ModelRequest:
    """`request` with what its headers and path say, where its body does not; `model` is what the path names."""
    if not model and caller.side is None and caller.directory is None:
        return request
    return replace(
        request,
        model=request.model or model,
        side=request.side or caller.side,
        directory=request.directory or caller.directory,
    )


def _has_turn(request: ModelRequest) -> bool:
    """Whether the newest message is a step of the conversation, worth a turn for each side (D5)."""
    return request.side is None and request.newest_is_user


@asynccontextmanager
async def _held(lock: asyncio.Lock, deadline: float) -> AsyncIterator[None]:
    """Hold `lock` from some time before `deadline` on.

    Raises:
        NotLoaded: another request of this conversation holds it all the time.
    """
    try:
        async with asyncio.timeout_at(deadline):
            await lock.acquire()
    except TimeoutError:
        raise NotLoaded("another request of this conversation takes too long") from None
    try:
        yield
    finally:
        lock.release()
