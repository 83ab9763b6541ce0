"""What a person looks at, as the fake store has it: no fact was ever injected."""

from fastapi import FastAPI

from bead.wire.views import Uses


def add_fake_view_routes(api: FastAPI) -> None:
    """Where a fact was injected: nowhere."""

    @api.get("/v1/views/uses/{uid}")
    async def uses(uid: str) -> Uses:
        return Uses(uses=())
