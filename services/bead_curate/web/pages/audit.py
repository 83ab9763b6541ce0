"""Audit: every line of the log with the names of today, and whether its chain holds."""

from starlette.responses import Response

from bead_curate.web.app import Page

_PAGE = 60


async def show(page: Page) -> Response:
    """A page of the log, newest first; with `verify` the whole chain is checked."""
    before = page.asked("before")
    backend = page.backend
    found = await backend.views.audit(
        before=max(1, int(before)) if before.isdigit() else None,
        limit=_PAGE,
        what=page.asked("what") or None,
        verb=page.asked("verb") or None,
    )
    names = await backend.names(line.what for line in found.lines)
    report = await backend.store.verify_audit() if page.asked("verify") else None
    return page.show("audit.html", found=found, names=names, report=report, asked=dict(page.request.query_params))


ROUTES = (("GET", "/audit", show),)
