"""`bead mcp [--admin]`: bead's tools for the agent that started this process, on standard input and output.

The tools are `bead_curate.mcp`; here is the way to them: through curate of the bead that runs, looked for at each call,
so that a bead that starts later is found. The home is never opened here: a server lives as long as its agent.
"""

import argparse
import asyncio
import secrets
import sys
from typing import Any

from bead.errors import BeadError, ServiceDown
from bead_cli.context import Context
from bead_cli.door import Door, Query, running
from bead_cli.harness_env import harness_in

_DESCRIPTION = """\
A server of the Model Context Protocol, for an agent's configuration; it is not meant for typing. Agents get `recall`
and `remember`; what they keep counts as observed by an agent. --admin is for a curation session that you direct:
`bead curate` starts one.
"""
_EPILOG = """\
examples:
  claude mcp add --scope user bead -- bead mcp
  codex mcp add bead -- bead mcp
  bead mcp --print-config                 the same for any other agent, as JSON
  bead mcp --print-config --http          over HTTP, with the token for agents in it
"""
_NOT_RUNNING = (
    "bead is not running, so memory was not looked at (this does not mean that it is empty). The person starts it with:"
    " bead up"
)


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Which server, or its configuration."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("--admin", action="store_true", help="the tools of a curation session")
    parser.add_argument("--print-config", action="store_true", help="print the configuration for an agent and end")
    parser.add_argument("--http", action="store_true", help="with --print-config: over HTTP instead of a process")


def run(args: argparse.Namespace, context: Context) -> int:
    """Serve until standard input closes."""
    if args.print_config or args.http:
        from bead_cli.mcpconfig import http_config, stdio_config

        config = http_config(context, admin=args.admin) if args.http else stdio_config(context, admin=args.admin)
        context.output.document(config)
        return 0
    if sys.stdin.isatty():
        context.output.note(
            "this speaks a protocol for agents; Ctrl-D ends it, and `bead mcp --help` says how to use it"
        )
    from bead_curate.mcp.server import create_server
    from bead_curate.mcp.stdio import serve

    serve(create_server(DoorServices(context), is_admin=args.admin, harness=harness_in(context.environ)))
    return 0


class DoorServices:
    """`bead_curate.mcp.services.Services` through the door of the bead that runs."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._project: str | None = None
        self._is_project_known = False
        self._id = secrets.token_hex(8)

    async def call(
        self,
        service: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Query | None = None,
        timeout_s: float = 10.0,
    ) -> Any:
        """See `Services.call`."""
        return await asyncio.to_thread(self._call, service, method, path, body, query, timeout_s)

    async def project(self) -> str | None:
        """The project of the directory in which the agent runs, asked once."""
        if not self._is_project_known:
            self._project = await asyncio.to_thread(self._active_project)
            self._is_project_known = True
        return self._project

    def session(self) -> str:
        """See `Services.session`: a harness starts a process for each."""
        return self._id

    def _call(self, service: str, method: str, path: str, body: Any, query: Query | None, timeout_s: float) -> Any:
        return self._door().call(service, method, path, body, query=query, timeout_s=timeout_s)

    def _active_project(self) -> str | None:
        from bead_cli.lookup import active_project

        return active_project(self._door(), None)

    def _door(self) -> Door:
        """Raises `ServiceDown` when no bead runs."""
        try:
            found = running(self._context)
        except BeadError as error:
            raise ServiceDown(f"memory was not looked at: {error.message}") from None
        if found is None:
            raise ServiceDown(_NOT_RUNNING)
        return Door(found)
