"""`bead queue list`: what waits for a person's decision."""

import argparse

from bead_cli.context import Context
from bead_cli.door import opened
from bead_cli.output import one_line

_LINE_CHARACTERS = 160
_EPILOG = """\
examples:
  bead queue list
  bead queue list --json
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """`list`, also without the word."""
    parser.epilog = _EPILOG
    parser.add_argument("action", choices=("list",), nargs="?", default="list", metavar="list")


def run(args: argparse.Namespace, context: Context) -> int:
    """Print the items, oldest first."""
    output = context.output
    with opened(context, "store") as door:
        queue = door.call("store", "GET", "/v1/queue")
    if output.as_json:
        output.document(queue)
        return 0
    for item in queue["items"]:
        about = output.style("dim", f"{item['kind']}  {item['trust']}  {item['created']}")
        output.text(f"{output.style('bold', item['id'])}  {item['key']}  {about}")
        output.text(f"  {output.stored(one_line(item['body'], _LINE_CHARACTERS))}")
    if not queue["items"]:
        output.text("nothing waits for you")
    return 0
