"""`bead scan --rescan`: look through everything stored with today's credential rules, and replace what they find."""

import argparse
import time
from typing import Any

from bead_cli.context import Context
from bead_cli.door import Door, opened

_POLL_S = 0.2
_EPILOG = """\
New rules find what old ones did not. Each credential found in a fact, a conversation, an episode, a draft or a
review item is replaced by a marker, in place. What must stay can be named in config.yaml:

  scan:
    allow: ['EXAMPLE-[0-9]+']        # RE2; a match that holds this stays
    rules_off: [generic-api-key]     # ids as the markers and this command's counts show them

examples:
  bead scan --rescan
  bead scan --rescan --json
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """The one thing it does has to be said, because it changes files."""
    parser.epilog = _EPILOG
    parser.add_argument("--rescan", action="store_true", required=True, help="scan everything that is stored")


def run(args: argparse.Namespace, context: Context) -> int:
    """Start a scan, or follow the one at work, until it ends."""
    with opened(context, "store") as door:
        progress = _followed(door, context)
    output = context.output
    if output.as_json:
        output.document(progress)
        return 0
    for rule, count in sorted(progress["redacted"].items()):
        output.text(f"{count:>6}  {rule}")
    found = sum(progress["redacted"].values())
    skipped = f"; {progress['skipped']} could not be read, see 'bead doctor'" if progress["skipped"] else ""
    output.text(f"replaced {found} credentials in {progress['total']} files{skipped}")
    return 0


def _followed(door: Door, context: Context) -> dict[str, Any]:
    progress: dict[str, Any] = door.call("store", "POST", "/v1/scan/rescan")
    while progress["running"]:
        if context.output.is_terminal and not context.output.as_json:
            context.output.bar(progress["done"], progress["total"])
        time.sleep(_POLL_S)
        progress = door.call("store", "GET", "/v1/scan/rescan")
    if context.output.is_terminal and not context.output.as_json:
        context.output.bar(progress["total"], progress["total"])
    return progress
