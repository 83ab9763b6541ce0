"""Client of what a person looks at in the store."""

from urllib.parse import quote

from bead.bus.transport import Transport, call
from bead.wire.views import (
    AuditPage,
    BrowseFacts,
    Days,
    FactPage,
    FindNames,
    Names,
    Report,
    ReportList,
    SessionBlocks,
    SessionPage,
    Uses,
)


class ViewClient:
    """Reads only. Every method raises the `BeadError` that the store raised."""

    def __init__(self, bus: Transport) -> None:
        self._bus = bus

    async def facts(self, request: BrowseFacts) -> FactPage:
        """One page of the current facts that meet the request."""
        body = request.model_dump_json(exclude_none=True).encode()
        return FactPage.model_validate_json(await call(self._bus, "POST", "/v1/views/facts", body))

    async def names(self, uids: tuple[str, ...]) -> Names:
        """Which facts these uids are."""
        body = FindNames(uids=uids).model_dump_json().encode()
        return Names.model_validate_json(await call(self._bus, "POST", "/v1/views/names", body))

    async def sessions(self, offset: int = 0, limit: int = 30) -> SessionPage:
        """Sessions, the one written last first."""
        query = {"offset": offset, "limit": limit}
        return SessionPage.model_validate_json(await call(self._bus, "GET", "/v1/views/sessions", query=query))

    async def blocks(self, session: str) -> SessionBlocks:
        """What was inserted into the requests of a session."""
        path = f"/v1/views/blocks/{quote(session, safe='')}"
        return SessionBlocks.model_validate_json(await call(self._bus, "GET", path))

    async def uses(self, uid: str) -> Uses:
        """Where a fact was injected."""
        return Uses.model_validate_json(await call(self._bus, "GET", f"/v1/views/uses/{quote(uid, safe='')}"))

    async def days(self, count: int = 14) -> Days:
        """What happened on the last days."""
        return Days.model_validate_json(await call(self._bus, "GET", "/v1/views/days", query={"count": count}))

    async def reports(self) -> ReportList:
        """Days with a report, newest first."""
        return ReportList.model_validate_json(await call(self._bus, "GET", "/v1/views/reports"))

    async def report(self, day: str) -> Report:
        """One of them.

        Raises:
            NotFound: that day has none.
        """
        return Report.model_validate_json(await call(self._bus, "GET", f"/v1/views/reports/{quote(day, safe='')}"))

    async def audit(
        self, before: int | None = None, limit: int = 50, what: str | None = None, verb: str | None = None
    ) -> AuditPage:
        """Lines of the audit log, newest first."""
        query: dict[str, str | int | float | None] = {"before": before, "limit": limit, "what": what, "verb": verb}
        return AuditPage.model_validate_json(await call(self._bus, "GET", "/v1/views/audit", query=query))
