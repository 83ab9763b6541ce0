"""Client of the store's routes for the nights: every change of a dream run, and what the nights note."""

from bead.bus.transport import Transport, call
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
from bead.wire.store import Model, WriteAnswer

_TAKES_BACK_S = 600.0


class NightClient:
    """Every method raises the `BeadError` that the store raised."""

    def __init__(self, bus: Transport) -> None:
        self._bus = bus

    async def begin(self, request: BeginRun) -> RunRecord:
        """A run that may change something from now on; one that was open is over."""
        return RunRecord.model_validate_json(await self._post("/v1/dream/runs", request))

    async def runs(self) -> RunList:
        """Runs that are kept, newest first."""
        return RunList.model_validate_json(await call(self._bus, "GET", "/v1/dream/runs"))

    async def write(self, run: str, request: DreamWrite) -> WriteAnswer:
        """A fact inferred from turns, through the supersession rule."""
        return WriteAnswer.model_validate_json(await self._post(f"/v1/dream/runs/{run}/facts", request))

    async def widen(self, run: str, request: DreamCard) -> ChangeAnswer:
        """Entries added to a trigger card."""
        return ChangeAnswer.model_validate_json(await self._post(f"/v1/dream/runs/{run}/cards", request))

    async def mark(self, run: str, request: DreamMark) -> ChangeAnswer:
        """Let a fact sleep."""
        return ChangeAnswer.model_validate_json(await self._post(f"/v1/dream/runs/{run}/marks", request))

    async def propose(self, run: str, request: Propose) -> Proposed:
        """Queue something for a person.

        Raises:
            Tombstoned: it was forgotten or rejected.
        """
        return Proposed.model_validate_json(await self._post(f"/v1/dream/runs/{run}/proposals", request))

    async def episode(self, run: str, request: DreamEpisode) -> EpisodeWritten:
        """Write the episode of a session."""
        return EpisodeWritten.model_validate_json(await self._post(f"/v1/dream/runs/{run}/episodes", request))

    async def finish(self, run: str, request: FinishRun) -> RunRecord:
        """The run is over."""
        return RunRecord.model_validate_json(await self._post(f"/v1/dream/runs/{run}/finish", request))

    async def undo(self, run: str) -> Undone:
        """Take a run back.

        Raises:
            NotFound: it is not kept any more.
        """
        answer = await call(self._bus, "POST", f"/v1/dream/runs/{run}/undo", timeout_s=_TAKES_BACK_S)
        return Undone.model_validate_json(answer)

    async def state(self) -> NightState:
        """What the nights know about each other."""
        return NightState.model_validate_json(await call(self._bus, "GET", "/v1/dream/state"))

    async def spend(self, request: Spend) -> None:
        """Note a call of a model in the ledger."""
        await self._post("/v1/dream/spend", request)

    async def spent(self, day: str) -> Spent:
        """What the calls of one day (`YYYY-MM-DD`, UTC) came to."""
        return Spent.model_validate_json(await call(self._bus, "GET", "/v1/dream/spend", query={"day": day}))

    async def calibration(self) -> Calibration:
        """What judged turns taught the gate."""
        return Calibration.model_validate_json(await call(self._bus, "GET", "/v1/dream/calibration"))

    async def calibrate(self, request: Calibration) -> None:
        """Let the gate know this from now on."""
        await call(self._bus, "PUT", "/v1/dream/calibration", request.model_dump_json().encode())

    async def _post(self, path: str, request: Model) -> bytes:
        return await call(self._bus, "POST", path, request.model_dump_json(exclude_none=True).encode())
