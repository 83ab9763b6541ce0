"""`bead audit verify`: whether every line of the audit log follows the one before it."""

import argparse

from bead_cli.context import Context
from bead_cli.door import opened

_NEEDS_A_PERSON = 4
_LIMIT_S = 60.0
_EPILOG = """\
Each line holds the hash of the line before it, so a line that was changed, added or taken out shows. Lines that were
cut off at the end do not show: nothing follows them. Exit code 4 names the first line that does not hold.

examples:
  bead audit verify
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """What to do with the log."""
    parser.epilog = _EPILOG
    parser.add_argument("action", choices=("verify",), metavar="verify")


def run(args: argparse.Namespace, context: Context) -> int:
    """Check the chain."""
    with opened(context, "store") as door:
        report = door.call("store", "GET", "/v1/audit/verify", timeout_s=_LIMIT_S)
    bad = report["first_bad_line"]
    if context.output.as_json:
        context.output.document(report)
    elif bad is None:
        context.output.text(f"the audit log holds: {report['lines']} lines")
    else:
        path = context.layout().audit_log
        context.output.text(f"{path}:{bad}: this line does not follow the one before it; somebody has changed the log")
    return 0 if bad is None else _NEEDS_A_PERSON
