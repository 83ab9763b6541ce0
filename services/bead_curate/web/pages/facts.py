"""Facts: search as you type, filters, pages."""

from enum import StrEnum
from typing import Any, TypeVar

from starlette.responses import Response

from bead.errors import BeadError
from bead.facts import FactType, Status, Trust
from bead.wire.views import BrowseFacts, Order
from bead_curate.web.app import Page
from bead_curate.web.backend import Backend, optional

PAGE = 50
_MOST_HITS = 60
_FACT = "fact"

Choice = TypeVar("Choice", bound=StrEnum)


async def show(page: Page) -> Response:
    """The page, or with `part=list` the list alone."""
    query = page.asked("q")
    number = page.asked("page", "1")
    at = max(1, int(number)) if number.isdigit() and len(number) < 6 else 1
    request = BrowseFacts(
        scope=page.asked("project") or None,
        type=_choice(FactType, page.asked("type")),
        trust=_choice(Trust, page.asked("trust")),
        status=_choice(Status, page.asked("status")),
        pinned=True if page.asked("pinned") else None,
        order=_choice(Order, page.asked("order")) or Order.NEWEST,
        offset=(at - 1) * PAGE,
        limit=PAGE,
    )
    note = ""
    if query:
        request, note = await _searched(page.backend, request, query)
    found = await page.backend.views.facts(request)
    sealed = await optional(page.backend.vault.sealed())
    values: dict[str, Any] = {
        "found": found,
        "query": query,
        "at": at,
        "pages": -(-found.total // PAGE),
        "note": note,
        "sealed": sealed.sealed if sealed else (),
        "asked": dict(page.request.query_params),
        "types": tuple(FactType),
        "trusts": tuple(Trust),
        "statuses": (Status.CURRENT, Status.DORMANT),
    }
    return page.part("factlist.html", **values) if page.asked("part") == "list" else page.show("facts.html", **values)


async def _searched(backend: Backend, request: BrowseFacts, query: str) -> tuple[BrowseFacts, str]:
    """The request for what the index finds, best first; plain text matching while there is no index."""
    try:
        answer = await backend.index.search(query, limit=_MOST_HITS)
    except BeadError:
        note = "The search index is not there at the moment: this is every fact that holds exactly this text."
        return request.model_copy(update={"text": query}), note
    found = tuple(hit.id for hit in answer.hits if hit.kind == _FACT)
    return request.model_copy(update={"keys": found}), ""


def _choice(kind: type[Choice], text: str) -> Choice | None:
    return kind(text) if text in tuple(kind) else None


ROUTES = (("GET", "/facts", show),)
