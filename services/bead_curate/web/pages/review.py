"""Review: what waits for a person, beside what is stored and where it comes from; decided one by one or by agent.

An edited item is written as the person's own words first and then rejected, so that the proposal as it stood is
refused from now on. What reads like an instruction is shown collapsed, and all of it as escaped text.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from starlette.responses import Response

from bead.errors import BadRequest, BeadError
from bead.facts import FactVersion, Trust
from bead.turns import spoken
from bead.wire.drafts import Draft
from bead.wire.store import ReviewItem, WriteFact
from bead_curate.web.app import Page
from bead_curate.web.backend import Backend
from bead_curate.web.pages.drafts import agents_of, draft_client, drafts
from bead_curate.web.rendering import session_of
from bead_curate.web.words import Piece, difference

PAGE = 20
_MOST_SOURCES = 3
_MOST_AT_ONCE = 200
_EXCERPT_CHARS = 700
NOBODY = "unknown agent"


class Source(NamedTuple):
    """A turn that an item cites."""

    source: str
    role: str
    text: str
    """The spoken part, cut; empty when the turn cannot be read."""


class Waiting(NamedTuple):
    """One item with everything needed to decide it."""

    item: ReviewItem
    agent: str
    current: FactVersion | None
    pieces: tuple[Piece, ...]
    """What it would change; empty where nothing is stored yet."""
    sources: tuple[Source, ...]


async def show(page: Page) -> Response:
    """The queue and the drafts, oldest first."""
    queue, waiting_drafts = await asyncio.gather(page.backend.store.review_queue(), drafts(page.backend))
    agent, kind = page.asked("agent"), page.asked("kind")
    chosen = [item for item in queue.items if _fits(item, agent, kind)]
    waiting = await asyncio.gather(*(_waiting(page.backend, item) for item in chosen[:PAGE]))
    return page.show(
        "review.html",
        waiting=waiting,
        total=len(queue.items),
        chosen=len(chosen),
        drafts=[(each, agents_of(each)) for each in waiting_drafts if not agent or agent in agents_of(each)][:PAGE],
        drafts_total=len(waiting_drafts),
        agents=_counts(queue.items, waiting_drafts),
        kinds=sorted(Counter(item.kind for item in queue.items).items()),
        agent=agent,
        kind=kind,
    )


async def decide(page: Page) -> Response:
    """Accept, accept with another text, or reject one item."""
    item, decision = page.path("item"), page.sent("decision")
    if decision == "accept":
        decided = await page.backend.store.accept(item)
        return page.go(_back(page), f"Accepted: {decided.key}.")
    if decision == "reject":
        decided = await page.backend.store.reject(item)
        return page.go(_back(page), f"Rejected: {decided.key}.")
    if decision != "edit":
        raise BadRequest("an item is accepted, edited or rejected")
    return await _accept_edited(page, item)


async def bulk_preview(page: Page) -> Response:
    """What a decision about all items of one agent would decide."""
    agent, decision = page.sent("agent"), page.sent("decision")
    if decision not in ("accept", "reject"):
        raise BadRequest("many items are accepted or rejected")
    queue = await page.backend.store.review_queue()
    # What reads like an instruction is looked at one by one: nobody accepts it unseen.
    items = [item for item in queue.items if _fits(item, agent, "") and not (decision == "accept" and item.suspicious)]
    waiting = [each for each in await drafts(page.backend) if agent in agents_of(each)]
    chosen = [each for each in waiting if not (decision == "accept" and each.suspicious)]
    return page.show(
        "bulk.html", items=items[:_MOST_AT_ONCE], drafts=chosen[:_MOST_AT_ONCE], agent=agent, decision=decision
    )


async def bulk(page: Page) -> Response:
    """Decide exactly the items and drafts that the preview showed."""
    store, drained, decision = page.backend.store, draft_client(page.backend), page.sent("decision")
    act = {"accept": (store.accept, drained.approve), "reject": (store.reject, drained.discard)}.get(decision)
    if act is None:
        raise BadRequest("many items are accepted or rejected")
    done, left = 0, 0
    for name, decide_one in zip(("item", "draft"), act, strict=True):
        for each in page.sent_all(name)[:_MOST_AT_ONCE]:
            try:
                await decide_one(each)
                done += 1
            except BeadError:
                left += 1
    said = f"{page.sent('decision').capitalize()}ed {done}."
    return page.go(
        "/review", said + (f" {left} could not be decided and still wait." if left else ""), is_good=not left
    )


async def _accept_edited(page: Page, item: str) -> Response:
    queue = await page.backend.store.review_queue()
    found = next((each for each in queue.items if each.id == item), None)
    body = page.sent("body").replace("\r\n", "\n").strip()
    if found is None:
        return page.go(_back(page), "It does not wait any more.", is_good=False)
    if not body or body == found.body:
        decided = await page.backend.store.accept(item) if body else None
        return page.go(_back(page), f"Accepted: {decided.key}." if decided else "An empty text was not accepted.",
                       is_good=decided is not None)  # fmt: skip
    answer = await page.backend.store.write_fact(
        WriteFact(body=body, key=found.key, type=found.type, trust=Trust.USER_STATED, sources=found.sources)
    )
    await page.backend.store.reject(item)
    return page.go(_back(page), f"Accepted in your words: {answer.key} v{answer.version}.")


async def _waiting(backend: Backend, item: ReviewItem) -> Waiting:
    try:
        current = await backend.store.current_fact(item.key)
    except BeadError:
        current = None
    sources = await asyncio.gather(*(source_of(backend, source) for source in item.sources[:_MOST_SOURCES]))
    pieces = difference(current.body, item.body) if current else ()
    return Waiting(item, agent_of(item), current, pieces, tuple(sources))


async def source_of(backend: Backend, source: str) -> Source:
    """The words of one turn; without them when it is gone."""
    session, turn = session_of(source), source.partition("#turn-")[2]
    if session and turn.isdigit():
        try:
            view = await backend.store.session(session, int(turn) - 1)
        except BeadError:
            return Source(source, "", "")
        for found in view.turns:
            if found.ordinal == int(turn):
                text = spoken(found.text)
                return Source(source, found.role.value, text[:_EXCERPT_CHARS] + ("…" if text[_EXCERPT_CHARS:] else ""))
    return Source(source, "", "")


def agent_of(item: ReviewItem) -> str:
    """Who proposed it."""
    return item.harness or ("dream" if item.trust is Trust.DREAM_INFERRED else NOBODY)


def _fits(item: ReviewItem, agent: str, kind: str) -> bool:
    return (not agent or agent_of(item) == agent) and (not kind or item.kind == kind)


def _counts(items: Iterable[ReviewItem], waiting: Iterable[Draft]) -> list[tuple[str, int]]:
    drained = (agent for draft in waiting for agent in agents_of(draft))
    return sorted(Counter([*(agent_of(item) for item in items), *drained]).items())


def _back(page: Page) -> str:
    where = page.sent("back", "/review")
    return where if where.startswith("/review") else "/review"


ROUTES = (
    ("GET", "/review", show),
    ("POST", "/review/bulk", bulk_preview),
    ("POST", "/review/bulk/confirm", bulk),
    ("POST", "/review/{item}", decide),
)
