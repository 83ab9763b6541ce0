"""The configuration that tells an agent how to reach bead's tools, as most agents read it."""

import os
import shutil
import sys
from typing import Any

from bead.bus.guard import scoped_token
from bead_cli import runtime
from bead_cli.context import Context, read_token
from bead_curate.mcp.http import ADMIN_PATH, AGENT_PATH, TOKEN_SCOPE


def stdio_config(context: Context, *, admin: bool) -> dict[str, Any]:
    """A process that the agent starts; it finds the home without the environment of this one."""
    arguments = ["mcp", "--home", context.home, *(["--admin"] if admin else [])]
    entry: dict[str, Any] = {"type": "stdio", "command": _program(), "args": arguments}
    if url := context.environ.get("BEAD_CURATE__URL"):
        entry["env"] = {"BEAD_CURATE__URL": url}
    return {"mcpServers": {"bead": entry}}


def http_config(context: Context, *, admin: bool) -> dict[str, Any]:
    """The address of curate, with a token: agents get one that opens their own tools and nothing else.

    Raises:
        HomeUnusable: there is no token to make it from.
    """
    secret = read_token(context.home, "admin", context.environ)
    token = secret if admin else scoped_token(secret, TOKEN_SCOPE)
    url = place(context).url + (ADMIN_PATH if admin else AGENT_PATH)
    entry = {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {token}"}}
    return {"mcpServers": {"bead": entry}}


def place(context: Context) -> runtime.Place:
    """Where curate listens, or will by the settings."""
    if url := context.environ.get("BEAD_CURATE__URL"):
        from bead_cli.door import place_of

        return place_of(url)
    who = runtime.read(context.home)
    if who is not None and not context.in_container():
        return who.place("curate")
    return runtime.Place(runtime.LOOPBACK, context.settings().curate.port)


def _program() -> str:
    """The `bead` that runs now, by its whole path: an agent may have another PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "bead")
    return beside if os.access(beside, os.X_OK) else shutil.which("bead") or "bead"
