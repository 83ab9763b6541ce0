"""New blocks for one request: what the index says for the newest message, and for a conversation that begins (D15).

When a decision is due is decided here; whether it holds is the store's, in `memory`'s commit.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from bead.blocks import render
from bead.clients.index import IndexClient
from bead.conversations import Block, BlockKind
from bead.errors import BeadError
from bead.recall import Code, RecalledExcerpt, RecalledFact, Rejected
from bead.rerank import MAX_CANDIDATES
from bead.settings import ProxySettings
from bead.wire.index import PinnedRequest, RecallAnswer, RecallRequest
from bead_proxy.capture import Place
from bead_proxy.conversations import Copy
from bead_proxy.patience import NotLoaded, Patience
from bead_proxy.protocol import ModelRequest, Shape
from bead_proxy.rerank import Reranker

_INDEX_SHARE = 0.6
"""Share of the time left that the index may use; the rest is for what the store must still do."""

VISIBLE = "stands in the request already"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Chosen:
    """New blocks, and why they hold what they hold (D8)."""

    blocks: tuple[Block, ...]
    recalled: RecallAnswer | None = None
    """Facts with scores and shared terms, and the rivals that stayed out; None when nothing was asked."""


NOTHING = Chosen(())


class Chooser:
    """Asks the index for the request path."""

    def __init__(self, settings: ProxySettings, owner: str, index: IndexClient, rerank: Reranker | None = None) -> None:
        self._settings = settings
        self._owner = owner
        self._index = index
        self._rerank = rerank if rerank and rerank.is_on else None
        self._patience = Patience("the index")

    async def choose(
        self,
        copy: Copy,
        request: ModelRequest,
        place: Place,
        deadline: float,
        *,
        may_recall: bool = True,
        is_visible: Callable[[str], bool] = lambda text: False,
    ) -> Chosen:
        """Blocks for the positions that have no decision yet and may get one; an empty block says "nothing here".

        `is_visible` says what the model has before it anyway: that is told no second time.

        Raises:
            NotLoaded: the index did not say.
        """
        if request.side is not None:
            return NOTHING
        now = asyncio.get_running_loop().time()
        longest = now + self._settings.memory_timeout_ms / 1_000
        deadline = now + (min(deadline, longest) - now) * _INDEX_SHARE
        new: list[Block] = []
        recalled: RecallAnswer | None = None
        first, newest = place.positions[0], place.positions[-1]
        if request.system is not None and not copy.decided(BlockKind.PINNED, first):
            pinned = [fact for fact in await self._pinned(place, deadline) if not is_visible(fact.body)]
            new.append(_block(first, BlockKind.PINNED, pinned))
        has_room = request.newest_is_user and request.users[-1].anchor.shape is not Shape.NO_ROOM
        wants_recall = self._settings.inject == "full" and has_room
        if wants_recall and may_recall and not copy.decided(BlockKind.RECALL, newest):
            seen = tuple(
                told for block in (*copy.blocks(place.positions), *new) for told in (*block.told, *block.excerpt_ids)
            )
            recalled = await self._reranked(request, await self._recall(request, place, seen, deadline))
            recalled = _without_visible(recalled, is_visible) if recalled else None
            new.append(
                _block(newest, BlockKind.RECALL, *((recalled.facts, recalled.excerpts) if recalled else ((), ())))
            )
        return Chosen(tuple(new), recalled)

    async def _pinned(self, place: Place, deadline: float) -> Sequence[RecalledFact]:
        pinned = self._settings.pinned
        if pinned.budget_tokens <= 0:
            return ()
        question = PinnedRequest(
            owner=self._owner,
            project=place.scope,
            budget_tokens=pinned.budget_tokens,
            project_facts=pinned.project,
        )
        return (await self._ask(lambda: self._index.pinned(question), deadline)).facts

    async def _recall(
        self, request: ModelRequest, place: Place, seen: tuple[str, ...], deadline: float
    ) -> RecallAnswer | None:
        recall = self._settings.recall
        if not request.cues or recall.budget_tokens <= 0:
            return None
        question = RecallRequest(
            owner=self._owner,
            project=place.scope,
            session=place.session,
            cues=request.cues,
            seen=seen,
            budget_tokens=recall.budget_tokens,
            max_facts=recall.max_facts,
            max_excerpts=recall.excerpts,
            max_candidates=MAX_CANDIDATES if self._rerank else 0,
        )
        return await self._ask(lambda: self._index.recall(question), deadline)

    async def _reranked(self, request: ModelRequest, recalled: RecallAnswer | None) -> RecallAnswer | None:
        """With the model's choice instead of the gate's, where one is asked and answers in time."""
        if self._rerank is None or recalled is None:
            return recalled
        facts = await self._rerank.choose(request.cues, recalled.candidates)
        if facts is None:
            return recalled
        return msgspec.structs.replace(recalled, facts=facts[: self._settings.recall.max_facts])

    async def _ask(self, work: Callable[[], Awaitable[T]], deadline: float) -> T:
        try:
            return await self._patience.call(work, deadline)
        except BeadError as error:
            raise NotLoaded(f"the index refused ({error.code})") from None


def _without_visible(recalled: RecallAnswer, is_visible: Callable[[str], bool]) -> RecallAnswer:
    visible = [fact for fact in recalled.facts if is_visible(fact.body)]
    if not visible:
        return recalled
    return msgspec.structs.replace(
        recalled,
        facts=tuple(fact for fact in recalled.facts if fact not in visible),
        rejected=(*recalled.rejected, *(Rejected(fact.uid, fact.score, VISIBLE, Code.VISIBLE) for fact in visible)),
    )


def _block(
    position: str, kind: BlockKind, facts: Sequence[RecalledFact], excerpts: Sequence[RecalledExcerpt] = ()
) -> Block:
    return Block(
        position,
        kind,
        render(kind, facts, excerpts),
        fact_uids=tuple(fact.uid for fact in facts),
        excerpt_ids=tuple(excerpt.id for excerpt in excerpts),
        fact_versions=tuple(fact.version for fact in facts),
    )
