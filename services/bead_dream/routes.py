"""Translates between the bus and the runner; decides nothing."""

from collections.abc import AsyncIterator, Callable

from fastapi import FastAPI
from fastapi.responses import StreamingResponse

from bead.wire.dream import DreamStatus, RunState, RunView, StartRun, Undone
from bead_dream.runner import Runner


def add_routes(api: FastAPI, runner: Callable[[], Runner]) -> None:
    """`/v1/runs…` and `/v1/status`."""

    @api.post("/v1/runs")
    async def start(request: StartRun) -> RunView:
        return await runner().start(request)

    @api.get("/v1/runs/current")
    async def current() -> RunView:
        return runner().current

    @api.get("/v1/runs/current/events")
    async def events() -> StreamingResponse:
        first = runner().current  # an error before the stream begins
        assert first is not None, "there is a run to tell of"
        return StreamingResponse(_told(runner()), media_type="text/event-stream", headers={"cache-control": "no-store"})

    @api.post("/v1/runs/current/cancel")
    async def cancel() -> RunView:
        return await runner().cancel()

    @api.post("/v1/runs/{run}/undo")
    async def undo(run: str) -> Undone:
        return await runner().undo(run)

    @api.get("/v1/status")
    async def status() -> DreamStatus:
        return await runner().status()


async def _told(runner: Runner) -> AsyncIterator[bytes]:
    async for view in runner.events():
        name = "progress" if view.state is RunState.RUNNING else "end"
        yield f"event: {name}\ndata: {view.model_dump_json()}\n\n".encode()
