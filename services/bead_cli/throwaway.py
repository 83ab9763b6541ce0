"""A configuration that only one process sees, for harnesses that read their address from a file alone.

The person's own file is read, addresses are put into a copy, and the copy lies in memory: it holds API keys, and must
not be on a disk a second time. What is on the disk is a link to it, which leads nowhere once the process has ended. A
harness that writes its settings anew would put a file in the link's place: its copy lies in a folder of memory, and is
taken away when the harness has ended.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from bead.errors import BadRequest

_FOLDER = "wrap"
_MOST_BYTES = 4 << 20
_CLINE = "CLINE_PROVIDER_SETTINGS_PATH"
_AFTER = 'while kill -0 "$0" 2>/dev/null; do sleep 1; done; rm -rf -- "$1"'
_CONTINUE = {"anthropic": "anthropic/v1/", "openai": "openai/v1/", "gemini": "gemini/v1beta/"}
"""Behind the proxy's address, by Continue's names of providers."""


class Asked(NamedTuple):
    """What a configuration is made for."""

    home: str
    base_url: str
    """The proxy's, with the capability."""
    upstreams: Mapping[str, str]
    """Where the proxy sends what came to `/<name>`; another server's requests must not go through it."""
    environ: Mapping[str, str]
    rest: list[str]
    """The person's arguments."""


class Made(NamedTuple):
    """How the harness is started so that it reads it."""

    arguments: list[str]
    environ: dict[str, str]


def made(kind: str, asked: Asked) -> Made:
    """A configuration of that `kind`.

    Raises:
        BadRequest: there is nothing of the person's to make one of, or no model in it that bead could stand before.
        OSError: there is no place for it.
    """
    makers: Mapping[str, Callable[[Asked], Made]] = {"continue": _continue, "cline": _cline}
    return makers[kind](asked)


def _continue(asked: Asked) -> Made:
    """`--config` of a copy in which every model of a known provider goes through bead."""
    path, others = _continue_config(asked)
    config = _yaml(path)
    models = config.get("models")
    changed = 0
    for model in models if isinstance(models, list) else []:
        address = _continue_address(asked, model) if isinstance(model, dict) else None
        if address is not None:
            model["apiBase"] = address
            changed += 1
    if not changed:
        raise BadRequest(f"no model in {path} is at an address that the proxy sends to")
    return Made(["--config", _kept(asked.home, "config.yaml", json.dumps(config, default=str)), *others], {})


def _continue_address(asked: Asked, model: Mapping[str, Any]) -> str | None:
    own = model.get("apiBase")
    if own:
        return _through(asked, str(own))
    path = _CONTINUE.get(str(model.get("provider")))
    return f"{asked.base_url}/{path}" if path else None


def _cline(asked: Asked) -> Made:
    """CLINE_PROVIDER_SETTINGS_PATH of a copy in which a provider of its own address goes through bead."""
    own = asked.environ.get(_CLINE)
    folder = asked.environ.get("CLINE_DIR") or os.path.join(_person(asked), ".cline")
    path = own or os.path.join(folder, "data", "settings", "providers.json")
    try:
        config = json.loads(_text(path))
        settings = [each["settings"] for each in config["providers"].values()]
        addresses = [_through(asked, str(each.get("baseUrl") or "")) for each in settings]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadRequest(f"{path} cannot be read ({type(error).__name__})") from None
    for each, address in zip(settings, addresses, strict=True):
        if address is not None:
            each["baseUrl"] = address
    if not any(addresses):
        raise BadRequest(f"no provider in {path} is at an address that the proxy sends to")
    return Made(asked.rest, {_CLINE: _watched(asked, "providers.json", json.dumps(config))})


def _watched(asked: Asked, name: str, text: str) -> str:
    """A file of ours alone in a folder of memory, taken away within seconds after this process, or what it becomes."""
    folders = (asked.environ.get("XDG_RUNTIME_DIR"), "/dev/shm")
    place = tempfile.mkdtemp(
        prefix="bead-wrap-", dir=next((each for each in folders if each and os.path.isdir(each)), None)
    )
    path = os.path.join(place, name)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    command = ["/bin/sh", "-c", _AFTER, str(os.getpid()), place]
    nothing = subprocess.DEVNULL
    subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
    return path


def _through(asked: Asked, address: str) -> str | None:
    """The proxy's address in place of a provider's; None when it is not one that the proxy sends to."""
    for name, upstream in asked.upstreams.items():
        server = upstream.rstrip("/")
        if address == server or address.startswith(f"{server}/"):
            return f"{asked.base_url}/{name}{address[len(server) :]}"
    return None


def _kept(home: str, name: str, text: str) -> str:
    """A path under which this process, and what it becomes, reads `text`; nobody else can."""
    folder = os.path.join(home, _FOLDER)
    os.makedirs(folder, 0o700, exist_ok=True)
    _clear(folder)
    place = tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=folder)
    path = os.path.join(place, name)
    if sys.platform != "linux":
        # No memory that has a name: a file of ours alone, which the next wrap takes away.
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        return path
    memory = os.memfd_create(name, 0)
    os.write(memory, text.encode())
    os.set_inheritable(memory, True)
    os.symlink(f"/proc/{os.getpid()}/fd/{memory}", path)
    return path


def _clear(folder: str) -> None:
    """Take away what processes that have ended left."""
    for name in os.listdir(folder):
        pid = name.partition("-")[0]
        if pid.isdigit() and not _lives(int(pid)):
            place = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                for each in os.listdir(place):
                    os.unlink(os.path.join(place, each))
                os.rmdir(place)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _continue_config(asked: Asked) -> tuple[str, list[str]]:
    """The person's file, and their arguments without it."""
    rest = asked.rest
    if "--config" in rest and rest.index("--config") + 1 < len(rest):
        at = rest.index("--config")
        return rest[at + 1], rest[:at] + rest[at + 2 :]
    folder = asked.environ.get("CONTINUE_GLOBAL_DIR") or os.path.join(_person(asked), ".continue")
    return os.path.join(folder, "config.yaml"), rest


def _person(asked: Asked) -> str:
    return asked.environ.get("HOME") or os.path.expanduser("~")


def _yaml(path: str) -> dict[str, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        found = YAML(typ="safe", pure=True).load(_text(path))
    except YAMLError as error:
        raise BadRequest(f"{path} cannot be read ({type(error).__name__})") from None
    if not isinstance(found, dict):
        raise BadRequest(f"{path} holds no settings")
    return found


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(_MOST_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path} cannot be read ({type(error).__name__})") from None
