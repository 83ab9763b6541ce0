"""`bead pin`, `bead unpin` and `bead reinforce`: marks on the current version of a fact."""

import argparse
from typing import Any

from bead_cli.context import Context
from bead_cli.door import opened
from bead_cli.lookup import current_fact

_PINNING = """\
A pinned fact is part of the block that every new conversation starts with, and never grows dormant.

examples:
  bead pin project/shop/deploy-day
  bead unpin deploy-day
"""
_EPILOGS = {
    "pin": _PINNING,
    "unpin": _PINNING,
    "reinforce": """\
A fact that nothing has used for long grows dormant: it is still found, and not shown to agents any more.

examples:
  bead reinforce project/shop/deploy-day
""",
}


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """A key."""
    parser.epilog = _EPILOGS[name]
    parser.add_argument("key", metavar="KEY", help="a key, or a name in this project, user/ or global/")
    parser.add_argument("--project", metavar="P", help="default: the project of this directory")


def run(args: argparse.Namespace, context: Context) -> int:
    """Mark the current version."""
    mark, verb = _MARKS[args.command]
    with opened(context, "store") as door:
        before = current_fact(context, door, args.key, args.project)
        fact = door.call("store", "POST", "/v1/marks", {"key": before["key"], **mark})
    if context.output.as_json:
        context.output.document(fact)
        return 0
    is_unchanged = all(before[field] == value for field, value in mark.items())
    said = context.output.style("green", "unchanged" if is_unchanged else verb)
    context.output.text(f"{said} {fact['key']} v{fact['version']}")
    return 0


_MARKS: dict[str, tuple[dict[str, Any], str]] = {
    "pin": ({"pinned": True}, "pinned"),
    "unpin": ({"pinned": False}, "unpinned"),
    "reinforce": ({"status": "current"}, "reinforced"),
}
"""What each command says about the fact, and its word for having said it."""
