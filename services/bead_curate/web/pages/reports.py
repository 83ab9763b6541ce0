"""Reports: what bead does by itself and when, what each night did in ids and counts, and how a run is taken back."""

import asyncio

from starlette.responses import Response

from bead.wire.dream import DreamStatus, RunList
from bead.wire.jobs import JobTable
from bead_curate.web.app import Page
from bead_curate.web.backend import optional


async def show(page: Page) -> Response:
    """The runs, and one report: the one that is asked for, else the newest."""
    backend = page.backend
    jobs, runs, status, listed = await asyncio.gather(
        backend.get("store", "/v1/jobs", JobTable),
        backend.get("store", "/v1/dream/runs", RunList),
        backend.get("dream", "/v1/status", DreamStatus),
        optional(backend.views.reports()),
    )
    days = listed.reports if listed else ()
    chosen = page.asked("report") or (days[0] if days else "")
    report = await backend.views.report(chosen) if chosen else None
    return page.show(
        "reports.html",
        jobs=jobs.jobs if jobs else (),
        runs=runs.runs if runs else (),
        status=status,
        reports=days,
        chosen=chosen,
        text=report.text if report else "",
    )


ROUTES = (("GET", "/reports", show),)
