"""`bead search`: facts and conversations that match, newest writes included."""

import argparse
from typing import Any

from bead.errors import Unavailable
from bead_cli.context import Context
from bead_cli.door import Door, opened
from bead_cli.lookup import active_project, checked_text
from bead_cli.output import Output, one_line
from bead_cli.parsing import at_least_one

_LIMIT = 20
_CATCH_UP_S = 10.0
_SNIPPET_CHARACTERS = 300
_BEHIND = "the index has not read everything that is stored yet"
# Past every change there is: the store answers with its last number and nothing else.
_NO_CHANGES = 2**53
_EPILOG = """\
QUERY is plain words; there is no syntax. Facts of the active project come first.

examples:
  bead search deploy day
  bead search "rate limit" --project shop --limit 5
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Words, project and limit."""
    parser.epilog = _EPILOG
    parser.add_argument("query", metavar="QUERY", nargs="+", help="words to look for")
    parser.add_argument("--project", metavar="P", help="default: the project of this directory")
    parser.add_argument(
        "--limit", metavar="N", type=at_least_one, default=_LIMIT, help=f"most results (default {_LIMIT})"
    )


def run(args: argparse.Namespace, context: Context) -> int:
    """Search once the index has everything that was written before; 3 when it has not, and knows of nothing."""
    query = checked_text(args.query, "there are no words to look for")
    with opened(context, "store", "index") as door:
        is_whole = _caught_up(door)
        project = active_project(door, args.project)
        answer = door.call("index", "GET", "/v1/search", query={"q": query, "project": project, "limit": args.limit})
    if not is_whole and not answer["hits"]:
        raise Unavailable(f"nothing found, but {_BEHIND}; try again, or see what is wrong: bead status")
    if not is_whole:
        context.output.note(f"{_BEHIND}; the newest memories may be missing")
    if context.output.as_json:
        context.output.document(answer)
    else:
        _print(context.output, answer["hits"])
    return 0


def _caught_up(door: Door) -> bool:
    """Wait until the index has applied the store's last change (read your writes)."""
    page = door.call("store", "GET", "/v1/changes", query={"epoch": "", "after": _NO_CHANGES, "wait_s": 0})
    query = {"seq": page["seq"], "wait_s": _CATCH_UP_S}
    return bool(door.call("index", "GET", "/v1/applied", query=query, timeout_s=_CATCH_UP_S * 2))


def _print(output: Output, hits: list[dict[str, Any]]) -> None:
    for hit in hits:
        version = f" v{hit['version']}" if hit.get("version") else ""
        about = "  ".join(str(word) for word in (hit.get("trust"), hit.get("status")) if word)
        output.text(f"{output.style('bold', hit['id'])}{version}  {output.style('dim', about)}".rstrip())
        output.text(f"  {output.stored(one_line(hit['snippet'], _SNIPPET_CHARACTERS))}")
    if not hits:
        output.text("nothing found")
