"""`bead prime`: what a session is to start with, for session-start hooks; the text is `priming`'s."""

import argparse
import os
from typing import Any

from bead.errors import BadRequest, BeadError, NotFound, Unavailable
from bead_cli.context import Context
from bead_cli.door import opened
from bead_cli.lookup import active_project, caught_up
from bead_cli.priming import DOCUMENTS, HOW_TO, Caps, banner, document, primed

EVERYTHING = 1_000_000
"""More tokens than a home has: the cut is made here, where it can be announced."""
_EPILOG = """\
Prints nothing when there is nothing to tell, and says loudly when memory could not be read. Where the proxy is in the
path (`bead wrap`), memory comes with each request and a hook says nothing, so that nothing is told twice.
Limits are prime.max_items and prime.max_characters; text of your own for the end of it lies in PRIME.md of the home.

examples:
  bead prime
  bead prime --memories-only
  bead prime --hook-json --harness claude       for a SessionStart hook
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """What to print, and for whom."""
    parser.epilog = _EPILOG
    parser.add_argument(
        "--hook-json", action="store_true", help="as the document that a session-start hook answers with"
    )
    parser.add_argument(
        "--harness", choices=tuple(DOCUMENTS), default="claude", metavar="NAME", help=", ".join(DOCUMENTS)
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--memories-only", action="store_true", help="without the words on how to use bead")
    which.add_argument("--no-memories", action="store_true", help="only the words on how to use bead")
    parser.add_argument("--project", metavar="P", help="default: the project of this directory")


def run(args: argparse.Namespace, context: Context) -> int:
    """Always 0: a hook that fails would only hide why."""
    text = "" if args.hook_json and is_in_path(context) else session_text(args, context)
    if context.output.as_json:
        context.output.document({"text": text})
    elif text:
        context.output.text(document(args.harness, "SessionStart", text) if args.hook_json else text)
    return 0


def session_text(args: argparse.Namespace, context: Context) -> str:
    """The text, or the banner that says why there is none; empty when the home has nothing to tell."""
    try:
        how_to = "" if args.memories_only else _how_to(context)
        if args.no_memories:
            return how_to
        settings = context.settings()
        caps = Caps(settings.prime.max_items, settings.prime.max_characters)
        return primed(facts(context, settings.owner, args.project), caps, how_to)
    except NotFound:
        return ""
    except BeadError as error:
        return banner(error.message)
    except OSError as error:
        return banner(type(error).__name__)


def facts(context: Context, owner: str, project: str | None) -> list[Any]:
    """Every fact this directory's sessions may be told, most important first.

    Raises:
        NotFound: there is no home.
        BeadError: it cannot be read.
    """
    import msgspec

    from bead.wire.index import PinnedAnswer

    with opened(context, "store", "index") as door:
        active = active_project(door, project)
        if not caught_up(door):
            raise Unavailable("the index has not caught up with the store in time")
        request = {"owner": owner, "project": active or "", "budget_tokens": EVERYTHING, "project_facts": "fit"}
        answer = msgspec.convert(door.call("index", "POST", "/v1/pinned", request), PinnedAnswer)
    return list(answer.facts)


def is_in_path(context: Context) -> bool:
    """Whether this agent's requests go through bead anyway, as far as its environment tells."""
    from bead_cli import runtime
    from bead_cli.wrapping import HARNESSES, IN_PATH

    who = runtime.read(context.home)
    port = who.place("proxy").port if who else None
    values = [context.environ.get(harness.base_variable, "") for harness in HARNESSES.values()]
    return bool(context.environ.get(IN_PATH)) or any(port and f":{port}/" in f"{value}/" for value in values)


def _how_to(context: Context) -> str:
    """The person's own words in place of ours; memories come before either, and are never replaced by it.

    Raises:
        BadRequest: the file cannot be read.
    """
    path = os.path.join(context.home, "PRIME.md")
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        return HOW_TO
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path} cannot be read ({type(error).__name__})") from None
