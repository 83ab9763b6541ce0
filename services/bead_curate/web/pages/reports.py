"""Reports: what each night did, in ids and counts, and a way to take a run back."""

import json
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from bead.bus.transport import call
from bead.errors import BeadError
from bead.wire.dream import DreamStatus, RunList
from bead_curate.web.app import Page
from bead_curate.web.backend import Backend


async def show(page: Page) -> Response:
    """The runs, and one report when it is asked for."""
    runs = await page.backend.get("store", "/v1/dream/runs", RunList)
    status = await page.backend.get("dream", "/v1/status", DreamStatus)
    listed = await _document(page.backend, "/v1/reports")
    names = [str(name) for name in listed.get("reports", ())] if listed else []
    chosen = page.asked("report") or (names[0] if names else "")
    report = await _document(page.backend, f"/v1/reports/{quote(chosen, safe='')}") if chosen else None
    text = str(report.get("text") or report.get("body") or "") if report else ""
    return page.show("reports.html", runs=runs.runs if runs else (), status=status, reports=names, chosen=chosen,
                     text=text)  # fmt: skip


async def _document(backend: Backend, path: str) -> dict[str, Any] | None:
    bus = backend.bus("store")
    if bus is None:
        return None
    try:
        found = json.loads(await call(bus, "GET", path, timeout_s=5.0))
    except (BeadError, ValueError):
        return None
    return found if isinstance(found, dict) else None


ROUTES = (("GET", "/reports", show),)
