"""How one session stands, counted from its blocks and its newest traces; ids and numbers only."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from fastapi import FastAPI

from bead.conversations import Block
from bead.wire.standing import Standing
from bead.wire.traces import TurnTrace

if TYPE_CHECKING:
    from bead_store.app import Store


def add_standing_routes(api: FastAPI, store: Callable[[], "Store"]) -> None:
    """`/v1/views/standing/{session}`."""

    @api.get("/v1/views/standing/{session}")
    async def standing(session: str) -> Standing:
        blocks = await store().turn_lane.run(store().conversations.of_session, session)
        return counted(session, blocks, store().traces.of_session(session))


def counted(session: str, blocks: Sequence[Block], traces: Sequence[TurnTrace]) -> Standing:
    """`traces` newest first."""
    priced = next((trace for trace in traces if trace.input_tokens or trace.cache_read_tokens), None)
    return Standing(
        session=session,
        facts=len({uid for block in blocks for uid in block.fact_uids}),
        excerpts=len({name for block in blocks for name in block.excerpt_ids}),
        requests=len(traces),
        input_tokens=priced.input_tokens + priced.cache_read_tokens + priced.cache_write_tokens if priced else 0,
        cache_read_tokens=priced.cache_read_tokens if priced else 0,
        failures=traces[0].failures if traces else (),
    )
