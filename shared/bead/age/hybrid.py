"""The hybrid post-quantum recipient `mlkem768x25519` and its identity, as age 1.3 has them.

A file is safe as long as one of ML-KEM-768 and X25519 is. Both, and what joins them (HPKE), come from `cryptography`;
here is only how keys are spelled and stanzas laid out. Source: C2SP age, "The mlkem768x25519 recipient type".
"""

import secrets
from collections.abc import Iterable
from functools import cache
from hashlib import shake_256
from typing import Protocol

from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from bead.age import bech32
from bead.age.errors import MalformedHeader, NoIdentityMatched, Unsupported
from bead.age.header import Stanza, from_base64, to_base64

FILE_KEY_BYTES = 16
_KIND = b"mlkem768x25519"
_PURPOSE = b"age-encryption.org/mlkem768x25519"
_RECIPIENT = "age1pq"
_IDENTITY = "AGE-SECRET-KEY-PQ-"
_SEED_BYTES = 32
_MLKEM_SEED_BYTES = 64
_MLKEM_PUBLIC_BYTES, _X25519_BYTES = 1184, 32
_MLKEM_CIPHERTEXT_BYTES = 1088
_ENCAPSULATED_BYTES = _MLKEM_CIPHERTEXT_BYTES + _X25519_BYTES
_BODY_BYTES = FILE_KEY_BYTES + 16
"""The file key and its tag."""


class Recipient:
    """Whoever a file is for; public."""

    def __init__(self, text: str) -> None:
        """From `age1pq1…`.

        Raises:
            MalformedHeader: it is no such key.
            Unsupported: this machine's OpenSSL has no ML-KEM.
        """
        data = bech32.decode(text.strip(), _RECIPIENT)
        if len(data) != _MLKEM_PUBLIC_BYTES + _X25519_BYTES:
            raise MalformedHeader("a recipient has the wrong length")
        self._text = text.strip()
        try:
            self._key = hpke.MLKEM768X25519PublicKey(
                MLKEM768PublicKey.from_public_bytes(data[:_MLKEM_PUBLIC_BYTES]),
                X25519PublicKey.from_public_bytes(data[_MLKEM_PUBLIC_BYTES:]),
            )
        except UnsupportedAlgorithm:
            raise _unsupported() from None
        except ValueError:
            raise MalformedHeader("a recipient is no point that ML-KEM knows") from None

    def __str__(self) -> str:
        return self._text

    def wrap(self, file_key: bytes) -> Stanza:
        """The file key, so that only this recipient can read it."""
        sealed = _suite().encrypt(file_key, self._key, info=_PURPOSE)
        return Stanza((_KIND, to_base64(sealed[:_ENCAPSULATED_BYTES])), sealed[_ENCAPSULATED_BYTES:])


class Identity:
    """What opens the files of its recipient; secret, and in no repr."""

    def __init__(self, seed: bytes) -> None:
        """From the 32 bytes that everything else follows from.

        Raises:
            Unsupported: this machine's OpenSSL has no ML-KEM.
        """
        assert len(seed) == _SEED_BYTES, "a seed has 32 bytes"
        expanded = shake_256(seed).digest(_MLKEM_SEED_BYTES + _X25519_BYTES)
        self._seed = seed
        try:
            self._mlkem = MLKEM768PrivateKey.from_seed_bytes(expanded[:_MLKEM_SEED_BYTES])
        except UnsupportedAlgorithm:
            raise _unsupported() from None
        self._x25519 = X25519PrivateKey.from_private_bytes(expanded[_MLKEM_SEED_BYTES:])

    @classmethod
    def generate(cls) -> "Identity":
        """A new one."""
        return cls(secrets.token_bytes(_SEED_BYTES))

    @classmethod
    def parse(cls, text: str) -> "Identity":
        """From `AGE-SECRET-KEY-PQ-1…`.

        Raises:
            MalformedHeader: it is no such key.
        """
        seed = bech32.decode(text.strip(), _IDENTITY)
        if len(seed) != _SEED_BYTES:
            raise MalformedHeader("an identity has the wrong length")
        return cls(seed)

    def reveal(self) -> str:
        """`AGE-SECRET-KEY-PQ-1…`; not `str`, so that nothing prints it by accident."""
        return bech32.encode(_IDENTITY, self._seed)

    def __repr__(self) -> str:
        return "<Identity>"

    def recipient(self) -> Recipient:
        """Its public half."""
        keys = self._mlkem.public_key().public_bytes_raw() + self._x25519.public_key().public_bytes_raw()
        return Recipient(bech32.encode(_RECIPIENT, keys))

    def unwrap(self, stanzas: Iterable[Stanza]) -> bytes | None:
        """The file key in the first of these stanzas that is for this identity; None when none is.

        Raises:
            MalformedHeader: a stanza of this kind breaks the format.
        """
        for stanza in stanzas:
            if stanza.args[0] == _KIND and (file_key := self._open(stanza)) is not None:
                return file_key
        return None

    def _open(self, stanza: Stanza) -> bytes | None:
        if len(stanza.args) != 2:
            raise MalformedHeader("a stanza has the wrong number of words")
        encapsulated = from_base64(stanza.args[1])
        if len(encapsulated) != _ENCAPSULATED_BYTES or len(stanza.body) != _BODY_BYTES:
            raise MalformedHeader("a stanza has the wrong length")
        self._require_sound_share(encapsulated[_MLKEM_CIPHERTEXT_BYTES:])
        key = hpke.MLKEM768X25519PrivateKey(self._mlkem, self._x25519)
        try:
            return _suite().decrypt(encapsulated + stanza.body, key, info=_PURPOSE)
        except InvalidTag:
            return None

    def _require_sound_share(self, share: bytes) -> None:
        """HPKE answers a share of low order like one for somebody else; the format calls it malformed."""
        try:
            self._x25519.exchange(X25519PublicKey.from_public_bytes(share))
        except ValueError:
            raise MalformedHeader("a stanza's X25519 share is of low order") from None


class Opener(Protocol):
    """What may open a file."""

    def unwrap(self, stanzas: Iterable[Stanza]) -> bytes | None:
        """See `Identity.unwrap`."""
        ...


def file_key_of(stanzas: tuple[Stanza, ...], identities: Iterable[Opener]) -> bytes:
    """The file key, from the first identity that opens a stanza.

    Raises:
        NoIdentityMatched: none does.
        MalformedHeader: a stanza breaks the format.
    """
    if any(stanza.args[0] == b"scrypt" for stanza in stanzas) and len(stanzas) > 1:
        raise MalformedHeader("a stanza for a passphrase must be the only one")
    for identity in identities:
        file_key = identity.unwrap(stanzas)
        if file_key is not None:
            return file_key
    raise NoIdentityMatched("none of the identities opens this file")


def require_support() -> None:
    """Raises Unsupported when files of this kind can be neither written nor read on this machine."""
    Identity(bytes(_SEED_BYTES)).recipient().wrap(bytes(FILE_KEY_BYTES))


@cache
def _suite() -> hpke.Suite:
    return hpke.Suite(hpke.KEM.MLKEM768_X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.CHACHA20_POLY1305)


def _unsupported() -> Unsupported:
    return Unsupported(
        "the OpenSSL that Python's `cryptography` uses here has no ML-KEM-768, so the vault cannot be made or opened; "
        "install the `cryptography` wheel that bead's lock names instead of a distribution's build"
    )
