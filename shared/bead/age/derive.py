"""HKDF-SHA-256 with 32 bytes out, the one key derivation of the format."""

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_KEY_BYTES = 32


def derive(secret: bytes, salt: bytes | None, purpose: bytes) -> bytes:
    """A key for one purpose."""
    return HKDF(SHA256(), _KEY_BYTES, salt, purpose).derive(secret)
