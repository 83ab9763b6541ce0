"""`bead index rebuild`: throw the derived copy away and build it again from the files."""

import argparse

from bead.errors import BadRequest
from bead_cli.context import Context
from bead_cli.door import opened

_LIMIT_S = 600.0
_EPILOG = """\
The index is derived from the files; nothing is lost when it is thrown away.

examples:
  bead index rebuild
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """What to do with the index."""
    parser.epilog = _EPILOG
    parser.add_argument("action", choices=("rebuild",), metavar="rebuild", nargs="?")


def run(args: argparse.Namespace, context: Context) -> int:
    """Returns when the new copy is complete."""
    if args.action is None:
        raise BadRequest("say what to do with the index: bead index rebuild")
    if context.output.is_terminal and not context.output.as_json:
        context.output.note("rebuilding the index ...")
    with opened(context, "store", "index") as door:
        door.call("index", "POST", "/v1/rebuild", timeout_s=_LIMIT_S)
    if context.output.as_json:
        context.output.document({"rebuilt": True})
    else:
        context.output.text("rebuilt the index")
    return 0
