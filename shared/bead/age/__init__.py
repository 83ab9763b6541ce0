"""age v1 files with hybrid post-quantum recipients: bytes in, bytes out; whole or as streams. Touches no disk.

`age` 1.3 and later opens what is written here, and the other way round. The format lies in `header` and `payload`, the
recipients in `hybrid`, files under a passphrase in `passphrase`, and how keys are spelled in `bech32`; the primitives
are those of `cryptography`. Which files there are, and who may open them, is the callers' affair.
"""

import io
import secrets
from collections.abc import Sequence
from typing import BinaryIO

from bead.age import header, payload
from bead.age.errors import AgeError, MalformedHeader, NoIdentityMatched
from bead.age.hybrid import FILE_KEY_BYTES, Identity, Opener, Recipient, file_key_of, require_support

__all__ = [
    "AgeError",
    "Identity",
    "MalformedHeader",
    "NoIdentityMatched",
    "Opener",
    "Recipient",
    "decrypt",
    "decrypt_stream",
    "encrypt",
    "encrypt_stream",
    "require_support",
]


def encrypt(data: bytes, recipients: Sequence[Recipient]) -> bytes:
    """`data` as an age file that each of the recipients can open."""
    target = io.BytesIO()
    encrypt_stream(io.BytesIO(data), target, recipients)
    return target.getvalue()


def decrypt(data: bytes, identities: Sequence[Opener]) -> bytes:
    """The whole text of an age file, once every byte of it is verified.

    Raises:
        NoIdentityMatched: it is for somebody else.
        AgeError: it is no age file, or was changed, cut or added to.
    """
    target = io.BytesIO()
    decrypt_stream(io.BytesIO(data), target, identities)
    return target.getvalue()


def encrypt_stream(source: BinaryIO, target: BinaryIO, recipients: Sequence[Recipient]) -> None:
    """Write what is left of `source` as an age file; holds two chunks of 64 KiB in memory."""
    assert recipients, "a file is for somebody"
    file_key = secrets.token_bytes(FILE_KEY_BYTES)
    target.write(header.render((recipient.wrap(file_key) for recipient in recipients), file_key))
    payload.write(source, target, file_key)


def decrypt_stream(source: BinaryIO, target: BinaryIO, identities: Sequence[Opener]) -> None:
    """Write the text of an age file, chunk by verified chunk.

    Raises:
        NoIdentityMatched: it is for somebody else; nothing was written.
        AgeError: it is no age file, or was changed, cut or added to: discard what was written.
    """
    head = header.read(source)
    file_key = file_key_of(head.stanzas, identities)
    if len(file_key) != FILE_KEY_BYTES:
        raise MalformedHeader("the file key has the wrong length")
    head.require_written_with(file_key)
    payload.read(source, target, file_key)
