"""`bead bench NAME`: hands over to a measurement of `bead_evals`."""

import argparse
from importlib import import_module

from bead_cli.context import Context

_BENCHES = ("forget", "index", "proxy", "recall", "soak", "store")
_EPILOG = """\
examples:
  bead bench proxy --quick
  bead bench recall --facts 1000
  bead bench store --big
  bead bench soak --seconds 3600
  bead bench proxy -h
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """A name; everything after it is the bench's own."""
    parser.epilog = _EPILOG
    parser.add_argument("bench", choices=_BENCHES, metavar="NAME", help=", ".join(_BENCHES))
    parser.add_argument("rest", metavar="ARGS", nargs=argparse.REMAINDER, help="arguments of the bench")


def run(args: argparse.Namespace, context: Context) -> int:
    """Run it in this process; its exit code is ours."""
    rest = (["--json"] if args.json and "--json" not in args.rest else []) + args.rest
    code: int = import_module(f"bead_evals.bench.{args.bench}").main(rest)
    return code
