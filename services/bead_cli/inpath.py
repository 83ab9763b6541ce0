"""Is the proxy between this agent and its provider? Then memory comes with the requests, and hooks tell nothing twice.

Three signs: the agent's environment, its own settings file where it takes its address from there, and turns of this
session that only the proxy can have captured.
"""

import os
from collections.abc import Mapping

from bead.errors import NotFound
from bead_cli import runtime
from bead_cli.context import Context
from bead_cli.door import Door
from bead_cli.loopback import quoted
from bead_cli.wrapping import HARNESSES, IN_PATH

_NO_TURN = 2**31
"""After every turn there is: the answer says only whether the session is known."""
_MOST_BYTES = 1 << 20
# Where an agent keeps the address of its provider when it is not in the environment.
_SETTINGS: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "codex": (("CODEX_HOME", ".codex", "config.toml"),),
    "gemini": (("", ".gemini", ".env"),),
    "qwen": (("", ".qwen", "settings.json"), ("", ".qwen", ".env")),
    "claude": (("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),),
}


def is_in_path(context: Context, harness: str = "") -> bool:
    """Whether this agent's requests go through bead anyway, as far as its environment and its settings tell."""
    if context.environ.get(IN_PATH):
        return True
    who = runtime.read(context.home)
    if who is None:
        return False
    port = who.place("proxy").port
    values = [context.environ.get(known.base_variable, "") for known in HARNESSES.values()]
    if any(f":{port}/" in f"{value}/" for value in values):
        return True
    return any(_names(path, port) for path in _files(context.environ, harness))


def has_seen(door: Door, session: str, timeout_s: float) -> bool:
    """Whether the proxy has captured a turn of the session.

    Raises:
        BeadError: nobody can say.
    """
    from bead_proxy.caller import session_name

    path = f"/v1/sessions/{quoted(session_name(session))}"
    try:
        door.call("store", "GET", path, query={"after": _NO_TURN}, timeout_s=timeout_s)
    except NotFound:
        return False
    return True


def _files(environ: Mapping[str, str], harness: str) -> list[str]:
    home = environ.get("HOME") or os.path.expanduser("~")
    return [
        os.path.join((variable and environ.get(variable)) or os.path.join(home, folder), name)
        for variable, folder, name in _SETTINGS.get(harness, ())
    ]


def _names(path: str, port: int) -> bool:
    """Whether a settings file speaks of that port of this machine."""
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST_BYTES)
    except OSError:
        return False
    return any(f"{host}:{port}/".encode() in text for host in ("127.0.0.1", "localhost", "[::1]"))
