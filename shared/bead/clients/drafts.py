"""Client of the store's drafts, for the drain and the person's door."""

from urllib.parse import quote

from bead.bus.transport import Transport, call
from bead.wire.drafts import DraftAnswer, DraftDecided, DraftList, DraftText, NewDraft


class DraftClient:
    """Every method raises the `BeadError` that the store raised."""

    def __init__(self, bus: Transport) -> None:
        self._bus = bus

    async def add(self, request: NewDraft) -> DraftAnswer:
        """Hand one drained memory over; durable when this returns."""
        answer = await call(self._bus, "POST", "/v1/drafts", request.model_dump_json().encode())
        return DraftAnswer.model_validate_json(answer)

    async def waiting(self) -> DraftList:
        """Every draft, what most agents wrote first."""
        return DraftList.model_validate_json(await call(self._bus, "GET", "/v1/drafts"))

    async def approve(self, id: str, body: str | None = None) -> DraftDecided:
        """Make it a fact, in these words when there are any."""
        return await self._decide(id, "approve", body)

    async def edit(self, id: str, body: str) -> DraftDecided:
        """Give it other words; it waits on."""
        return await self._decide(id, "edit", body)

    async def discard(self, id: str) -> DraftDecided:
        """Never take this memory in again."""
        return await self._decide(id, "discard", None)

    async def _decide(self, id: str, action: str, body: str | None) -> DraftDecided:
        path = f"/v1/drafts/{quote(id, safe='')}/{action}"
        answer = await call(self._bus, "POST", path, DraftText(body=body).model_dump_json().encode())
        return DraftDecided.model_validate_json(answer)
