"""`bead curate`: a session with an agent that has the admin tools, or a one-time link to the admin page (`--web`)."""

import argparse
import webbrowser

from bead.errors import Unavailable
from bead_cli import runtime
from bead_cli.context import Context
from bead_cli.door import opened
from bead_cli.harness_env import refuse_inside_harness

_DESCRIPTION = """\
Starts Claude Code with the tools of a curation session, opening on the latest report and what waits for you. Its own
requests go straight to the provider, so that what you talk about is not captured.

--web prints a link to the admin page and opens it in your browser. The link works once, within a minute; the browser
then stays logged in until you log out, for at most twelve hours.
"""
_EPILOG = """\
examples:
  bead curate
  bead curate -- --model NAME "go through the queue"          what follows -- is the agent's
  bead curate --print-config                                  the tools, for another agent
  bead curate --web
  bead curate --web --no-open                                 only print the link
  docker compose exec curate bead curate --web --no-open
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Which way to curate."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("--print-config", action="store_true", help="print the MCP configuration and end")
    parser.add_argument("--web", action="store_true", help="in the browser")
    parser.add_argument("--no-open", action="store_true", help="print the link and start no browser")
    parser.add_argument("rest", metavar="-- ARGS", nargs=argparse.REMAINDER, help="arguments of the agent")


def run(args: argparse.Namespace, context: Context) -> int:
    """Start a session, or make a link, print it and open it."""
    if not args.web:
        return _session(args, context)
    place = _place(context)
    with opened(context) as door:
        link = door.call("curate", "POST", "/v1/launch")
    url = f"{place.url}{link['path']}"
    if context.output.as_json:
        context.output.document({"url": url, "expires_s": link["expires_s"]})
        return 0
    context.output.text(url)
    context.output.note(f"works once, within {link['expires_s']} s")
    if not args.no_open and context.output.is_terminal and not context.in_container():
        webbrowser.open(url)
    return 0


def _session(args: argparse.Namespace, context: Context) -> int:
    """Does not return when the agent starts: a session decides in the person's name, so no agent may begin one."""
    from bead_cli import curating
    from bead_cli.mcpconfig import stdio_config

    if args.print_config:
        context.output.document(stdio_config(context, admin=True))
        return 0
    refuse_inside_harness(context.environ, "curate")
    curating.start(context, args.rest[1:] if args.rest[:1] == ["--"] else args.rest)


def _place(context: Context) -> runtime.Place:
    """Where a browser of this machine finds the page: what containers call each other is no name for it.

    Raises:
        Unavailable: no bead runs.
    """
    if context.in_container():
        return runtime.Place(runtime.LOOPBACK, context.settings().curate.port)
    if context.environ.get("BEAD_CURATE__URL"):
        from bead_cli.door import place_of

        return place_of(context.environ["BEAD_CURATE__URL"])
    who = runtime.read(context.home)
    if who is None or not runtime.is_running(who):
        raise Unavailable("the admin page is served by a bead that runs; start it: bead up")
    return who.place("curate")
