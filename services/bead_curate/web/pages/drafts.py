"""Drained memories that wait for a person, as the review page shows them.

The routes are the store's; a store that has none yet has no drafts.
"""

import json
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.responses import Response

from bead.bus.transport import call
from bead.errors import BadRequest, BeadError
from bead_curate.web.app import Page
from bead_curate.web.backend import Backend

_TIMEOUT_S = 10.0


class Draft(NamedTuple):
    """One of them."""

    id: str
    agent: str
    key: str
    body: str
    suspicious: bool
    created: str
    tags: tuple[str, ...]
    """Where it was drained from, as far as the store's list of tags knows it."""


async def drafts(backend: Backend) -> list[Draft]:
    """Every draft that waits, none when the store does not keep any."""
    bus = backend.bus("store")
    if bus is None:
        return []
    try:
        document = json.loads(await call(bus, "GET", "/v1/drafts", timeout_s=_TIMEOUT_S))
    except (BeadError, ValueError):
        return []
    found = document.get("drafts", ()) if isinstance(document, dict) else ()
    return [_draft(each) for each in found if isinstance(each, dict)]


async def decide(page: Page) -> Response:
    """Approve, approve in other words, or discard one draft."""
    name, decision = page.path("draft"), page.sent("decision")
    path = f"/v1/drafts/{quote(name, safe='')}"
    if decision not in ("approve", "edit", "discard"):
        raise BadRequest("a draft is approved, edited or discarded")
    said = {"body": page.sent("body").replace("\r\n", "\n").strip()} if decision == "edit" else {}
    action = "discard" if decision == "discard" else "approve"
    await page.backend.post("store", f"{path}/{action}", json.dumps(said).encode())
    return page.go("/review", {"discard": "Discarded the draft."}.get(decision, "Approved the draft."))


def _draft(each: dict[str, Any]) -> Draft:
    tags = each.get("tags") or ()
    agent = each.get("agent") or each.get("cli") or each.get("harness") or (tags[0] if tags else "unknown agent")
    return Draft(
        str(each.get("id", "")),
        str(agent),
        str(each.get("key") or ""),
        str(each.get("body", "")),
        bool(each.get("suspicious", False)),
        str(each.get("created") or ""),
        tuple(str(tag) for tag in tags if str(tag) != str(agent)),
    )


ROUTES = (("POST", "/drafts/{draft}", decide),)
