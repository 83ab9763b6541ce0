"""`bead forget`: shows what there is, asks, forgets it everywhere, and says for each place what was done.

By key here; by text or session, with transcripts and paraphrases, is `forgetting`; `--verify` is `verifying`.
"""

import argparse
import sys
from typing import Any

from bead.errors import BadRequest, NotFound, Refused
from bead_cli.context import Context
from bead_cli.door import Door, opened
from bead_cli.harness_env import refuse_inside_harness
from bead_cli.lookup import key_named
from bead_cli.output import Output

_LIMIT_S = 600.0
_PENDING = 3
_EPILOG = """\
Takes every version of exactly these keys, the turns that state their text or are their sources, and every copy that
bead keeps. The same text is refused afterwards, and left out of what is captured, unless you state it yourself.

--match takes a literal text (case and spaces do not count): every fact with a version that holds it, every turn,
block and file. Without TEXT it is read from a question or from standard input, so that it is not in the shell's
history. What says the same in other words is only named: give its KEY along with --match to take it too.
--from-session takes all that was said in a session and what was learnt only there.
--verify reads a text the same way and looks for it, in every disguise, in every byte of the home; encrypted files are
named, for nobody can look into them without their key.

What the agent's own program or the model's provider keeps is not in bead's hands; --transcripts names the files of
agents on this machine that hold the text and, after a second question, blanks it there.

Exit code 1 when there is nothing to forget (or --verify finds something), 3 when the search index follows later: it
drops the text before it answers again.

examples:
  bead forget project/shop/deploy-day
  bead forget deploy-day user/city --yes
  bead forget --match
  printf %s "$SECRET" | bead forget --match --yes
  bead forget --from-session 6f1c2d9a-1b1e-4d37-9a52-0c1de1a5e7aa
  bead forget --verify
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """What to forget, and whether to ask."""
    parser.epilog = _EPILOG
    parser.add_argument(
        "keys", metavar="KEY", nargs="*", help="a key, or a name in this project, user/ or global/; never a prefix"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--match", metavar="TEXT", nargs="?", const="", help="everything that holds this literal text")
    what.add_argument("--from-session", metavar="ID", help="what was said in a session, and learnt only there")
    what.add_argument("--verify", action="store_true", help="look for a text in every byte of the home")
    parser.add_argument("--transcripts", action="store_true", help="also in agents' own transcripts, after a question")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--project", metavar="P", help="default: the project of this directory")


def run(args: argparse.Namespace, context: Context) -> int:
    """Preview, question, receipt."""
    refuse_inside_harness(context.environ, "forget")
    if args.verify or args.match is not None or args.from_session:
        from bead_cli import forgetting

        return forgetting.run(args, context, ask=_ask, show_receipt=_show_receipt)
    if not args.keys:
        raise BadRequest("name a key to forget, or --match, --from-session or --verify")
    output = context.output
    with opened(context, "store", "index") as door:
        keys = [_whole_key(context, door, key, args.project) for key in args.keys]
        preview = door.call("store", "POST", "/v1/forget/preview", {"keys": keys}, timeout_s=_LIMIT_S)
        if not preview["hits"]:
            raise NotFound(f"nothing is stored under {', '.join(preview['missing'])}")
        texts = _texts_of(door, preview) if args.transcripts else []
        if not output.as_json:
            _show_preview(output, preview)
        if not args.yes:
            _ask(output)
        confirmed = {"keys": keys, "confirm": preview["confirm"]}
        receipt = door.call("store", "POST", "/v1/forget", confirmed, timeout_s=_LIMIT_S)
    output.document(receipt) if output.as_json else _show_receipt(output, receipt)
    if texts:
        from bead_cli import forgetting

        forgetting.in_transcripts(context, texts, change=True, yes=args.yes, ask=_ask)
    return _PENDING if receipt["index"] == "pending" else 0


def _texts_of(door: Door, preview: dict[str, Any]) -> list[str]:
    from bead_cli.door import fact_path

    histories = [door.call("store", "GET", fact_path(hit["key"], "/history")) for hit in preview["hits"]]
    return [version["body"] for history in histories for version in history["versions"]]


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


def _ask(output: Output, question: str = "forget this for good? [y/N] ") -> None:
    if output.as_json or not sys.stdin.isatty():
        raise Refused("nothing was forgotten: this needs your word on a terminal, or --yes")
    output.ask(question)
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
