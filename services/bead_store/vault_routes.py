"""The vault's routes; every one is for the person's door only (`access`)."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from fastapi import FastAPI, Response

from bead import keys
from bead.wire.vault import (
    NewRecipient,
    NewVault,
    Seal,
    SealAnswer,
    SealedFact,
    SealedList,
    Unseal,
    Unsealed,
    VaultIdentity,
    VaultState,
)

if TYPE_CHECKING:
    from bead_store.app import Store


def add_vault_routes(api: FastAPI, store: Callable[[], "Store"]) -> None:
    """Whether there is a vault, what is sealed, and what becomes sealed or plain."""

    @api.get("/v1/vault")
    async def state() -> VaultState:
        return await store().read_lane.run(store().vault.state)

    @api.post("/v1/vault")
    async def create(request: NewVault) -> VaultState:
        await store().fact_lane.run(store().vault.create, request.recipient, request.identity)
        return store().vault.state()

    @api.post("/v1/vault/recipient")
    async def restore_recipient(request: NewRecipient) -> VaultState:
        await store().fact_lane.run(store().vault.restore_recipient, request.recipient)
        return store().vault.state()

    @api.get("/v1/vault/identity", response_model=None)
    async def identity() -> Response:
        return _json(VaultIdentity(identity=await store().read_lane.run(store().vault.read_identity)))

    @api.get("/v1/vault/sealed")
    async def sealed() -> SealedList:
        return SealedList(sealed=store().vault.keys())

    @api.get("/v1/vault/sealed/{key:path}", response_model=None)
    async def sealed_fact(key: str) -> Response:
        return _json(await store().read_lane.run(store().vault.read, str(keys.parse(key))))

    @api.post("/v1/vault/seal")
    async def seal(request: Seal) -> SealAnswer:
        return await store().sealing.seal(request)

    @api.post("/v1/vault/unseal")
    async def unseal(request: Unseal) -> Unsealed:
        return await store().fact_lane.run(store().sealing.unseal, request)


def _json(model: VaultIdentity | SealedFact) -> Response:
    return Response(model.model_dump_json(), media_type="application/json")
