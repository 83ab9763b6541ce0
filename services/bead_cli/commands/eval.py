"""`bead eval SUITE`: hands over to an evaluation of `bead_evals`."""

import argparse
from importlib import import_module

from bead_cli.context import Context

_SUITES = ("recall", "extraction")
_EPILOG = """\
examples:
  bead eval recall
  bead eval recall --suite plotline --json
  bead eval recall --latency
  bead eval extraction
  bead eval recall -h
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """A name; everything after it is the evaluation's own."""
    parser.epilog = _EPILOG
    parser.add_argument("suite", choices=_SUITES, metavar="SUITE", help=", ".join(_SUITES))
    parser.add_argument("rest", metavar="ARGS", nargs=argparse.REMAINDER, help="arguments of the evaluation")


def run(args: argparse.Namespace, context: Context) -> int:
    """Run it in this process; its exit code is ours."""
    rest = (["--json"] if args.json and "--json" not in args.rest else []) + args.rest
    code: int = import_module(f"bead_evals.{args.suite}.__main__").main(rest)
    return code
