"""`bead forget KEY…`: shows what there is, asks, forgets it everywhere, and says for each place what was done."""

import argparse
import sys
from typing import Any

from bead.errors import NotFound, Refused
from bead_cli.context import Context
from bead_cli.door import Door, opened
from bead_cli.harness_env import refuse_inside_harness
from bead_cli.lookup import key_named
from bead_cli.output import Output

_LIMIT_S = 600.0
_PENDING = 3
_EPILOG = """\
Takes every version of exactly these keys, the turns that state their text or are their sources, and every copy that
bead keeps. The same text is refused afterwards unless you state it yourself. What the agent's own program or the
model's provider keeps is not in bead's hands.

Exit code 1 when nothing is stored under any of the keys, 3 when the search index follows later: it drops the text
before it answers again.

examples:
  bead forget project/shop/deploy-day
  bead forget deploy-day user/city --yes
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Keys, and whether to ask."""
    parser.epilog = _EPILOG
    parser.add_argument(
        "keys", metavar="KEY", nargs="+", help="a key, or a name in this project, user/ or global/; never a prefix"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--project", metavar="P", help="default: the project of this directory")


def run(args: argparse.Namespace, context: Context) -> int:
    """Preview, question, receipt."""
    refuse_inside_harness(context.environ, "forget")
    output = context.output
    with opened(context, "store", "index") as door:
        keys = [_whole_key(context, door, key, args.project) for key in args.keys]
        preview = door.call("store", "POST", "/v1/forget/preview", {"keys": keys}, timeout_s=_LIMIT_S)
        if not preview["hits"]:
            raise NotFound(f"nothing is stored under {', '.join(preview['missing'])}")
        if not output.as_json:
            _show_preview(output, preview)
        if not args.yes:
            _ask(output)
        confirmed = {"keys": keys, "confirm": preview["confirm"]}
        receipt = door.call("store", "POST", "/v1/forget", confirmed, timeout_s=_LIMIT_S)
    output.document(receipt) if output.as_json else _show_receipt(output, receipt)
    return _PENDING if receipt["index"] == "pending" else 0


def _whole_key(context: Context, door: Door, text: str, project: str | None) -> str:
    # A whole key is not looked up first: its highest version may be damaged, and must be forgettable all the same.
    return key_named(context, door, text, project)


def _show_preview(output: Output, preview: dict[str, Any]) -> None:
    for hit in preview["hits"]:
        counts = ", ".join(
            f"{hit[field]} {word if hit[field] == 1 else plural}"
            for field, word, plural in (
                ("versions", "version", "versions"),
                ("turns", "turn", "turns"),
                ("blocks", "block in a conversation", "blocks in conversations"),
                ("queue", "waiting item", "waiting items"),
            )
            if hit[field]
        )
        output.text(f"{output.style('bold', hit['key'])}  {counts}")
        for other in hit["also_in"]:
            output.text(output.style("dim", f"  {other} says it too and stays"))
    for key in preview["missing"]:
        output.text(output.style("dim", f"{key}  nothing is stored there"))


def _ask(output: Output) -> None:
    if output.as_json or not sys.stdin.isatty():
        raise Refused("nothing was forgotten: this needs your word on a terminal, or --yes")
    output.ask("forget this for good? [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Refused("nothing was forgotten")


def _show_receipt(output: Output, receipt: dict[str, Any]) -> None:
    for key in receipt["forgot"]:
        output.text(f"{output.style('green', 'forgot')} {key}")
    for place in receipt["places"]:
        done = f"{place['removed']}, {place['how']}" if place["removed"] else "nothing to do"
        output.text(f"  {place['place']}: {done} (looked at {place['looked_at']} {place['unit']})")
        for left in place["left"]:
            output.text(output.style("yellow", f"    left: {output.stored(left)}"))
    output.text(f"  search index: {_INDEX[receipt['index']]}")
    kind = receipt["file_system"]
    if receipt["level"] == 1:
        output.text(f"  {kind} may keep old blocks until it uses them again; disk encryption is what protects them")
    else:
        output.text(f"  bytes were overwritten where they lay ({kind}); folder names may stay in its free space")


_INDEX = {
    "applied": "no byte is left in it",
    "pending": "not yet; it drops the text before it answers again",
    "no index": "there is none",
}
