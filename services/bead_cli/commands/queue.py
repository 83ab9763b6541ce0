"""`bead queue`: what waits for a person's decision, and the decision."""

import argparse
from collections.abc import Mapping
from typing import Any

from bead.errors import BadRequest
from bead_cli.commands.remember import say_verb
from bead_cli.context import Context
from bead_cli.door import Door, opened
from bead_cli.harness_env import refuse_inside_harness
from bead_cli.loopback import quoted
from bead_cli.output import one_line

_LINE_CHARACTERS = 160
_ACTIONS = ("list", "accept", "reject")
_EPILOG = """\
An accepted value is written as your own words; a rejected one is refused when it is proposed for that key again.
A `rekey` moves a fact, a `merge` lets the facts that it names sleep; their versions stay.

examples:
  bead queue list
  bead queue accept 1f0c2b
  bead queue reject 1f0c2b8d77
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """`list`, also without the word, or a decision about one item."""
    parser.epilog = _EPILOG
    parser.add_argument("action", choices=_ACTIONS, nargs="?", default="list", metavar="list|accept|reject")
    parser.add_argument("id", nargs="?", metavar="ID", help="an item as `list` shows it, or a beginning of it")


def run(args: argparse.Namespace, context: Context) -> int:
    """Print the items, oldest first, or decide one."""
    if (args.action == "list") != (args.id is None):
        raise BadRequest("'accept' and 'reject' need one ID, as 'bead queue list' shows it")
    if args.action != "list":
        refuse_inside_harness(context.environ, args.action)
    with opened(context, "store") as door:
        queue = door.call("store", "GET", "/v1/queue")
        if args.action == "list":
            _show(context, queue)
        else:
            _decide(context, door, args.action, _item(queue["items"], args.id))
    return 0


def _show(context: Context, queue: dict[str, Any]) -> None:
    output = context.output
    if output.as_json:
        output.document(queue)
        return
    for item in queue["items"]:
        about = output.style("dim", f"{item['kind']}  {item['trust']}  {item['created']}")
        output.text(f"{output.style('bold', item['id'])}  {item['key']}  {about}")
        output.text(f"  {output.stored(one_line(item['body'], _LINE_CHARACTERS))}")
        for line in consequences(item):
            output.text(f"  {output.style('yellow', line)}")
    if not queue["items"]:
        output.text("nothing waits for you")


def consequences(item: Mapping[str, Any]) -> list[str]:
    """What a person should know before they accept: why it waits, and what besides the text would change."""
    found = [f"why: {item['reason']}"] if item.get("reason") else []
    if item.get("suspicious"):
        found.append("it reads like an instruction to a model: read it twice")
    if item.get("new_key"):
        found.append(f"accepting moves the fact to {item['new_key']}; its text stays")
    if item.get("others"):
        found.append(f"accepting lets these sleep: {', '.join(item['others'])}")
    return found


def _item(items: list[dict[str, Any]], text: str) -> str:
    """The id that `text` is or begins; `text` itself when there is no such item, the store knows what was decided."""
    found = [str(item["id"]) for item in items if str(item["id"]).startswith(text)]
    if len(found) > 1 and text not in found:
        raise BadRequest(f"{len(found)} items begin with '{text}'; give more of the ID")
    return found[0] if len(found) == 1 else text


def _decide(context: Context, door: Door, action: str, item: str) -> None:
    decided = door.call("store", "POST", f"/v1/queue/{quoted(item)}/{action}", {})
    output = context.output
    if output.as_json:
        output.document(decided)
        return
    output.text(f"{output.style('green', decided['decision'])} {decided['key']} (item {decided['id']})")
    if decided["written"]:
        say_verb(output, decided["written"])
