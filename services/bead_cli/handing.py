"""Gives each container the one token it shows and the fingerprints of those it may be shown, never the bus secret.

The store's container writes them into a folder for each service (`BEAD_TOKENS_FOR`), of which every other container
sees its own, read-only (`BEAD_TOKENS`). What the tokens are worth is `bead.bus.guard`'s.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bead.bus.guard import fingerprint, scoped_token
from bead.errors import HomeUnusable
from bead_cli.context import Context

if TYPE_CHECKING:
    from bead_store.home import Prepared

SERVICES = ("index", "dream", "curate", "scheduler", "proxy")
_CALLERS = "callers.json"


def hand_out(folder: str, prepared: "Prepared") -> None:
    """Write what each service needs into `folder`/<service>.

    Raises:
        HomeUnusable: a folder is missing or cannot be written.
    """
    known = json.dumps({name: fingerprint(scoped_token(prepared.bus_secret, name)) for name in SERVICES})
    extra = {"proxy": {"proxy": prepared.proxy_token}, "curate": {"admin": prepared.admin_token}}
    for service in SERVICES:
        own = {"bus": scoped_token(prepared.bus_secret, service), _CALLERS: known, **extra.get(service, {})}
        for name, text in own.items():
            _write(Path(folder, service, name), text)


def callers_of(context: Context) -> Mapping[str, str] | None:
    """The fingerprints that were handed to this service; None where it has the secret itself.

    Raises:
        HomeUnusable: they cannot be read.
    """
    folder = context.environ.get("BEAD_TOKENS")
    if not folder:
        return None
    try:
        known = json.loads(Path(folder, _CALLERS).read_text(encoding="ascii"))
        return {str(name): str(value) for name, value in known.items()}
    except (OSError, ValueError, AttributeError) as error:
        raise HomeUnusable(f"{folder}/{_CALLERS} cannot be read ({type(error).__name__}); the store makes it") from None


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with open(handle, "w", encoding="ascii") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        raise HomeUnusable(
            f"{path.parent} cannot be written by uid {os.geteuid()} ({error.strerror}); after a change of BEAD_UID "
            "build the image again and remove the volumes of tokens"
        ) from None
