"""What a person looks at, as the fake store has it: facts, names and blocks. No fact was ever injected.

Sessions, days, audit lines and reports are told from files, which the fake does not have.
"""

from collections import Counter
from typing import TYPE_CHECKING

from fastapi import FastAPI

from bead import keys
from bead.facts import FactVersion
from bead.wire.standing import Standing
from bead.wire.views import (
    BrowseFacts,
    Count,
    FactPage,
    FindNames,
    Named,
    Names,
    Order,
    SentBlock,
    SessionBlocks,
    Uses,
)

if TYPE_CHECKING:
    from tests.fakes.store import FakeStore


def add_fake_view_routes(api: FastAPI, store: "FakeStore") -> None:
    """See the module."""

    @api.post("/v1/views/facts")
    async def facts(request: BrowseFacts) -> FactPage:
        return _page(store, request)

    @api.post("/v1/views/names")
    async def names(request: FindNames) -> Names:
        current = [versions[-1] for versions in store.facts.values()]
        return Names(
            facts=tuple(
                Named(uid=fact.uid, key=fact.key, version=fact.version) for fact in current if fact.uid in request.uids
            )
        )

    @api.get("/v1/views/blocks/{session}")
    async def blocks(session: str) -> SessionBlocks:
        found = [each for each in store.conversations.values() if each.id.startswith(f"{session}-")]
        return SessionBlocks(
            session=session,
            blocks=tuple(
                SentBlock(
                    conversation=each.id,
                    kind=block.kind,
                    position=block.position,
                    text=block.text,
                    fact_uids=block.fact_uids,
                    fact_versions=block.fact_versions,
                )
                for each in found
                for block in each.blocks
            ),
        )

    @api.get("/v1/views/standing/{session}")
    async def standing(session: str) -> Standing:
        mine = [each for each in store.conversations.values() if each.id.rpartition("-")[0] == session]
        blocks = [block for each in mine for block in each.blocks]
        traces = [kept.trace for kept in reversed(store.traces) if kept.trace.session == session]
        priced = next((trace for trace in traces if trace.input_tokens or trace.cache_read_tokens), None)
        return Standing(
            session=session,
            facts=len({uid for block in blocks for uid in block.fact_uids}),
            excerpts=len({name for block in blocks for name in block.excerpt_ids}),
            requests=len(traces),
            input_tokens=priced.input_tokens + priced.cache_read_tokens + priced.cache_write_tokens if priced else 0,
            cache_read_tokens=priced.cache_read_tokens if priced else 0,
            failures=traces[0].failures if traces else (),
        )

    @api.get("/v1/views/uses/{uid}")
    async def uses(uid: str) -> Uses:
        return Uses(uses=())


def _page(store: "FakeStore", request: BrowseFacts) -> FactPage:
    current = {key: versions[-1] for key, versions in sorted(store.facts.items())}
    asked = current if request.keys is None else [key for key in request.keys if key in current]
    found = [current[key] for key in asked if _meets(current[key], request)]
    if request.keys is None and request.order is not Order.KEY:
        found.sort(key=lambda fact: fact.valid_from, reverse=True)
    scopes = Counter(keys.parse(key).scope for key in current)
    return FactPage(
        facts=tuple(found[request.offset : request.offset + request.limit]),
        total=len(found),
        stored=len(current),
        scopes=tuple(Count(name=name, count=count) for name, count in sorted(scopes.items())),
    )


def _meets(fact: FactVersion, request: BrowseFacts) -> bool:
    wanted = request.model_dump(include={"type", "trust", "status", "pinned"}, exclude_none=True)
    return (
        all(getattr(fact, name) == value for name, value in wanted.items())
        and request.scope in (None, keys.parse(fact.key).scope)
        and (not request.text or request.text.casefold() in f"{fact.key} {fact.body}".casefold())
    )
