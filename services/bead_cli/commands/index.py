"""`bead index rebuild | check`: build the derived copy again from the files, or compare it with them."""

import argparse

from bead.errors import BadRequest
from bead_cli.context import Context
from bead_cli.door import opened

_LIMIT_S = 600.0
_DONE = {
    "rebuild": ("rebuilding the index ...", "rebuilt"),
    "check": ("comparing the index with the store ...", "checked"),
}
_EPILOG = """\
The index is derived from the files; nothing is lost when it is thrown away.

examples:
  bead index rebuild       throw it away and build it again
  bead index check         compare it with the store and repair what differs
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """What to do with the index."""
    parser.epilog = _EPILOG
    parser.add_argument("action", choices=tuple(_DONE), metavar="rebuild|check", nargs="?")


def run(args: argparse.Namespace, context: Context) -> int:
    """Returns when the new copy is complete."""
    if args.action is None:
        raise BadRequest("say what to do with the index: bead index rebuild, or bead index check")
    doing, done = _DONE[args.action]
    if context.output.is_terminal and not context.output.as_json:
        context.output.note(doing)
    with opened(context, "store", "index") as door:
        door.call("index", "POST", f"/v1/{args.action}", timeout_s=_LIMIT_S)
    if context.output.as_json:
        context.output.document({done: True})
    else:
        context.output.text(f"{done} the index")
    return 0
