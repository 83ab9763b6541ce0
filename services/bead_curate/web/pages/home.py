"""Home: what happened today, who is well, the last night, cache and token figures."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from bead.wire.dream import DreamStatus
from bead.wire.traces import TurnTrace
from bead.wire.views import BrowseFacts, Day
from bead_curate.web import charts
from bead_curate.web.app import Page
from bead_curate.web.backend import optional

_DAYS = 14
_LEARNT_SHOWN = 5


async def show(page: Page) -> Response:
    """The start of every visit."""
    backend = page.backend
    days, queue, newest, healths, traces, dream = await asyncio.gather(
        optional(backend.views.days(_DAYS)),
        optional(backend.store.review_queue()),
        optional(backend.views.facts(BrowseFacts(limit=_LEARNT_SHOWN))),
        backend.healths(),
        backend.traces(),
        backend.get("dream", "/v1/status", DreamStatus),
    )
    kept = [each.trace for each in traces]
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    return page.show(
        "home.html",
        today=datetime.now(UTC),
        tiles=tiles(days.days if days else (), len(queue.items) if queue else None),
        stored=newest.stored if newest else 0,
        learnt=newest.facts if newest else (),
        waiting=queue.items[-3:][::-1] if queue else (),
        healths=healths,
        last_request=kept[0].at if kept else None,
        dream=dream,
        cost=figures([trace for trace in kept if trace.at.startswith(today)]),
    )


def tiles(days: tuple[Day, ...], waiting: int | None) -> list[dict[str, Any]]:
    """The four numbers of today, three of them with the days before."""
    names = [f"{day.day:%d %b}" for day in days]
    columns = (
        ("Captured", "turns", [day.turns for day in days], "/sessions"),
        ("Injected", "blocks", [day.injected for day in days], "/live"),
        ("Learnt", "facts", [day.learnt for day in days], "/facts"),
    )
    made: list[dict[str, Any]] = [
        {
            "name": name,
            "value": values[-1] if values else None,
            "unit": unit,
            "url": url,
            "chart": charts.bars(values, names, unit) if values else None,
        }
        for name, unit, values, url in columns
    ]
    return [*made, {"name": "Waiting", "value": waiting, "unit": "for you", "url": "/review", "chart": None}]


def figures(traces: list[TurnTrace]) -> dict[str, Any] | None:
    """Tokens and times of these requests; None when there were none."""
    if not traces:
        return None
    read = sum(trace.cache_read_tokens for trace in traces)
    written = sum(trace.cache_write_tokens for trace in traces)
    fresh = sum(trace.input_tokens for trace in traces)
    added = [trace.added_ms["all"] for trace in traces if "all" in trace.added_ms]
    return {
        "requests": len(traces),
        "input": read + written + fresh,
        "output": sum(trace.output_tokens for trace in traces),
        "memory": sum(trace.inserted_tokens for trace in traces),
        "share": read / (read + written + fresh) if read + written + fresh else 0.0,
        "parts": charts.parts((("read from cache", read), ("written to cache", written), ("not cached", fresh))),
        "added_p50": charts.percentile(added, 0.5),
        "added_p95": charts.percentile(added, 0.95),
        "failed": sum(bool(trace.failures) for trace in traces),
    }


ROUTES = (("GET", "/", show),)
