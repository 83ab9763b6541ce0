"""`bead up`: start everything, say how to connect, stay until a signal."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bead.errors import StoreLocked, Unavailable
from bead_cli import runtime
from bead_cli.connecting import claude_line
from bead_cli.context import Context, token_file

if TYPE_CHECKING:
    from bead_cli.runtime import Runtime

_DESCRIPTION = """\
Start every service in this process and stay in the foreground; Ctrl-C or `bead down` ends it.
Everything listens on 127.0.0.1 only. Killing it at any moment loses nothing.
"""
_EPILOG = """\
examples:
  bead up                                    start on ~/.bead
  bead up --home /srv/memory                 keep memory somewhere else
  BEAD_PROXY__PORT=8077 bead up              another port for the proxy
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Where else traces go, and a project for requests that name none."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("--trace", metavar="FILE", help="append a line of ids and numbers for each request")
    parser.add_argument("--project", metavar="P", help="the project of requests that name none")


def run(args: argparse.Namespace, context: Context) -> int:
    """Serve; 3 when the home or a port cannot be had."""
    _refuse_second(context)
    from bead_cli.hosting import NAMES, bound
    from bead_store.home import prepare

    home = context.layout()
    ready = prepare(home)
    settings = context.settings()
    try:
        with bound(settings, NAMES, in_container=context.in_container()) as sockets:
            # The services take most of a start to import; whoever calls meanwhile waits in line.
            from bead.logs import configure as configure_logs
            from bead.settings import effective
            from bead_cli import compose
            from bead_cli.tracefile import asked

            configure_logs()
            shown = effective(home, context.environ, settings)
            way = compose.Way(args.project, asked(args.trace, context.environ), context.environ)
            compose.run(
                home, settings, ready, sockets, lambda who, unready: announce(context, who, unready), shown, way
            )
    except StoreLocked:
        _refuse_second(context)
        raise
    return 0


def announce(context: Context, who: "Runtime", unready: Mapping[str, str]) -> None:
    """The readiness document or lines; `unready` says of each service that is not ready why."""
    output = context.output
    urls = {name: who.place(name).url for name in who.ports}
    if output.as_json:
        token = token_file(context.home, "proxy", context.environ)
        place = {"home": context.home, "urls": urls, "token_file": token}
        output.document({**who._asdict(), **place, "ready": not unready, "not_ready": dict(unready)})
        return
    state = output.style("yellow", "not ready yet") if unready else output.style("green", "ready")
    output.text(f"bead {who.version} is {state} (pid {who.pid}, home {context.home})")
    for name, url in urls.items():
        output.text(f"  {name:<10} {url}{'  ' + unready[name] if name in unready else ''}")
    output.text("start Claude Code with memory:")
    output.text(f"  {claude_line(context, who)}")
    output.text("or: bead wrap claude")


def _refuse_second(context: Context) -> None:
    """Say who runs already, unless the file was left by a process that is gone.

    Raises:
        Unavailable: a bead serves this home.
    """
    from bead_cli.probe import answers_for

    who = runtime.read(context.home)
    if who is None or not runtime.is_running(who):
        return
    if who.pid is None and not answers_for(who):
        return
    name = "in containers" if who.pid is None else f"as pid {who.pid}"
    raise Unavailable(
        f"bead runs already on {context.home} {name} since {who.started}, proxy on port {who.ports['proxy']};"
        " stop it with: bead down"
    )
