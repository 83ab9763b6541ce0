"""`bead logs`: the last lines that bead has logged, in containers, under systemd or in a file."""

import argparse
import os
import subprocess
from collections import deque

from bead.errors import NotFound
from bead_cli import runtime
from bead_cli.context import Context

_LINES = 100
_UNIT = "bead.service"
_EPILOG = """\
Log lines are JSON: events, ids and counts, never what anybody wrote. A `bead up` in a terminal logs to that terminal;
start it with `bead up 2>>FILE` or as a service to have them kept.

examples:
  bead logs
  bead logs --service store --lines 20         in containers
  bead logs --project bead-work                containers of another compose project
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """How many, and whose."""
    parser.epilog = _EPILOG
    parser.add_argument("--lines", type=int, default=_LINES, metavar="N", help=f"at most so many (default {_LINES})")
    parser.add_argument("--service", metavar="S", help="one service's container")
    parser.add_argument("--project", metavar="P", help="compose project (default: bead)")


def run(args: argparse.Namespace, context: Context) -> int:
    """Print them."""
    who = runtime.read(context.home)
    is_process = who is not None and who.pid is not None and runtime.is_running(who)
    if is_process and args.service is None and args.project is None:
        assert who is not None and who.pid is not None, "it was looked at above"
        found = _of_process(who.pid, args.lines)
    else:
        from bead_cli.containers import lines

        found = list(lines(args.project or "bead", args.service, args.lines))
    if context.output.as_json:
        context.output.document({"lines": found})
    else:
        for line in found:
            context.output.text(context.output.stored(line))
        if not found:
            context.output.note("nothing was logged")
    return 0


def _of_process(pid: int, count: int) -> list[str]:
    """Of a bead in one process: the file its standard error goes to, else the journal of its unit.

    Raises:
        NotFound: it logs to a terminal, or to somewhere that cannot be read.
    """
    place = f"/proc/{pid}/fd/2"
    try:
        target = os.readlink(place)
        if os.path.isfile(target):
            with open(target, encoding="utf-8", errors="replace") as file:
                return [line.rstrip("\n") for line in deque(file, count)]
    except OSError:
        target = ""
    if target.startswith("/dev/"):
        raise NotFound(f"bead (pid {pid}) logs to a terminal ({target}); start it with: bead up 2>>FILE")
    command = ["journalctl", "--user", "-u", _UNIT, "-n", str(count), "-o", "cat", "--no-pager"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        raise NotFound(f"where bead (pid {pid}) logs to cannot be read here") from None
    return done.stdout.splitlines()
