"""`bead curate --web`: a one-time link that opens the admin page of the bead that runs."""

import argparse
import webbrowser

from bead.errors import BadRequest, Unavailable
from bead_cli import runtime
from bead_cli.context import Context
from bead_cli.door import opened

_DESCRIPTION = """\
Prints a link to the admin page and opens it in your browser. The link works once, within a minute; the browser then
stays logged in until you log out, for at most twelve hours.
"""
_EPILOG = """\
examples:
  bead curate --web
  bead curate --web --no-open                                 only print the link
  docker compose exec curate bead curate --web --no-open
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Which way to curate."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("--web", action="store_true", help="in the browser")
    parser.add_argument("--no-open", action="store_true", help="print the link and start no browser")


def run(args: argparse.Namespace, context: Context) -> int:
    """Make a link, print it, open it."""
    if not args.web:
        raise BadRequest("say how: bead curate --web opens the admin page in your browser")
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
