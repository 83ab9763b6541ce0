"""`bead trace`: what each model request was given and why, in ids and numbers, as it happens."""

import argparse
from typing import Any

from bead.errors import BadRequest
from bead_cli import runtime
from bead_cli.context import Context
from bead_cli.door import Door, opened
from bead_cli.output import Output

_WAIT_S = 20.0
_ANSWER_S = 10.0
_MOST = 1_000
_EPILOG = """\
One line a request, newest last: when, which turn, what kind, what was injected, what it cost. Ids and numbers only;
`bead explain TURN` says why in words. Ctrl-C ends it. Where the proxy writes a file of the same: bead up --trace FILE.

examples:
  bead trace                                 the last ten, then each as it happens
  bead trace --last 50 --no-follow
  bead trace --json                          one JSON document a line, for another program
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """How many, and whether to go on."""
    parser.epilog = _EPILOG
    parser.add_argument("--last", type=int, default=10, metavar="N", help="begin with the last N (default 10)")
    parser.add_argument("--no-follow", action="store_true", help="end after these")


def run(args: argparse.Namespace, context: Context) -> int:
    """Print until interrupted."""
    if not 0 <= args.last <= _MOST:
        raise BadRequest(f"--last is a number from 0 to {_MOST}")
    with opened(context, "store") as door:
        try:
            _follow(door, context.output, args.last, is_endless=not args.no_follow and _runs(context))
        except KeyboardInterrupt:
            pass
    return 0


def _runs(context: Context) -> bool:
    """Whether a bead runs: following a home that nobody serves would only keep everybody else out of it."""
    who = runtime.read(context.home)
    return "BEAD_CURATE__URL" in context.environ or (who is not None and runtime.is_running(who))


def _follow(door: Door, output: Output, last: int, *, is_endless: bool) -> None:
    page = door.call("store", "GET", "/v1/traces", query={"limit": max(last, 1)})
    _print(output, page["traces"] if last else [])
    while is_endless:
        after = page["traces"][-1]["seq"] if page["traces"] else page["seq"]
        query = {"after": after, "limit": _MOST, "wait_s": _WAIT_S}
        page = door.call("store", "GET", "/v1/traces", query=query, timeout_s=_WAIT_S + _ANSWER_S)
        _print(output, page["traces"])


def _print(output: Output, traces: list[dict[str, Any]]) -> None:
    for kept in traces:
        output.document(kept) if output.as_json else output.text(_line(kept["trace"]))


def _line(trace: dict[str, Any]) -> str:
    told = ", ".join(f"{chosen['id']} ({chosen.get('score', 0):.2f})" for chosen in trace.get("selected", []))
    what = f"injected {told}" if told else f"nothing: {trace.get('abstained') or 'nothing relevant'}"
    if trace.get("is_pinned_new"):
        what += f"; pinned {len(trace.get('pinned', []))}"
    cost = f"{trace.get('input_tokens', 0)} in, {trace.get('cache_read_tokens', 0)} cached"
    cost += f", {trace.get('output_tokens', 0)} out, {trace.get('inserted_tokens', 0)} of them memory"
    added = trace.get("added_ms", {}).get("all")
    parts = [trace["at"][:19], trace["turn"], trace.get("kind", ""), what, cost, f"+{added:.1f} ms" if added else ""]
    parts += [f"trouble: {failure}" for failure in trace.get("failures", [])]
    return "  ".join(part for part in parts if part)
