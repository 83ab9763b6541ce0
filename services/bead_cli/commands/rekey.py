"""`bead rekey OLD NEW`: another name for a fact, with its history."""

import argparse

from bead_cli.context import Context
from bead_cli.door import opened
from bead_cli.lookup import is_whole_key, key_named

_LIMIT_S = 60.0
_EPILOG = """\
Every version moves; nothing is ever written over, so NEW must be free.

examples:
  bead rekey we-ship-on-tuesdays deploy-day
  bead rekey user/deploy-day project/shop/deploy-day
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Two keys."""
    parser.epilog = _EPILOG
    parser.add_argument("old", metavar="OLD", help="a key, or a name in this project, user/ or global/")
    parser.add_argument("new", metavar="NEW", help="a key, or a name in the scope of OLD")
    parser.add_argument("--project", metavar="P", help="default: the project of this directory")


def run(args: argparse.Namespace, context: Context) -> int:
    """Move the fact."""
    with opened(context, "store") as door:
        old = key_named(context, door, args.old, args.project)
        new = args.new if is_whole_key(args.new) else f"{_scope(old)}/{args.new}"
        moved = door.call("store", "POST", "/v1/rekey", {"old": old, "new": new}, timeout_s=_LIMIT_S)
    if context.output.as_json:
        context.output.document(moved)
        return 0
    versions = "1 version" if moved["versions"] == 1 else f"{moved['versions']} versions"
    context.output.text(f"{context.output.style('green', 'moved')} {old} to {moved['key']} ({versions})")
    return 0


def _scope(key: str) -> str:
    from bead.keys import parse

    return parse(key).scope
