"""`bead pin` and `bead unpin`."""

import argparse

from bead_cli.context import Context
from bead_cli.door import opened
from bead_cli.lookup import current_fact

_EPILOG = """\
A pinned fact is part of the block that every new conversation starts with, and never grows dormant.

examples:
  bead pin project/shop/deploy-day
  bead unpin deploy-day
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """A key."""
    parser.epilog = _EPILOG
    parser.add_argument("key", metavar="KEY", help="a key, or a name in this project, user/ or global/")
    parser.add_argument("--project", metavar="P", help="default: the project of this directory")


def run(args: argparse.Namespace, context: Context) -> int:
    """Mark the current version."""
    wanted = args.command == "pin"
    with opened(context, "store") as door:
        before = current_fact(context, door, args.key, args.project)
        fact = door.call("store", "POST", "/v1/marks", {"key": before["key"], "pinned": wanted})
    if context.output.as_json:
        context.output.document(fact)
        return 0
    verb = "unchanged" if before["pinned"] == wanted else f"{args.command}ned"
    context.output.text(f"{context.output.style('green', verb)} {fact['key']} v{fact['version']}")
    return 0
