"""Traces: each model request with everything that was weighed, as `bead explain` tells it."""

from starlette.responses import Response

from bead_curate.web.app import Page
from bead_curate.web.pages.live import told

_PAGE = 50


async def show(page: Page) -> Response:
    """The newest requests, of all or of one session or project."""
    session, project = page.asked("session"), page.asked("project")
    kept = [
        each
        for each in await page.backend.traces()
        if (not session or each.trace.session == session) and (not project or each.trace.project == project)
    ]
    projects = sorted({each.trace.project for each in kept if each.trace.project})
    number = page.asked("page", "1")
    at = max(1, int(number)) if number.isdigit() and len(number) < 6 else 1
    chosen = await told(page.backend, kept[(at - 1) * _PAGE : at * _PAGE])
    return page.show(
        "traces.html", turns=chosen, total=len(kept), projects=projects, session=session, project=project,
        at=at, pages=-(-len(kept) // _PAGE), asked=dict(page.request.query_params),
    )  # fmt: skip


async def one(page: Page) -> Response:
    """One request."""
    kept = await page.backend.store.trace(page.path("turn"))
    (turn,) = await told(page.backend, [kept])
    return page.show("trace.html", turn=turn)


ROUTES = (("GET", "/traces", show), ("GET", "/traces/{turn:path}", one))
