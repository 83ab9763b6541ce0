"""What a person decides, in the fake store: accept, reject, rekey, preview and forget, over its dictionaries.

Places that the fake does not have (files, drafts, episodes, an audit log) are not in its receipts.
"""

import secrets
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bead import keys
from bead.conversations import Block, Conversation
from bead.errors import BadRequest, Exists, NotConfirmed, NotFound, Tombstoned
from bead.facts import FactVersion, Trust
from bead.wire.forget import ConfirmSelected, SelectedPlace, SelectForget, SelectPreview
from bead.wire.store import (
    ChangeKind,
    ConfirmForget,
    Decided,
    ForgetHit,
    ForgetKeys,
    ForgetPlace,
    ForgetPreview,
    ForgetReceipt,
    IndexState,
    Rekey,
    Rekeyed,
    WriteFact,
)
from bead_store.values import MIN_SEARCHED_CHARS, holds, needles, normal

if TYPE_CHECKING:
    from tests.fakes.store import FakeStore

_FORGOTTEN = "[forgotten]"


class Decisions:
    """Tombstones and confirmations of one fake store."""

    def __init__(self, store: "FakeStore") -> None:
        self._store = store
        self._buried: set[str | tuple[str, str]] = set()
        """Values, and values under one key."""
        self._words: dict[str, str] = {}
        self._decided: dict[tuple[str, str], Decided] = {}
        self.refused_uids: set[str] = set()
        """Facts that were forgotten: their blocks are not taken any more."""

    @property
    def buried(self) -> frozenset[str | tuple[str, str]]:
        """What only the person can state again."""
        return frozenset(self._buried)

    # -- tombstones -------------------------------------------------------------------------------------------------

    def check(self, key: str, request: WriteFact) -> None:
        """Refuse what was forgotten or rejected, unless the person says it."""
        card = request.when
        said = (request.body, *((*card.say, *card.do, *card.see, *card.unless) if card else ()))
        if request.trust is not Trust.USER_STATED and any(
            not self._buried.isdisjoint((normal(text), (key, normal(text)))) for text in said
        ):
            raise Tombstoned("only the person can state that again")

    def lift(self, key: str, request: WriteFact) -> None:
        """The person has stated it."""
        if request.trust is Trust.USER_STATED:
            self._buried -= {normal(request.body), (key, normal(request.body))}

    # -- the queue and rekey ------------------------------------------------------------------------------------------

    async def accept(self, id: str) -> Decided:
        """`POST /v1/queue/{id}/accept`."""
        return await self._decide("accepted", id)

    async def reject(self, id: str) -> Decided:
        """`POST /v1/queue/{id}/reject`."""
        return await self._decide("rejected", id)

    async def _decide(self, decision: str, id: str) -> Decided:
        item = next((item for item in self._store.queue if item.id == id), None)
        if item is None:
            if (decision, id) in self._decided:
                return self._decided[decision, id]
            raise NotFound("no such item waits")
        written = None
        if decision == "accepted":
            proposed = self._store.proposals.get(id) or WriteFact(body=item.body, key=item.key)
            stated = proposed.model_copy(update={"key": item.key, "trust": Trust.USER_STATED})
            written = await self._store.write_fact(stated)
        else:
            self._buried.add((item.key, normal(item.body)))
        self._store.queue.remove(item)
        decided = Decided(id=id, decision=decision, key=item.key, written=written)
        self._decided[decision, id] = decided
        return decided

    async def rekey(self, request: Rekey) -> Rekeyed:
        """`POST /v1/rekey`."""
        store, old, new = self._store, str(keys.parse(request.old)), str(keys.parse(request.new))
        if old == new:
            raise BadRequest("the keys are the same")
        if moved := store.vault.move(request):
            return moved
        if new in store.facts:
            raise Exists("something is stored there")
        if old not in store.facts:
            raise NotFound("nothing is stored there")
        store.facts[new] = [version.model_copy(update={"key": new}) for version in store.facts.pop(old)]
        store.queue[:] = [item.model_copy(update={"key": new}) if item.key == old else item for item in store.queue]
        await store.note(ChangeKind.FACT, old, gone=True)
        await store.note(ChangeKind.FACT, new)
        return Rekeyed(key=new, uid=store.facts[new][0].uid, versions=len(store.facts[new]))

    # -- forget -------------------------------------------------------------------------------------------------------

    def preview(self, request: ForgetKeys) -> ForgetPreview:
        """`POST /v1/forget/preview`."""
        asked = _distinct(request.keys)
        there = [key for key in asked if key in self._store.facts]
        hits = tuple(self._hit(key, there) for key in there)
        turns = {turn for key in there for turn in self._turns(self._store.facts[key])}
        word = secrets.token_urlsafe() if there else None
        if word:
            self._words[word] = self._subject(asked)
        return ForgetPreview(
            hits=hits, missing=tuple(key for key in asked if key not in there), turns=len(turns), confirm=word,
            expires_s=600,
        )  # fmt: skip

    async def forget(self, request: ConfirmForget) -> ForgetReceipt:
        """`POST /v1/forget`."""
        store, asked = self._store, _distinct(request.keys)
        if self._words.pop(request.confirm, None) != self._subject(asked):
            raise NotConfirmed("look at the preview again")
        there = [key for key in asked if key in store.facts]
        versions = {key: store.facts.pop(key) for key in there}
        every = [version for key in there for version in versions[key]]
        counts = {"tombstones": len({normal(version.body) for version in every} - self._buried), "facts": len(every)}
        self._buried |= {normal(version.body) for version in every}
        for key in there:
            await store.note(ChangeKind.FACT, key, gone=True)
        turns = self._turns(every)
        for session, ordinal in turns:
            await store.redact_turn(session, ordinal)
        counts["raw turns"] = len(turns)
        counts["conversation blocks"] = await self._drop_blocks(every)
        about = [item for item in store.queue if item.key in there or holds(item.body, _needles(every))]
        store.queue[:] = [item for item in store.queue if item not in about]
        counts["review queue"] = len(about)
        self.refused_uids |= {version.uid for version in every}
        naming = [kept for kept in store.traces if kept.trace.names() & self.refused_uids]
        store.traces[:] = [kept for kept in store.traces if kept not in naming]
        counts["traces"] = len(naming)
        places = tuple(
            ForgetPlace(place=name, looked_at=count, unit=name, removed=count, how="taken out of memory")
            for name, count in counts.items()
        )
        missing = tuple(key for key in asked if key not in there)
        return ForgetReceipt(
            forgot=tuple(there), missing=missing, level=1, file_system="none", places=places, index=self._index()
        )

    def preview_selected(self, request: SelectForget) -> SelectPreview:
        """`POST /v1/forget/select/preview`, by text only."""
        there, turns, subject = self._selected(request)
        word = secrets.token_urlsafe() if there or turns else None
        if word:
            self._words[word] = subject
        facts = [
            SelectedPlace(place="facts", name=key, project=None, count=len(self._store.facts[key])) for key in there
        ]
        said = [
            SelectedPlace(place="raw turns", name=session, project=None, count=count)
            for session, count in Counter(session for session, _ in turns).items()
        ]
        return SelectPreview(
            hits=(*facts, *said), keys=tuple(there), turns=len(turns), confirm=word, expires_s=600
        )  # fmt: skip

    async def forget_selected(self, request: ConfirmSelected) -> ForgetReceipt:
        """`POST /v1/forget/select`, by text only."""
        there, turns, subject = self._selected(request)
        if not there and not turns:
            raise NotFound("nothing holds it")
        if self._words.pop(request.confirm, None) != subject:
            raise NotConfirmed("look at the preview again")
        for session, ordinal in turns:
            await self._store.redact_turn(session, ordinal)
        self._buried.add(normal(request.match or ""))
        if not there:
            return ForgetReceipt(
                forgot=(), missing=(), level=1, file_system="none", places=(), index=self._index()
            )  # fmt: skip
        asked = ForgetKeys(keys=tuple(there))
        word = self.preview(asked).confirm or ""
        return await self.forget(ConfirmForget(keys=asked.keys, confirm=word))

    def _selected(self, request: SelectForget) -> tuple[list[str], list[tuple[str, int]], str]:
        if request.match is None or len(normal(request.match)) < MIN_SEARCHED_CHARS:
            raise BadRequest("the fake forgets by text, of three characters or more")
        wanted, facts = needles([request.match]), self._store.facts
        named = {str(keys.parse(key)) for key in request.keys}
        there = sorted(
            key for key, held in facts.items() if key in named or any(holds(each.body, wanted) for each in held)
        )
        turns = [
            (session, turn.ordinal)
            for session, said in self._store.turns.items()
            for turn in said.values()
            if turn.text != _FORGOTTEN and holds(turn.text, wanted)
        ]
        return there, turns, repr((request.match, there, turns, self._subject(tuple(there))))

    def _index(self) -> IndexState:
        if not self._store.acknowledged:
            return IndexState.NO_INDEX
        is_applied = self._store.acknowledged.get("index", 0) >= self._store.seq
        return IndexState.APPLIED if is_applied else IndexState.PENDING

    def _hit(self, key: str, there: list[str]) -> ForgetHit:
        store, versions = self._store, self._store.facts[key]
        wanted, scope = _needles(versions), keys.parse(key).scope
        return ForgetHit(
            key=key,
            uid=versions[0].uid,
            project=scope.removeprefix("project/") if scope.startswith("project/") else None,
            versions=len(versions),
            turns=len(self._turns(versions)),
            blocks=sum(_is_gone(block, versions) for each in store.conversations.values() for block in each.blocks),
            queue=sum(item.key == key or holds(item.body, wanted) for item in store.queue),
            also_in=tuple(
                other for other, held in store.facts.items() if other not in there and holds(held[-1].body, wanted)
            ),
        )

    def _turns(self, versions: Iterable[FactVersion]) -> list[tuple[str, int]]:
        held = list(versions)
        cited, wanted = {source for version in held for source in version.sources}, _needles(held)
        return [
            (session, turn.ordinal)
            for session, turns in self._store.turns.items()
            for turn in turns.values()
            if turn.text != _FORGOTTEN and (turn.source in cited or holds(turn.text, wanted))
        ]

    async def _drop_blocks(self, versions: list[FactVersion]) -> int:
        dropped = 0
        for id, each in self._store.conversations.items():
            kept = tuple(block for block in each.blocks if not _is_gone(block, versions))
            if len(kept) < len(each.blocks):
                dropped += len(each.blocks) - len(kept)
                self._store.conversations[id] = Conversation(id, each.generation + 1, kept)
        return dropped

    def _subject(self, asked: tuple[str, ...]) -> str:
        return repr([(key, [version.body for version in self._store.facts.get(key, [])]) for key in asked])


def _distinct(asked: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(keys.parse(key)) for key in asked))


def _needles(versions: Iterable[FactVersion]) -> tuple[str, ...]:
    return needles(version.body for version in versions)


def _is_gone(block: Block, versions: list[FactVersion]) -> bool:
    return any(version.uid in block.fact_uids for version in versions) or holds(block.text, _needles(versions))
