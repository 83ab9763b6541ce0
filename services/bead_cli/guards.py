"""The two guards of `remember`: what was probably a slip is not kept as a memory.

Pure. Agents and people type `bead remember status` or `bead remember deploy-day` when they mean to run or to read.
Source: seeds/beads-memory-plane.txt section 2.
"""

from collections.abc import Collection

from bead.errors import InvalidKey
from bead.keys import derive_name, parse


def is_command(text: str, commands: Collection[str]) -> bool:
    """Whether the whole text is one word that names a command."""
    return text.strip().lower() in commands


def is_bare_key(text: str) -> bool:
    """Whether the text is one token that reads as a key: a name that derives to itself, or a key with its scope."""
    token = text.strip()
    if not token or token.split() != [token]:
        return False
    if "/" not in token:
        return derive_name(token) == token
    try:
        parse(token)
    except InvalidKey:
        return False
    return True
