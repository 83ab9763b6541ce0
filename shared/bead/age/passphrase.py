"""Files under a passphrase: age's `scrypt` stanza, written and read by pyrage.

pyrage takes a work factor of about a second on the machine that writes, and refuses to read one that takes many times
that. Source: C2SP age, "The scrypt recipient type".
"""

import pyrage  # type: ignore[import-untyped]  # it has no stubs

from bead.age.errors import AgeError, NoIdentityMatched


def encrypt(data: bytes, passphrase: str) -> bytes:
    """`data` as an age file that only the passphrase opens. Takes about a second, on purpose."""
    return bytes(pyrage.passphrase.encrypt(data, passphrase))


def decrypt(data: bytes, passphrase: str) -> bytes:
    """The text of such a file.

    Raises:
        NoIdentityMatched: the passphrase is another one.
        AgeError: the file is damaged, or no such file.
    """
    try:
        return bytes(pyrage.passphrase.decrypt(data, passphrase))
    except pyrage.DecryptError as error:
        # Its text speaks of the file's form only; pyrage has one class for everything.
        if "No matching keys" in str(error) or "Decryption failed" in str(error):
            raise NoIdentityMatched("the passphrase does not open this file") from None
        raise AgeError("this is no age file under a passphrase, or it is damaged") from None
