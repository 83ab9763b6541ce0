"""Drained memories that wait for a person, as the review page shows them; a decision is the store's to carry out."""

from starlette.responses import Response

from bead.clients.drafts import DraftClient
from bead.errors import BadRequest, BeadError
from bead.wire.drafts import Draft
from bead_curate.web.app import Page
from bead_curate.web.backend import Backend


def draft_client(backend: Backend) -> DraftClient:
    """The way to decide a draft.

    Raises:
        BadRequest: this page has no store.
    """
    bus = backend.bus("store")
    if bus is None:
        raise BadRequest("there is no store to decide drafts in")
    return DraftClient(bus)


async def drafts(backend: Backend) -> list[Draft]:
    """Every draft that waits, what most agents wrote first; none when the store does not answer."""
    bus = backend.bus("store")
    if bus is None:
        return []
    try:
        return list((await DraftClient(bus).waiting()).drafts)
    except BeadError:
        return []


def agents_of(draft: Draft) -> list[str]:
    """Who wrote it, each on its own."""
    return [tag.removeprefix("agent:") for tag in draft.tags if tag.startswith("agent:")]


async def decide(page: Page) -> Response:
    """Approve, approve in other words, or discard one draft."""
    name, decision = page.path("draft"), page.sent("decision")
    if decision not in ("approve", "edit", "discard"):
        raise BadRequest("a draft is approved, edited or discarded")
    client = draft_client(page.backend)
    if decision == "discard":
        await client.discard(name)
        return page.go("/review", "Discarded the draft.")
    body = page.sent("body").replace("\r\n", "\n").strip() if decision == "edit" else None
    if body == "":
        raise BadRequest("a fact needs a text")
    await client.approve(name, body)
    return page.go("/review", "Approved the draft.")


ROUTES = (("POST", "/drafts/{draft}", decide),)
