"""Listens to what agents say after facts were injected, and notes which of them they used (D8).

A reader of the store's own change feed: it looks at a turn when it is written, behind the answer, so no append and no
model request waits for it. When words count as use is `bead.used`; where it is noted is `use`. Losing one costs a
number that a person looks at, so trouble here is left alone.
"""

from collections import OrderedDict
from typing import TypeVar

import structlog

from bead.errors import BeadError
from bead.facts import FactVersion
from bead.turns import Role
from bead.used import is_used
from bead.wire.store import Change, ChangeKind
from bead_store.catalogue import Catalogue
from bead_store.changes import MAX_WAIT_S, Changes
from bead_store.lanes import Lane
from bead_store.raw import RawLog
from bead_store.use import Use

_GATHER_S = 0.5
_SESSIONS = 1_000
"""Sessions of which is known how far they were listened to, and facts whose key is known."""

T = TypeVar("T")

log = structlog.get_logger()


class Heard:
    """Of one home; `run` is its one task."""

    def __init__(
        self, *, changes: Changes, catalogue: Catalogue, raw: RawLog, use: Use, turn_lane: Lane, slow_lane: Lane
    ) -> None:
        self._changes = changes
        self._catalogue = catalogue
        self._raw = raw
        self._use = use
        self._turn_lane = turn_lane
        self._slow_lane = slow_lane
        self._listened: OrderedDict[str, int] = OrderedDict()
        """By session, the ordinal of the last turn that was looked at."""
        self._keys: OrderedDict[str, str] = OrderedDict()
        """By uid."""

    async def run(self) -> None:
        """Listen until the store stops."""
        seq = self._changes.seq
        while not self._changes.is_closed:
            page = await self._changes.page(self._changes.epoch, seq, MAX_WAIT_S, _GATHER_S)
            seq = page.seq
            for change in page.changes:
                if change.kind is ChangeKind.TURN and not change.gone:
                    await self._listen(change)

    async def _listen(self, change: Change) -> None:
        try:
            told = await self._turn_lane.run(self._use.told_in, change.id)
            if not told:
                return
            used = await self._slow_lane.run(self._used, change, told)
            if used:
                await self._turn_lane.run(self._use.note_used, change.id, used)
        except BeadError as error:
            log.warning("whether facts were used is not noted", error=error.code)

    def _used(self, change: Change, told: frozenset[str]) -> frozenset[str]:
        """Which of the facts a session was told its new agent's turns use."""
        after = self._listened.get(change.id, (change.first or 1) - 1)
        turns = self._raw.read(change.id, after).turns
        if turns:
            _keep(self._listened, change.id, turns[-1].ordinal)
        said = [turn.text for turn in turns if turn.role is Role.ASSISTANT]
        facts = self._facts(frozenset(each.partition("@")[0] for each in told)) if said else {}
        return frozenset(
            each
            for each in told
            if (fact := facts.get(each.partition("@")[0])) and any(is_used(fact.body, fact.when, text) for text in said)
        )

    def _facts(self, uids: frozenset[str]) -> dict[str, FactVersion]:
        """The current version of each."""
        found: dict[str, FactVersion] = {}
        unknown = {uid for uid in uids if uid not in self._keys}
        if unknown:
            for key, uid in self._catalogue.keys_of(unknown):
                _keep(self._keys, uid, key)
        for uid in uids & self._keys.keys():
            try:
                fact = self._catalogue.current(self._keys[uid])
            except BeadError:
                continue
            if fact.uid == uid:
                found[uid] = fact
        return found


def _keep(known: OrderedDict[str, T], name: str, value: T) -> None:
    known[name] = value
    known.move_to_end(name)
    while len(known) > _SESSIONS:
        known.popitem(last=False)
