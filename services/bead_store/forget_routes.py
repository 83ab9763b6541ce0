"""Forget by text and by session on the bus; translates only."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from fastapi import FastAPI

from bead.wire.forget import ConfirmSelected, SelectForget, SelectPreview
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
