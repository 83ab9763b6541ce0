"""Asks the person at the terminal, without echo. Where nobody sits at one, it refuses at once and never waits."""

import getpass
import sys
import unicodedata

from bead.errors import NoTerminal, Refused
from bead.secrecy import forbid_core_dumps

MIN_CHARACTERS = 12


def require_terminal(what: str) -> None:
    """Raises NoTerminal when there is nobody to ask for `what`. No memory of this process is dumped from here on."""
    forbid_core_dumps()
    if not sys.stdin.isatty():
        raise NoTerminal(f"{what} is typed at a terminal, and standard input is none; run this in a terminal of yours")


def ask_new() -> str:
    """A passphrase, typed twice.

    Raises:
        Refused: it is too short, or the two differ.
    """
    passphrase = ask(f"passphrase for the vault ({MIN_CHARACTERS} characters or more): ")
    if len(passphrase) < MIN_CHARACTERS:
        raise Refused(f"a passphrase has {MIN_CHARACTERS} characters or more, this one has {len(passphrase)}")
    if ask("the same once more: ") != passphrase:
        raise Refused("the two passphrases differ; nothing was written")
    return passphrase


def ask(question: str, what: str = "a passphrase") -> str:
    """One line, in the Unicode form in which every keyboard's spelling of it is the same (NFC)."""
    require_terminal(what)
    try:
        return unicodedata.normalize("NFC", getpass.getpass(question))
    except EOFError:
        raise Refused("nothing was typed") from None
