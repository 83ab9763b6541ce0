"""Settings and spend: what is in force and what made it so, and what background models cost. Read only."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import groupby

from starlette.responses import Response

from bead.wire.dream import DreamStatus, Spent
from bead_curate.web import charts
from bead_curate.web.app import Page
from bead_curate.web.pages.home import figures

_DAYS = 14


async def show(page: Page) -> Response:
    """Every setting with its source."""
    groups = [(name, tuple(found)) for name, found in groupby(page.web.effective, lambda each: each.name.split(".")[0])]
    return page.show("settings.html", groups=groups, home_id=page.backend.home_id)


async def spend(page: Page) -> Response:
    """Background models by day, and what the person's own requests carried."""
    today = datetime.now(UTC).date()
    days = [today - timedelta(days=back) for back in range(_DAYS - 1, -1, -1)]
    found = await asyncio.gather(
        *(page.backend.get("store", "/v1/dream/spend", Spent, day=f"{day:%Y-%m-%d}") for day in days)
    )
    spent = [each or Spent(day=f"{day:%Y-%m-%d}") for each, day in zip(found, days, strict=True)]
    status = await page.backend.get("dream", "/v1/status", DreamStatus)
    traces = [each.trace for each in await page.backend.traces()]
    names = [f"{day:%d %b}" for day in days]
    return page.show(
        "spend.html",
        spent=spent[::-1],
        is_known=any(found),
        status=status,
        tokens=charts.bars([each.tokens for each in spent], names, "tokens"),
        cost=figures(traces),
        since=traces[-1].at if traces else None,
    )


ROUTES = (("GET", "/settings", show), ("GET", "/spend", spend))
