"""`bead search`: facts and conversations that match, newest writes included."""

import argparse
from typing import Any

from bead.errors import Unavailable
from bead_cli.context import Context
from bead_cli.door import opened
from bead_cli.lookup import active_project, caught_up, checked_text
from bead_cli.output import Output, one_line
from bead_cli.parsing import at_least_one

_LIMIT = 20
_SNIPPET_CHARACTERS = 300
_BEHIND = "the index has not read everything that is stored yet"
_EPILOG = """\
QUERY is plain words; there is no syntax. Facts of the active project come first.

examples:
  bead search deploy day
  bead search "rate limit" --project shop --limit 5
  bead search "deploy day" --all-versions        what other versions have superseded, too
  bead search "deploy day" --as-of 2026-10-31    what held at the end of that day
  bead search deploy --explain                   terms, scores and boosts
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Words, project and limit."""
    parser.epilog = _EPILOG
    parser.add_argument("query", metavar="QUERY", nargs="+", help="words to look for")
    parser.add_argument("--project", metavar="P", help="default: the project of this directory")
    parser.add_argument(
        "--limit", metavar="N", type=at_least_one, default=_LIMIT, help=f"most results (default {_LIMIT})"
    )
    parser.add_argument("--all-versions", action="store_true", help="superseded versions of facts too")
    parser.add_argument("--as-of", metavar="DATE", help="what held then: a day (its end, UTC) or a time")
    parser.add_argument("--explain", action="store_true", help="show terms, scores and boosts")


def run(args: argparse.Namespace, context: Context) -> int:
    """Search once the index has everything that was written before; 3 when it has not, and knows of nothing."""
    query = checked_text(args.query, "there are no words to look for")
    with opened(context, "store", "index") as door:
        is_whole = caught_up(door)
        project = active_project(door, args.project)
        answer = door.call("index", "GET", "/v1/search", query=_question(args, query, project))
    if not is_whole and not answer["hits"]:
        raise Unavailable(f"nothing found, but {_BEHIND}; try again, or see what is wrong: bead status")
    if not is_whole:
        context.output.note(f"{_BEHIND}; the newest memories may be missing")
    if context.output.as_json:
        context.output.document(answer)
    else:
        _print(context.output, answer)
    return 0


def _question(args: argparse.Namespace, query: str, project: str | None) -> dict[str, str | int | float | None]:
    wanted: dict[str, str | int | float | None] = {"q": query, "project": project, "limit": args.limit}
    wanted["as_of"] = args.as_of
    if args.all_versions:
        wanted["all_versions"] = "true"
    if args.explain:
        wanted["explain"] = "true"
    return wanted


def _print(output: Output, answer: dict[str, Any]) -> None:
    for hit in answer["hits"]:
        version = f" v{hit['version']}" if hit.get("version") else ""
        words = (hit.get("trust"), hit.get("status"), _ended(hit))
        about = "  ".join(str(word) for word in words if word)
        output.text(f"{output.style('bold', hit['id'])}{version}  {output.style('dim', about)}".rstrip())
        output.text(f"  {output.stored(one_line(hit['snippet'], _SNIPPET_CHARACTERS))}")
        if why := hit.get("why"):
            output.text(f"  {output.style('dim', _why(hit['score'], why))}")
    if not answer["hits"]:
        output.text("nothing found")
    if answer.get("terms") is not None:
        held = ", ".join(f"{term} in {count}" for term, count in answer["terms"].items())
        output.text(output.style("dim", f"looked for: {output.stored(held)}"))


def _ended(hit: dict[str, Any]) -> str:
    return f"until {str(hit['until'])[:10]}" if hit.get("until") else ""


def _why(score: float, why: dict[str, Any]) -> str:
    boosts = "".join(f" x {factor:g} ({name})" for name, factor in why["boosts"].items())
    return f"score {score:g} = bm25 {why['bm25']:g}{boosts}; shares {', '.join(why['terms']) or 'no whole word'}"
