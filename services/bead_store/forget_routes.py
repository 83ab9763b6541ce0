"""Forget by text and by session on the bus; translates only."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI

from bead.errors import BadRequest
from bead.wire.forget import ConfirmSelected, NoteCopy, SelectForget, SelectPreview
from bead.wire.store import ForgetReceipt

if TYPE_CHECKING:
    from bead_store.app import Store


def add_forget_routes(api: FastAPI, store: Callable[[], "Store"]) -> None:
    """`/v1/forget/select` and its preview."""

    @api.post("/v1/forget/select/preview")
    async def preview_selected(request: SelectForget) -> SelectPreview:
        return await store().forgetting.preview_selected(request)

    @api.post("/v1/forget/select")
    async def forget_selected(request: ConfirmSelected) -> ForgetReceipt:
        return await store().forgetting.forget_selected(request)

    @api.post("/v1/copies", status_code=204)
    async def note_copy(request: NoteCopy) -> None:
        path = Path(request.path)
        if not path.is_absolute():
            raise BadRequest("'path' of an export must be absolute")
        await store().fact_lane.run(store().copies.note, request.kind, path)
