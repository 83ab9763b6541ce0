"""Turns on their way into the raw log, and the person's "remember" wishes (D5, I13).

A turn is handed to the store at once; while the store is away it waits here, within bounds, and is tried again. Turns
of one session keep their order. What a turn is, and when there is one, is `memory`'s business.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from bead.clients.store import StoreClient
from bead.errors import BeadError, HoldsCredential, Unavailable
from bead.facts import FactType, Trust
from bead.tasks import Tasks
from bead.turns import Role
from bead.wire.store import AppendTurn, Project, WriteFact
from bead_proxy.metrics import Metrics
from bead_proxy.patience import NotLoaded
from bead_proxy.remember import wishes

T = TypeVar("T")

MOST_WAITING_CHARACTERS = 32_000_000
MOST_WAITING = 2_000
_THREAD_CHARACTERS = 16
_ONE_TRY_S = 5.0
_PAUSES_S = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request stands: its session, its project, and the position after each user message."""

    session: str
    project: Project | None
    positions: tuple[str, ...]
    is_off: bool = False
    """Whether the person wants no memory there: nothing is captured and nothing injected."""

    @property
    def thread(self) -> str:
        """What tells the conversations of one session apart."""
        return self.positions[0][:_THREAD_CHARACTERS]

    @property
    def scope(self) -> str:
        """Scope name of the project; empty where there is none."""
        return self.project.name if self.project else ""


@dataclass(frozen=True, slots=True)
class Words:
    """What is captured; `place` may have to be waited for."""

    role: Role
    text: str
    place: Callable[[], Awaitable[Place]]
    harness: str | None
    model: str | None
    is_complete: bool = True
    human_text: str = ""
    """What the person typed, to look for wishes in; empty where nobody's words count as a wish."""

    def __repr__(self) -> str:
        return f"Words(role={self.role!r}, characters={len(self.text)})"


class _Turn:
    """One turn on its way."""

    def __init__(self, words: Words, before: "_Turn | None") -> None:
        self.words = words
        self.before = before
        self.is_handed_over = False
        """Whether the store has it: it may still refuse it, or be away."""
        self.written: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        """Done when the store keeps it, with its place in the raw log, or when it is given up, with None."""

    def settle(self, source: str | None = None) -> None:
        """Nobody needs to wait for it any longer."""
        self.before = None
        if not self.written.done():
            self.written.set_result(source)


class Capture:
    """Hands turns to the store in the background."""

    def __init__(self, store: StoreClient, tasks: Tasks, metrics: Metrics) -> None:
        self._store = store
        self._tasks = tasks
        self._metrics = metrics
        self._last: dict[str, _Turn] = {}
        self._waiting = 0
        self._waiting_characters = 0

    def start(self, order: str, words: Words) -> asyncio.Future[str | None] | None:
        """Begin to write `words`, after the others of the same `order`; None when too much is waiting already.

        What comes back is done when the turn is written or lost; wishes in it are looked for after that.
        """
        if self._waiting >= MOST_WAITING or self._waiting_characters + len(words.text) > MOST_WAITING_CHARACTERS:
            self._lost("too many turns wait for the store")
            return None
        self._waiting += 1
        self._waiting_characters += len(words.text)
        turn = self._last[order] = _Turn(words, self._last.get(order))
        task = self._tasks.start(self._write(turn), name=f"capture {words.role.value}")
        task.add_done_callback(lambda _: self._finished(order, turn))
        return turn.written

    async def _write(self, turn: _Turn) -> None:
        words, before = turn.words, turn.before
        # A store of this process takes calls in the order in which they are made, so the next turn need not wait for
        # the answer to the one before.
        if before is not None and not (before.is_handed_over and self._store.keeps_order):
            await asyncio.wait({before.written})
        at = datetime.now(UTC).isoformat()
        written = await self._persist(partial(self._append, turn, at))
        if written is None:
            turn.settle()
            self._lost("a turn could not be written")
            return
        source, is_new, scope = written
        turn.settle(source)
        if not source:
            self._metrics.turns.labels("memory is off").inc()
            return
        self._metrics.turns.labels("written" if is_new else "already there").inc()
        if is_new and words.human_text:
            await self._remember(words, source, scope)

    async def _append(self, turn: _Turn, at: str) -> tuple[str, bool, str]:
        words = turn.words
        place = await words.place()
        turn.is_handed_over = True
        if place.is_off:
            return "", False, ""
        appended = await self._store.append_turn(
            AppendTurn(
                session=place.session,
                turn_id=place.positions[-1] + ("" if words.role is Role.USER else ":reply"),
                role=words.role,
                text=words.text,
                at=at,
                project=place.scope or None,
                project_id=(place.project.identity or None) if place.project else None,
                harness=words.harness,
                model=words.model,
                complete=words.is_complete,
            )
        )
        return appended.source, not appended.already_there, place.scope

    async def _remember(self, words: Words, source: str, scope: str) -> None:
        for wish in wishes(words.human_text):
            fact = WriteFact(
                body=wish.text,
                type=FactType.USER if wish.about_person else None,
                trust=Trust.USER_STATED,
                project=None if wish.about_person else scope or None,
                sources=(source,),
                harness=words.harness,
            )
            if await self._persist(partial(self._write_wish, fact)) is None:
                self._lost("a wish to remember could not be written")

    async def _write_wish(self, fact: WriteFact) -> bool:
        """Whether it was stored. What must not be stored is told to the person, for they think that it was."""
        try:
            await self._store.write_fact(fact)
        except HoldsCredential:
            self._metrics.wish_refused()
            return False
        self._metrics.wishes.labels("written").inc()
        return True

    async def _persist(self, attempt: Callable[[], Awaitable[T]]) -> T | None:
        """Try until the store answers; None when it refuses, or stays away too long."""
        for pause_s in (*_PAUSES_S, None):
            try:
                async with asyncio.timeout(_ONE_TRY_S):
                    return await attempt()
            except (Unavailable, NotLoaded, TimeoutError):
                if pause_s is None:
                    return None
                await asyncio.sleep(pause_s)
            except BeadError:
                return None
        return None

    def _lost(self, cause: str) -> None:
        self._metrics.turns.labels("lost").inc()
        self._metrics.trouble(cause)

    def _finished(self, order: str, turn: _Turn) -> None:
        turn.settle()
        self._waiting -= 1
        self._waiting_characters -= len(turn.words.text)
        if self._last.get(order) is turn:
            del self._last[order]
