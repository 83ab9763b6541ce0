"""The two guards of `remember`: what was probably a slip is not kept as a memory, whichever way it comes in.

Pure. Agents and people send `status` or `deploy-day` when they mean to run or to read.
Source: seeds/beads-memory-plane.txt section 2.
"""

from bead.errors import InvalidKey
from bead.keys import derive_name, parse

COMMANDS = frozenset(
    "audit backup bench completion curate doctor down drafts drain dream eval explain export forget history hook import"
    " index logs mark mcp memories migrate owner pin prime proxy queue read recall reinforce rekey remember restore"
    " review scan seal sealed search serve setup show status statusline sync trace unpin unseal unsetup up vault"
    " version wrap write".split()
)
"""Every command there is or will be, as one word."""
_PROGRAM = "bead"
_QUOTES = "`'\""


def is_command(text: str) -> bool:
    """Whether the whole text names a command: alone, in quotes, or behind the name of the program."""
    words = text.strip().strip(_QUOTES).lower().split()
    return (len(words) == 1 and words[0] in COMMANDS) or (
        len(words) == 2 and words[0] == _PROGRAM and words[1] in COMMANDS
    )


def is_bare_key(text: str) -> bool:
    """Whether the text is one token that reads as a key: a name that derives to itself, or a key with its scope."""
    token = bare(text)
    if not token or token.split() != [token]:
        return False
    if "/" not in token:
        return derive_name(token) == token
    try:
        parse(token)
    except InvalidKey:
        return False
    return True


def bare(text: str) -> str:
    """A token without blanks and without the quotes that somebody put around it."""
    return text.strip().strip(_QUOTES).strip()
