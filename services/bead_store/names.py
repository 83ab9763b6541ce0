"""File names for ids that come from outside: sessions, threads, turns. Pure."""

import re
from hashlib import sha256

_SAFE_FILE = re.compile(r"[a-z0-9][a-z0-9._-]{0,119}\Z")
_SAFE_WORD = re.compile(r"[A-Za-z0-9_.:+/@-]{1,120}\Z")


def file_name(text: str) -> str:
    """`text` when it is a harmless lower-case file name, else a hash of it; a result maps to itself.

    Upper case is hashed as well: on many disks `A` and `a` are one file.
    """
    return text if _SAFE_FILE.match(text) else _hashed(text)


def conversation_name(session: str, thread: str) -> str:
    """The file name of a conversation: it begins with that of its session, so that a session's are found by it.

    Only where the session's alone is longer than any agent makes one does it not.
    """
    name = file_name(session)
    whole = f"{name}-{thread}"
    return whole if _SAFE_FILE.match(whole) else file_name(f"{name}-{_hashed(thread)}")


def word(text: str) -> str:
    """`text` when it is one harmless word of a marker line, else a hash of it."""
    return text if _SAFE_WORD.match(text) else _hashed(text)


def _hashed(text: str) -> str:
    return "x-" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
