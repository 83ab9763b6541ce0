"""Files under a passphrase: age's `scrypt` stanza, written and read by pyrage.

pyrage takes a work factor of about a second on the machine that writes. What it would accept to read depends on the
machine as well, and a forged file could ask for all of its memory: the bound is kept here. Source: C2SP age, "The
scrypt recipient type".
"""

import io
import re

import pyrage  # type: ignore[import-untyped]  # it has no stubs

from bead.age import header
from bead.age.errors import AgeError, MalformedHeader, NoIdentityMatched

_MOST_WORK = 22
"""Binary logarithm of scrypt's N; age's own bound, four gigabytes of memory."""
_WORK = re.compile(rb"[1-9][0-9]?\Z")
_SALT_BYTES, _BODY_BYTES = 16, 32


def encrypt(data: bytes, passphrase: str) -> bytes:
    """`data` as an age file that only the passphrase opens. Takes about a second, on purpose."""
    return bytes(pyrage.passphrase.encrypt(data, passphrase))


def decrypt(data: bytes, passphrase: str) -> bytes:
    """The text of such a file.

    Raises:
        NoIdentityMatched: the passphrase is another one.
        AgeError: the file is damaged, or no such file.
    """
    _check(header.read(io.BytesIO(data)).stanzas)
    try:
        return bytes(pyrage.passphrase.decrypt(data, passphrase))
    except pyrage.DecryptError as error:
        # pyrage has one class for everything; its text speaks of the file's form only.
        if str(error) == "Decryption failed":
            raise NoIdentityMatched("the passphrase does not open this file") from None
        raise AgeError("this file under a passphrase is damaged") from None


def _check(stanzas: tuple[header.Stanza, ...]) -> None:
    kinds = [stanza.args[0] for stanza in stanzas]
    if b"scrypt" not in kinds:
        raise NoIdentityMatched("this file is not under a passphrase")
    if len(kinds) > 1:
        raise MalformedHeader("a stanza for a passphrase must be the only one")
    [stanza] = stanzas
    if len(stanza.args) != 3 or not _WORK.match(stanza.args[2]):
        raise MalformedHeader("the stanza for a passphrase has the wrong words")
    if len(header.from_base64(stanza.args[1])) != _SALT_BYTES or len(stanza.body) != _BODY_BYTES:
        raise MalformedHeader("the stanza for a passphrase has the wrong length")
    if int(stanza.args[2]) > _MOST_WORK:
        raise MalformedHeader("this file asks for more work than a passphrase is worth")
