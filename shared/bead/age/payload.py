"""The payload of an age v1 file: chunks of 64 KiB, each with its number and whether it is the last in its nonce.

Streams; holds two chunks in memory. Source: C2SP age, "Payload".
"""

import secrets
from typing import BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from bead.age.derive import derive
from bead.age.errors import DamagedPayload, MalformedHeader

CHUNK_BYTES = 64 << 10
_TAG_BYTES = 16
_NONCE_BYTES = 16
_COUNTER_BYTES = 11


def write(source: BinaryIO, target: BinaryIO, file_key: bytes) -> None:
    """Encrypt what is left of `source`."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    target.write(nonce)
    cipher = _cipher(file_key, nonce)
    number, chunk = 0, _whole(source, CHUNK_BYTES)
    while True:
        following = _whole(source, CHUNK_BYTES) if len(chunk) == CHUNK_BYTES else b""
        target.write(cipher.encrypt(_chunk_nonce(number, is_last=not following), chunk, None))
        if not following:
            return
        number, chunk = number + 1, following


def read(source: BinaryIO, target: BinaryIO, file_key: bytes) -> None:
    """Decrypt what is left of `source`, chunk by chunk.

    Raises:
        MalformedHeader: there is no payload.
        DamagedPayload: it was changed, cut or added to; what `target` has got by then must be discarded.
    """
    nonce = _whole(source, _NONCE_BYTES)
    if len(nonce) != _NONCE_BYTES:
        raise MalformedHeader("the file ends before its text begins")
    cipher = _cipher(file_key, nonce)
    size = CHUNK_BYTES + _TAG_BYTES
    number, chunk = 0, _whole(source, size)
    while True:
        following = _whole(source, size) if len(chunk) == size else b""
        try:
            text = cipher.decrypt(_chunk_nonce(number, is_last=not following), chunk, None)
        except InvalidTag:
            raise DamagedPayload(f"chunk {number + 1} was changed, cut or added to") from None
        if not text and number:
            raise DamagedPayload("the last chunk is empty")
        target.write(text)
        if not following:
            return
        number, chunk = number + 1, following


def _cipher(file_key: bytes, nonce: bytes) -> ChaCha20Poly1305:
    return ChaCha20Poly1305(derive(file_key, nonce, b"payload"))


def _chunk_nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(_COUNTER_BYTES, "big") + (b"\1" if is_last else b"\0")


def _whole(source: BinaryIO, size: int) -> bytes:
    """`size` bytes, fewer only at the end: a pipe gives what it has."""
    data = bytearray()
    while len(data) < size and (more := source.read(size - len(data))):
        data += more
    return bytes(data)
