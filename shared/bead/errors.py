"""One error tree for every service: what a person reads, what a caller catches, and how it travels.

    BeadError
    ├── Refused        change the request: bad key, tombstoned value, not found, not allowed      exit 1 (2 for usage)
    ├── Unavailable    try again: the store is locked, a service is down, a write failed           exit 3
    └── Corrupt        a person must look: a file cannot be read, a chain does not verify          exit 4

Each class has a stable `code`. The bus sends it as an RFC 9457 problem document and the client raises the
same class again. No error ever carries a fact's text, a header or a credential: ids, keys' owners and paths only.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

JsonObject = dict[str, Any]

_TYPE_PREFIX = "urn:bead:error:"


class BeadError(Exception):
    """Root of everything bead raises on purpose."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, **facts: Any) -> None:
        """`message` is for people: what happened, which file or key, what to do; `facts` are for programs."""
        super().__init__(message)
        self.message = message
        self.facts: JsonObject = facts


class Refused(BeadError):
    """The request cannot be done as asked; nothing was changed."""

    code, status, exit_code = "refused", 400, 1


class BadRequest(Refused):
    """The request is not well formed (a missing field, a wrong type, an unknown option)."""

    code, status, exit_code = "bad-request", 400, 2


class TooLarge(Refused):
    """More than one request may send."""

    code, status, exit_code = "too-large", 413, 2


class InvalidKey(Refused):
    """A key breaks the rules of `bead.keys`."""

    code, status, exit_code = "invalid-key", 400, 2


class NotAllowed(Refused):
    """The caller's token does not cover this call, or the request came from a browser or a foreign host."""

    code, status, exit_code = "not-allowed", 403, 1


class NotFound(Refused):
    """Nothing is stored under that name."""

    code, status, exit_code = "not-found", 404, 1


class Exists(Refused):
    """The target is taken and bead never writes over it."""

    code, status, exit_code = "exists", 409, 1


class Tombstoned(Refused):
    """The value was forgotten; only the person can state it again (I5)."""

    code, status, exit_code = "tombstoned", 409, 1


class NotConfirmed(Refused):
    """The confirmation is unknown, used, too old, or for something else than what would be done now (I7)."""

    code, status, exit_code = "not-confirmed", 409, 1


class HoldsCredential(Refused):
    """The text holds what looks like a password, key or token; it belongs into the vault, not into a fact (I13)."""

    code, status, exit_code = "holds-credential", 400, 1


class Sealed(Refused):
    """The key is in the vault; a plaintext write would leave two truths."""

    code, status, exit_code = "sealed", 409, 1


class NoVault(Refused):
    """Nothing can be sealed before the vault is begun."""

    code, status, exit_code = "no-vault", 409, 1


class WrongPassphrase(Refused):
    """The passphrase does not open the vault's identity."""

    code, status, exit_code = "wrong-passphrase", 403, 1


class WrongVersion(Refused):
    """Two services are of versions that do not understand each other."""

    code, status, exit_code = "wrong-version", 409, 3


class NoTerminal(Refused):
    """A passphrase is typed by a person, and nobody sits at a terminal."""

    code, status, exit_code = "no-terminal", 400, 1


class StaleConversation(Refused):
    """A conditional commit lost: `facts["state"]` holds the conversation as the store has it now (D6)."""

    code, status, exit_code = "stale-conversation", 409, 3


class Unavailable(BeadError):
    """It may work later: nothing is wrong with the request."""

    code, status, exit_code = "unavailable", 503, 3


class StoreLocked(Unavailable):
    """Another process holds the home's lock."""

    code, status, exit_code = "store-locked", 503, 3


class ServiceDown(Unavailable):
    """A service did not answer, or answered too late."""

    code, status, exit_code = "service-down", 503, 3


class RunInProgress(Unavailable):
    """A dream run is at work; only one runs at a time."""

    code, status, exit_code = "run-in-progress", 409, 3


class ModelTrouble(Unavailable):
    """A model did not answer, answered an error, or there is no key for it."""

    code, status, exit_code = "model-trouble", 503, 3


class WritesStopped(Unavailable):
    """A write to disk failed, so the store accepts no more until it is started again."""

    code, status, exit_code = "writes-stopped", 503, 3


class HomeUnusable(Unavailable):
    """The home cannot be written, belongs to somebody else, or is open to others."""

    code, status, exit_code = "home-unusable", 503, 3


class Corrupt(BeadError):
    """A file needs a person. `facts` names `path`, and `line` where known."""

    code, status, exit_code = "corrupt", 422, 4


class DamagedFile(Corrupt):
    """A Markdown file cannot be read as a fact; it was left untouched."""

    code, status, exit_code = "damaged-file", 422, 4


def _classes(root: type[BeadError]) -> dict[str, type[BeadError]]:
    found = {root.code: root}
    for child in root.__subclasses__():
        found |= _classes(child)
    return found


def to_problem(error: BeadError) -> JsonObject:
    """`error` as an RFC 9457 problem document."""
    return {
        "type": _TYPE_PREFIX + error.code,
        "title": error.code.replace("-", " "),
        "status": error.status,
        "detail": error.message,
        **({"facts": error.facts} if error.facts else {}),
    }


def from_problem(document: Mapping[str, Any], status: int) -> BeadError:
    """The error a problem document stands for; an unknown type becomes its branch by `status`."""
    code = str(document.get("type", "")).removeprefix(_TYPE_PREFIX)
    detail = str(document.get("detail") or f"the service answered {status}")
    facts = document.get("facts")
    known = _classes(BeadError).get(code)
    if known is None:
        known = Refused if 400 <= status < 500 else Unavailable
    return known(detail, **(facts if isinstance(facts, dict) else {}))
