"""`bead statusline`: for Claude Code's settings; the words are `statusline`'s."""

import argparse
import sys

from bead_cli.commands.hook import read_input
from bead_cli.context import Context
from bead_cli.statusline import status_line

_INPUT_LIMIT_S = 0.02
_EPILOG = """\
Reads Claude Code's JSON document from standard input and prints one line, such as: bead: 2 facts, 1 excerpt, cache 94 %
That is what this session's requests carry, and how much of the last one came from the provider's cache. When bead is
not there it says so, within a tenth of a second. Exit code 0, always.

examples:
  bead statusline < document.json

in ~/.claude/settings.json:
  {"statusLine": {"type": "command", "command": "bead statusline"}}
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Nothing to choose."""
    parser.epilog = _EPILOG


def run(args: argparse.Namespace, context: Context) -> int:
    """Always 0, and always one line."""
    text = status_line(context, read_input(sys.stdin.fileno(), _INPUT_LIMIT_S))
    context.output.document({"text": text}) if context.output.as_json else context.output.text(text)
    return 0
