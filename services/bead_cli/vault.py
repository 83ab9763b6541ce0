"""What only the person's own process does with the vault: make its keys, and open what is sealed.

The store is asked for encrypted bytes; the passphrase, the identity and what they open stay in this process.
"""

import base64
from datetime import UTC, datetime
from typing import Any, NamedTuple

from bead import age
from bead.age import passphrase as under_passphrase
from bead.errors import DamagedFile, NotFound, Refused, WrongPassphrase
from bead.facts import FactVersion
from bead_cli import passphrase
from bead_cli.context import Context
from bead_cli.door import Door
from bead_cli.lookup import active_project, is_whole_key
from bead_cli.loopback import quoted
from bead_store.frontmatter import parse_fact
from bead_store.vault import place_inside

_IDENTITY = "AGE-SECRET-KEY-PQ-1"


class Opened(NamedTuple):
    """One decrypted version."""

    version: int
    text: str
    """Its whole file."""

    def __repr__(self) -> str:
        return f"Opened(version={self.version})"


def require_support() -> None:
    """Raises Refused when this machine cannot make a vault."""
    try:
        age.require_support()
    except age.AgeError as error:
        raise Refused(str(error)) from None


def make_identity() -> tuple[str, str]:
    """A new recipient, and the identity file that opens what is sealed for it, as age-keygen writes one."""
    identity = age.Identity.generate()
    recipient = str(identity.recipient())
    made = datetime.now(UTC).isoformat(timespec="seconds")
    return recipient, f"# created: {made}\n# public key: {recipient}\n{identity.reveal()}\n"


def encrypted_identity(text: str, words: str) -> str:
    """An identity file under a passphrase, as it travels."""
    return base64.urlsafe_b64encode(under_passphrase.encrypt(text.encode(), words)).decode()


def open_identity(door: Door) -> age.Identity:
    """The identity, once the person has typed the passphrase.

    Raises:
        NoVault, NoTerminal, WrongPassphrase.
        DamagedFile: the identity file cannot be read.
    """
    passphrase.require_terminal("the vault's passphrase")
    data = _bytes(door.call("store", "GET", "/v1/vault/identity")["identity"])
    words = passphrase.ask("passphrase of the vault: ")
    try:
        text = under_passphrase.decrypt(data, words).decode("utf-8", "replace")
        lines = [line.strip() for line in text.splitlines()]
        return age.Identity.parse(next(line for line in lines if line.startswith(_IDENTITY)))
    except age.NoIdentityMatched:
        raise WrongPassphrase("this passphrase does not open the vault") from None
    except (age.AgeError, StopIteration):
        raise _damaged("identity.age") from None


def sealed_key(context: Context, door: Door, text: str, project: str | None) -> str:
    """The sealed key that `text` names: a key, or a name in the project, `user/` or `global/`.

    Raises:
        NotFound: none is.
    """
    sealed = {each["key"] for each in door.call("store", "GET", "/v1/vault/sealed")["sealed"]}
    active = None if is_whole_key(text) else active_project(door, project)
    scopes = [*([f"project/{active}"] if active else []), "user", "global"]
    wanted = [text] if is_whole_key(text) else [f"{scope}/{text}" for scope in scopes]
    for key in wanted:
        if key in sealed:
            return key
    raise NotFound(f"nothing is sealed under '{text}'; 'bead sealed list' names what is")


def open_versions(door: Door, key: str, identity: age.Identity) -> list[Opened]:
    """Every version of a sealed key, decrypted, oldest first.

    Raises:
        DamagedFile: one was changed, cut, or is for another identity.
    """
    sealed = door.call("store", "GET", f"/v1/vault/sealed/{quoted(key)}")
    return [_opened(key, each, identity) for each in sealed["versions"]]


def fact_in(opened: Opened, key: str) -> FactVersion:
    """What a decrypted file says, under the key it is sealed under now."""
    data = opened.text.encode()
    fact = parse_fact(data, place_inside(key, opened.version, data, "", datetime.now(UTC)))
    return fact.model_copy(update={"key": key})


def _opened(key: str, version: dict[str, Any], identity: age.Identity) -> Opened:
    number = int(version["version"])
    try:
        return Opened(number, age.decrypt(_bytes(version["data"]), [identity]).decode())
    except (age.AgeError, UnicodeDecodeError):
        raise _damaged(f"sealed/{key}/v{number}.md.age") from None


def _damaged(name: str) -> DamagedFile:
    reason = "was changed, cut, or is sealed for another identity; restore it from a backup"
    return DamagedFile(f"vault/{name} {reason}", path=f"vault/{name}", line=None, reason=reason)


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text)
