"""Client of the store's vault. What comes from it is encrypted; what opens it is the person's passphrase."""

from urllib.parse import quote

from bead.bus.transport import Transport, call
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

SEAL_TIMEOUT_S = 600.0
"""A seal reads the whole raw log, as a forget does."""


class VaultClient:
    """Every method raises the `BeadError` that the store raised."""

    def __init__(self, bus: Transport) -> None:
        self._bus = bus

    async def state(self) -> VaultState:
        """Whether there is a vault, and whom it seals for."""
        return VaultState.model_validate_json(await call(self._bus, "GET", "/v1/vault"))

    async def create(self, request: NewVault) -> VaultState:
        """Begin it.

        Raises:
            Exists: there is an identity, and it is never replaced.
        """
        body = request.model_dump_json().encode()
        return VaultState.model_validate_json(await call(self._bus, "POST", "/v1/vault", body))

    async def restore_recipient(self, request: NewRecipient) -> VaultState:
        """Write the public key of the identity down again."""
        body = request.model_dump_json().encode()
        return VaultState.model_validate_json(await call(self._bus, "POST", "/v1/vault/recipient", body))

    async def identity(self) -> bytes:
        """The identity, under the person's passphrase.

        Raises:
            NoVault: there is none.
        """
        return VaultIdentity.model_validate_json(await call(self._bus, "GET", "/v1/vault/identity")).identity

    async def sealed(self) -> SealedList:
        """What is sealed, by key."""
        return SealedList.model_validate_json(await call(self._bus, "GET", "/v1/vault/sealed"))

    async def sealed_fact(self, key: str) -> SealedFact:
        """Every version's age file.

        Raises:
            NotFound: the key is not sealed.
        """
        path = f"/v1/vault/sealed/{quote(key, safe='')}"
        return SealedFact.model_validate_json(await call(self._bus, "GET", path))

    async def seal(self, request: Seal) -> SealAnswer:
        """Move a fact into the vault; nothing is left of it in the clear when this returns."""
        body = request.model_dump_json().encode()
        answer = await call(self._bus, "POST", "/v1/vault/seal", body, timeout_s=SEAL_TIMEOUT_S)
        return SealAnswer.model_validate_json(answer)

    async def unseal(self, request: Unseal) -> Unsealed:
        """Make it a plain fact again."""
        body = request.model_dump_json().encode()
        return Unsealed.model_validate_json(await call(self._bus, "POST", "/v1/vault/unseal", body))
