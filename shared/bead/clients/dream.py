"""Client of the dream service: start a night, watch it, take it back."""

from bead.bus.transport import Transport, call
from bead.wire.dream import DreamStatus, RunView, StartRun, Undone

_UNDO_S = 600.0


class DreamClient:
    """Every method raises the `BeadError` that the service raised."""

    def __init__(self, bus: Transport) -> None:
        self._bus = bus

    async def start(self, request: StartRun) -> RunView:
        """Begin a run; it goes on by itself.

        Raises:
            RunInProgress: one is at work.
        """
        return RunView.model_validate_json(
            await call(self._bus, "POST", "/v1/runs", request.model_dump_json().encode())
        )

    async def current(self) -> RunView:
        """The run at work, else the last one.

        Raises:
            NotFound: none has been since the service was started.
        """
        return RunView.model_validate_json(await call(self._bus, "GET", "/v1/runs/current"))

    async def cancel(self) -> RunView:
        """End the run at work where it is."""
        return RunView.model_validate_json(await call(self._bus, "POST", "/v1/runs/current/cancel"))

    async def undo(self, run: str) -> Undone:
        """Take a run back."""
        return Undone.model_validate_json(await call(self._bus, "POST", f"/v1/runs/{run}/undo", timeout_s=_UNDO_S))

    async def status(self) -> DreamStatus:
        """What a person asks about."""
        return DreamStatus.model_validate_json(await call(self._bus, "GET", "/v1/status"))
