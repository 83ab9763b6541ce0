"""`bead review`: decide what waits, in the terminal and without a model."""

import argparse
import sys

from bead.errors import BadRequest
from bead_cli.context import Context
from bead_cli.door import opened
from bead_cli.harness_env import refuse_inside_harness

_EPILOG = """\
Shows one item after another with what is stored now and the turns it came from: what agents and the night proposed, and
after them the drafts from other agents' memories.

keys:
  j k   the next one, the one before (or the arrows)
  a     accept: it is written as your own words
  e     edit it, then Ctrl-S accepts your text; Esc leaves it
  r     reject: the same proposal is refused from now on
  A R   accept or reject everything of this one's agent, after one more press; what reads like an instruction is not
        among what is accepted
  q     end

Scripts use `bead queue` and `bead drafts`.

examples:
  bead review
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """No arguments."""
    parser.epilog = _EPILOG


def run(args: argparse.Namespace, context: Context) -> int:
    """Until the person ends it."""
    refuse_inside_harness(context.environ, "review")
    output = context.output
    if output.as_json or not output.is_terminal or not sys.stdin.isatty():
        raise BadRequest("a review needs a terminal; in a script use: bead queue list")
    with opened(context, "store") as door:
        from bead_cli.reviewing import Desk

        desk = Desk(door)
        if not desk.items:
            output.text("nothing waits for you")
            return 0
        from bead_cli.reviewscreen import Screen

        Screen(desk).run()
    output.text(f"{desk.decided} decided, {len(desk.items)} left")
    return 0
