"""Routes of what a person looks at; translates between the bus and `views`, decides nothing."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from fastapi import FastAPI, Query, Response
from pydantic import BaseModel

from bead.wire.views import MAX_PAGE, BrowseFacts, FindNames
from bead_store.views import MAX_DAYS

if TYPE_CHECKING:
    from bead_store.app import Store

Limit = Annotated[int, Query(ge=1, le=MAX_PAGE)]


def add_view_routes(api: FastAPI, store: Callable[[], "Store"]) -> None:
    """`/v1/views/…`."""

    @api.post("/v1/views/facts", response_model=None)
    async def facts(request: BrowseFacts) -> Response:
        return _json(await store().read_lane.run(store().views.facts, request))

    @api.post("/v1/views/names", response_model=None)
    async def names(request: FindNames) -> Response:
        return _json(await store().read_lane.run(store().views.names, request.uids))

    @api.get("/v1/views/sessions", response_model=None)
    async def sessions(offset: Annotated[int, Query(ge=0)] = 0, limit: Limit = 30) -> Response:
        return _json(await store().read_lane.run(store().views.sessions, offset, limit))

    @api.get("/v1/views/blocks/{session:path}", response_model=None)
    async def blocks(session: str) -> Response:
        return _json(await store().read_lane.run(store().views.blocks, session))

    @api.get("/v1/views/uses/{uid}", response_model=None)
    async def uses(uid: str) -> Response:
        return _json(await store().read_lane.run(store().views.uses, uid))

    @api.get("/v1/views/days", response_model=None)
    async def days(count: Annotated[int, Query(ge=1, le=MAX_DAYS)] = 14) -> Response:
        return _json(await store().read_lane.run(store().views.days, count))

    @api.get("/v1/views/reports", response_model=None)
    async def reports() -> Response:
        return _json(await store().read_lane.run(store().views.reports))

    @api.get("/v1/views/reports/{day:path}", response_model=None)
    async def report(day: str) -> Response:
        return _json(await store().read_lane.run(store().views.report, day))

    @api.get("/v1/views/audit", response_model=None)
    async def audit(
        before: Annotated[int | None, Query(ge=1)] = None,
        limit: Limit = 50,
        what: str | None = None,
        verb: str | None = None,
    ) -> Response:
        return _json(await store().read_lane.run(store().views.audit, before, limit, what, verb))


def _json(model: BaseModel) -> Response:
    """Models of ours are valid already: no second validation on the way out."""
    return Response(model.model_dump_json(), media_type="application/json")
