"""Forget: leave no byte of a fact or a text, and make sure that it is finished, whatever happens (I5, I6, I7).

Here is what is asked and answered: a preview, a word that confirms exactly that once, a receipt; and what a start or
the index's acknowledgement closes. What is there is `forgetlook`'s to see, what is done `forgetsteps`'s. The index is
not told: it follows the change feed, and its word is waited for.
"""

import asyncio
import time
from collections.abc import Callable, Iterable

from bead import keys
from bead.errors import NotFound
from bead.home import Home
from bead.tasks import Tasks
from bead.wire.forget import ConfirmSelected, SelectForget, SelectPreview
from bead.wire.store import ConfirmForget, ForgetHit, ForgetKeys, ForgetPreview, ForgetReceipt, IndexState
from bead_store import layout, told
from bead_store.confirmations import LIFE_S, Confirmations
from bead_store.forgetlook import Looking, Seen, Selection, project_of
from bead_store.forgetsteps import CONSUMER, UID_CHARS, Lanes, Parts, Steps, Work
from bead_store.intents import Intent, Operation

INDEX_WAIT_S = 5.0

__all__ = ["CONSUMER", "Forgetting", "Lanes", "Parts"]


class Forgetting:
    """Asked from the event loop; one forget at a time."""

    def __init__(self, parts: Parts, *, tasks: Tasks, clock: Callable[[], float] = time.monotonic) -> None:
        self._parts = parts
        self._home: Home = parts.home
        self._catalogue, self._intents, self._changes = parts.catalogue, parts.intents, parts.changes
        self._lanes: Lanes = parts.lanes
        self._tasks = tasks
        self.looking = Looking(parts.home, parts.catalogue, parts.raw, parts.conversations, parts.tombstones)
        self.steps = Steps(parts, self.looking)
        self._confirmations = Confirmations(clock)
        self._one = asyncio.Lock()

    async def preview(self, request: ForgetKeys) -> ForgetPreview:
        """What a forget of exactly these keys would take.

        Raises:
            InvalidKey: one of them is no key.
        """
        asked = _distinct(request.keys)
        there = await self._lanes.facts.run(lambda: [key for key in asked if self._catalogue.refresh(key)])
        hits, turns = await self._lanes.slow.run(self.looking.by_key, there)
        hits += (sealed := [self._sealed_hit(key) for key in asked if self._parts.vault.versions(key)])
        there += [hit.key for hit in sealed]
        subject = await self._lanes.facts.run(self._subject, asked)
        return ForgetPreview(
            hits=tuple(hits),
            missing=tuple(key for key in asked if key not in there),
            turns=turns,
            confirm=self._confirmations.issue(*subject) if there else None,
            expires_s=LIFE_S,
        )

    async def forget(self, request: ConfirmForget) -> ForgetReceipt:
        """Forget exactly these keys; nothing is left here when this returns.

        Raises:
            NotConfirmed: the word is not that of a preview of these keys as they are now.
            Unavailable: the disk refused; what was begun is finished at the next start or by the next forget.
        """
        asked = _distinct(request.keys)
        async with self._one:
            await self._finish_stuck()
            subject = await self._lanes.facts.run(self._subject, asked)
            self._confirmations.redeem(request.confirm, *subject)
            # In a task of its own: a caller who goes away does not stop it half way.
            return await asyncio.shield(self._tasks.start(self._forget(asked, Selection()), name="forget"))

    async def preview_selected(self, request: SelectForget) -> SelectPreview:
        """What a forget of this text, or of this session, would take.

        Raises:
            BadRequest, Refused: the text says too little, or is in too much.
        """
        selection = self.looking.selection(request)
        seen = await self._lanes.slow.run(self.looking.by_selection, selection)
        subject = await self._lanes.facts.run(self._subject_of, selection, seen)
        return SelectPreview(
            hits=tuple(seen.places),
            keys=seen.keys,
            turns=sum(map(len, seen.turns.values())),
            confirm=self._confirmations.issue(*subject) if seen.places else None,
            expires_s=LIFE_S,
        )

    async def forget_selected(self, request: ConfirmSelected) -> ForgetReceipt:
        """Forget this text, or this session, as a preview has shown it; nothing is left here when this returns.

        Raises:
            NotFound: there is nothing any more.
            NotConfirmed: the word is not that of a preview of exactly this, as it is now.
            Unavailable: as `forget`.
        """
        selection = self.looking.selection(request)
        async with self._one:
            await self._finish_stuck()
            states = dict(await self._lanes.slow.run(self._parts.raw.states))
            seen = await self._lanes.slow.run(self.looking.by_selection, selection)
            if not seen.places:
                raise NotFound("nothing that bead keeps holds it any more")
            subject = await self._lanes.facts.run(self._subject_of, selection, seen)
            self._confirmations.redeem(request.confirm, *subject)
            work = self._forget(seen.keys, selection, seen, states)
            return await asyncio.shield(self._tasks.start(work, name="forget"))

    async def take_out(self, work: Work) -> IndexState:
        """Leave nothing of what a seal has taken aside, as if it were forgotten, and wait for the index."""
        async with self._one:
            work_on = self._tasks.start(self.steps.finish(work), name="seal")
            await asyncio.shield(work_on)
        return await self._wait_for_index(work.intent)

    async def resume(self, id: str, intent: Intent) -> None:
        """Finish what a crash or a full disk left open, as far as it is ours to do."""
        if intent.waits_for_index:
            if not self.steps.has_index():  # its file was deleted meanwhile, and what it held with it
                await self._lanes.facts.run(self._intents.finish, id)
        else:
            # The last file of a key may be taken already, and the folder that names it still be there.
            await self._lanes.facts.run(self._parts.disk.remove_empty_below, self._home.facts)
            await self.steps.finish(Work(id, intent.uids, intent.names))

    async def acknowledged(self) -> None:
        """The index has said something: close what waited for it."""
        if any(intent.waits_for_index for intent in self._intents.open.values()):
            await self._lanes.facts.run(self._close_applied)

    async def _forget(
        self,
        asked: tuple[str, ...],
        selection: Selection,
        seen: Seen | None = None,
        states: dict[str, str] | None = None,
    ) -> ForgetReceipt:
        there, work = await self._lanes.facts.run(self._begin, asked, selection)
        if seen is not None:
            work.turns, work.states, work.left_in_sessions = seen.turns, states or {}, seen.unread
        await self.steps.finish(work)
        level, file_system = self.steps.medium()
        return ForgetReceipt(
            forgot=there,
            missing=tuple(key for key in asked if key not in there),
            level=level,
            file_system=file_system,
            places=tuple(work.places),
            index=await self._wait_for_index(work.intent),
            id=work.intent,
        )

    def _begin(self, asked: tuple[str, ...], selection: Selection) -> tuple[tuple[str, ...], Work]:
        there = tuple(key for key in asked if self._catalogue.refresh(key) or self._parts.vault.versions(key))
        return there, self.steps.begin(there, selection)

    async def _wait_for_index(self, intent: str) -> IndexState:
        waiting = self._intents.open.get(intent)
        if waiting is None:
            return IndexState.NO_INDEX
        await self._changes.wait_applied(CONSUMER, waiting.seq, INDEX_WAIT_S)
        await self._lanes.facts.run(self._close_applied)
        return IndexState.PENDING if intent in self._intents.open else IndexState.APPLIED

    def _close_applied(self) -> None:
        if not self._changes.has_spoken(CONSUMER):
            return
        for id, intent in list(self._intents.open.items()):
            # In a later epoch the index has compared everything with the store before its first word.
            needed = intent.seq if intent.epoch == self._changes.epoch else 0
            if intent.waits_for_index and self._changes.applied(CONSUMER) >= needed:
                self._intents.finish(id)

    async def _finish_stuck(self) -> None:
        for id, intent in list(self._intents.open.items()):
            if intent.operation is Operation.FORGET:
                await self.resume(id, intent)

    def _sealed_hit(self, key: str) -> ForgetHit:
        """What there is of a key in the vault: what it says is not known, so neither is where else it is said."""
        name = self._parts.tombstones.name(key)
        versions = len(self._parts.vault.versions(key))
        return ForgetHit(
            key=key, uid=name[:UID_CHARS], project=project_of(key), versions=versions, turns=0, blocks=0, queue=0
        )

    def _subject(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        """What a confirmation is bound to: the list, and the state of every key on it."""
        plain = (part for key in asked for part in (key, *told.state(layout.directory_of(self._home.facts, key))))
        return (*plain, *(f"sealed {self._parts.vault.versions(key)}" for key in asked))

    def _subject_of(self, selection: Selection, seen: Seen) -> tuple[str, ...]:
        places = [f"{each.place} {each.name} {each.count}" for each in seen.places]
        return (*map(repr, selection), *places, *self._subject(seen.keys))


def _distinct(asked: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(keys.parse(key)) for key in asked))
