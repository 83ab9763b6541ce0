"""Live: each model request as it passes, by long poll on the store's trace feed, sent on as an event stream."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any, NamedTuple

from starlette.responses import Response

from bead.errors import BeadError
from bead.wire.traces import KeptTrace, TurnTrace
from bead_curate.web.app import Page
from bead_curate.web.backend import Backend, Fact, uids_of

_SHOWN = 25
_POLL_S = 20.0
_RETRY_S = 2.0


class Told(NamedTuple):
    """A trace with the names of what it speaks of."""

    seq: int
    trace: TurnTrace
    names: dict[str, Fact]
    added_ms: float
    cache_share: float | None
    """Part of the input that the provider read from its cache; None before it has counted."""


async def show(page: Page) -> Response:
    """The newest requests, and from now on each as it comes."""
    kept = (await page.backend.traces())[:_SHOWN]
    return page.show("live.html", turns=await told(page.backend, kept), last=kept[0].seq if kept else 0)


async def events(page: Page) -> Response:
    """`text/event-stream`: event `turn`, data is the finished HTML of one request, id its number."""
    last = page.request.headers.get("last-event-id") or page.asked("after", "0")
    return page.web.events(_stream(page, int(last) if last.isdigit() else 0))


async def _stream(page: Page, after: int) -> AsyncIterator[bytes]:
    yield b"retry: 2000\n\n"
    cookie_session = page.session
    while page.web.door.is_open(cookie_session):
        try:
            found = await page.backend.store.traces(after=after, limit=_SHOWN, wait_s=_POLL_S)
        except BeadError:
            yield b": not available\n\n"
            await asyncio.sleep(_RETRY_S)
            continue
        # Less than what was asked after: the feed was emptied, and is read from its begin.
        after = found.seq if not found.traces else found.traces[-1].seq
        for turn in await told(page.backend, found.traces):
            html = page.web.render("turn.html", None, turn=turn)
            data = "".join(f"data: {line}\n" for line in html.splitlines() if line.strip())
            yield f"id: {turn.seq}\nevent: turn\n{data}\n".encode()
        if not found.traces:
            yield b": still here\n\n"


async def told(backend: Backend, kept: Iterable[KeptTrace]) -> list[Told]:
    """The traces with names; without them when the store does not answer."""
    traces = list(kept)
    try:
        names = await backend.names(uids_of(each.trace for each in traces))
    except BeadError:
        names = {}
    return [Told(each.seq, each.trace, names, _added(each.trace), _share(each.trace)) for each in traces]


def _added(trace: TurnTrace) -> float:
    return trace.added_ms.get("all", sum(trace.added_ms.values()))


def _share(trace: TurnTrace) -> float | None:
    whole = trace.input_tokens + trace.cache_read_tokens + trace.cache_write_tokens
    return trace.cache_read_tokens / whole if whole else None


ROUTES: tuple[tuple[str, str, Any], ...] = (("GET", "/live", show), ("GET", "/live/events", events))
