"""Translates between the bus and what the nights may do; decides nothing."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from fastapi import FastAPI, Response

from bead.wire.dream import (
    BeginRun,
    Calibration,
    ChangeAnswer,
    DreamCard,
    DreamEpisode,
    DreamMark,
    DreamWrite,
    FinishRun,
    NightState,
    Propose,
    Proposed,
    RunList,
    RunRecord,
    Spend,
    Spent,
    Undone,
)
from bead.wire.episodes import EpisodeWritten
from bead.wire.store import ChangeKind, WriteAnswer
from bead_store.header import moment_text

if TYPE_CHECKING:
    from bead_store.app import Store

_RUN = "/v1/dream/runs/{run}"
GATE = "gate"
"""What a change of the calibration is about."""


def add_dream_routes(api: FastAPI, store: Callable[[], "Store"]) -> None:
    """`/v1/dream/…`."""
    _add_run_routes(api, store)
    _add_change_routes(api, store)
    _add_note_routes(api, store)


def _add_run_routes(api: FastAPI, store: Callable[[], "Store"]) -> None:
    @api.post("/v1/dream/runs")
    async def begin(request: BeginRun) -> RunRecord:
        return await store().fact_lane.run(store().night.begin, request)

    @api.get("/v1/dream/runs")
    async def runs() -> RunList:
        return RunList(runs=await store().fact_lane.run(store().journal.runs))

    @api.post(f"{_RUN}/finish")
    async def finish(run: str, request: FinishRun) -> RunRecord:
        record = await store().fact_lane.run(store().night.finish, run, request)
        store().changes.publish(ChangeKind.CALIBRATION, GATE)
        return record

    @api.post(f"{_RUN}/undo")
    async def undo(run: str) -> Undone:
        undone = await store().fact_lane.run(store().undo.undo, run)
        store().changes.publish(ChangeKind.CALIBRATION, GATE)
        return undone


def _add_change_routes(api: FastAPI, store: Callable[[], "Store"]) -> None:
    @api.post(f"{_RUN}/facts")
    async def write(run: str, request: DreamWrite) -> WriteAnswer:
        answer = await store().fact_lane.run(store().night.write, run, request)
        store().writes.labels(answer.verb.value).inc()
        return answer

    @api.post(f"{_RUN}/cards")
    async def widen(run: str, request: DreamCard) -> ChangeAnswer:
        return await store().fact_lane.run(store().night.widen, run, request)

    @api.post(f"{_RUN}/marks")
    async def mark(run: str, request: DreamMark) -> ChangeAnswer:
        return await store().fact_lane.run(store().night.mark, run, request)

    @api.post(f"{_RUN}/proposals")
    async def propose(run: str, request: Propose) -> Proposed:
        return await store().fact_lane.run(store().night.propose, run, request)

    @api.post(f"{_RUN}/episodes")
    async def episode(run: str, request: DreamEpisode) -> EpisodeWritten:
        return await store().fact_lane.run(store().night.episode, run, request)


def _add_note_routes(api: FastAPI, store: Callable[[], "Store"]) -> None:
    @api.get("/v1/dream/state")
    async def state() -> NightState:
        return await store().fact_lane.run(store().notes.state)

    @api.post("/v1/dream/spend", status_code=204, response_class=Response)
    async def spend(request: Spend) -> None:
        at = str(moment_text(store().now()))
        await store().fact_lane.run(store().notes.spend, request, at)

    @api.get("/v1/dream/spend")
    async def spent(day: str) -> Spent:
        return await store().fact_lane.run(store().notes.spent, day)

    @api.get("/v1/dream/calibration")
    async def calibration() -> Calibration:
        return await store().fact_lane.run(store().notes.calibration)

    @api.put("/v1/dream/calibration", status_code=204, response_class=Response)
    async def keep_calibration(request: Calibration) -> None:
        await store().fact_lane.run(store().notes.keep_calibration, request)
        store().changes.publish(ChangeKind.CALIBRATION, GATE)
