"""What can be wrong with an age file. None of these carries a key, a passphrase or a byte of the text.

    AgeError
    ├── MalformedHeader       no age v1 file, or a header that breaks the format
    ├── NoIdentityMatched     well formed, and for somebody else (or under another passphrase)
    ├── HeaderChanged         the header is not the one that was written
    ├── DamagedPayload        the text was changed, cut or added to
    └── Unsupported           this machine's OpenSSL lacks what the format needs

Their texts speak of the form of a file and are for people.
"""


class AgeError(Exception):
    """Root of this package's errors."""


class MalformedHeader(AgeError):
    """The header breaks the format."""


class NoIdentityMatched(AgeError):
    """None of the identities opens it."""


class HeaderChanged(AgeError):
    """The header's authentication code does not fit."""


class DamagedPayload(AgeError):
    """A chunk does not authenticate; what was given out before it must be discarded."""


class Unsupported(AgeError):
    """A primitive is missing."""
