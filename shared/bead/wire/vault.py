"""What the store is asked about the vault. It can seal and never open: what it gives out is encrypted.

Bytes travel as base64 (URL-safe). Text in the clear travels one way only, into the store: a secret to be sealed
(`WriteFact`), and what a person unseals.
"""

from pydantic import ConfigDict, Field

from bead.wire.store import IndexState, Model

MAX_IDENTITY_BYTES = 64 << 10


class _WithBytes(Model):
    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")


class VaultState(Model):
    """`GET /v1/vault`."""

    recipient: str | None
    """Public key that facts are sealed for; None before `init`."""
    has_identity: bool


class NewVault(_WithBytes):
    """`POST /v1/vault`: begin the vault with this pair; an identity that is there is never replaced."""

    recipient: str
    identity: bytes = Field(max_length=MAX_IDENTITY_BYTES)
    """An age file under the person's passphrase."""


class NewRecipient(Model):
    """`POST /v1/vault/recipient`: the public key of the identity that is there, where its file is missing."""

    recipient: str


class VaultIdentity(_WithBytes):
    """`GET /v1/vault/identity`: the secret key under the person's passphrase."""

    identity: bytes


class SealedKey(Model):
    """A key in the vault; what it holds is not known here."""

    key: str
    versions: tuple[int, ...]


class SealedList(Model):
    """`GET /v1/vault/sealed`, by key."""

    sealed: tuple[SealedKey, ...]


class SealedVersion(_WithBytes):
    """One version's age file."""

    version: int
    data: bytes


class SealedFact(Model):
    """`GET /v1/vault/sealed/{key}`: every version, oldest first."""

    key: str
    versions: tuple[SealedVersion, ...]


class Seal(Model):
    """`POST /v1/vault/seal`: move a fact with its whole history into the vault."""

    key: str


class SealAnswer(Model):
    """What a seal has done."""

    key: str
    versions: int
    redacted: int
    """Turns, blocks, documents that held the text and do not any more."""
    left: tuple[str, ...] = ()
    """What still holds it and why; a person has to look."""
    level: int
    """2 when bytes were overwritten where they lay, see `ForgetReceipt`."""
    index: IndexState


class OpenVersion(Model):
    """One version as it was before it was sealed."""

    version: int
    text: str

    def __repr__(self) -> str:  # the text is a secret
        return f"OpenVersion(version={self.version})"

    __str__ = __repr__


class Unseal(Model):
    """`POST /v1/vault/unseal`: put every version back as plaintext, as the caller has decrypted them."""

    key: str
    versions: tuple[OpenVersion, ...] = Field(min_length=1)


class Unsealed(Model):
    """The key is a plain fact again."""

    key: str
    versions: int
