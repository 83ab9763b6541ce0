"""`bead down`: end the bead of this home, and wait until it has ended."""

import argparse
import os
import signal
import time

from bead.errors import Refused, Unavailable
from bead_cli import runtime
from bead_cli.context import Context
from bead_cli.probe import answers_for

_LIMIT_S = 10.0
_POLL_S = 0.02
_EPILOG = """\
examples:
  bead down
  bead down --home /srv/memory
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """No arguments of its own."""
    parser.epilog = _EPILOG


def run(args: argparse.Namespace, context: Context) -> int:
    """0 when nothing runs afterwards."""
    who = runtime.read(context.home)
    if who is None or not runtime.is_running(who):
        return _say(context, False, "bead was not running")
    stop(who)
    return _say(context, True, f"bead (pid {who.pid}) has stopped")


def stop(who: runtime.Runtime) -> None:
    """End a bead that runs, and wait until it has ended.

    Raises:
        Refused: it runs in containers.
        Unavailable: it is none, or does not end.
    """
    if who.pid is None:
        raise Refused("this home is served by containers; stop them with: docker compose down")
    # A pid alone may have been given to another process: the kernel's start time or the health answer must agree.
    if who.birth is None and not answers_for(who):
        raise Unavailable(f"pid {who.pid} is named by runtime.json but does not answer as bead; look at it yourself")
    os.kill(who.pid, signal.SIGTERM)
    _wait(who)


def _wait(who: runtime.Runtime) -> None:
    until = time.monotonic() + _LIMIT_S
    while runtime.is_running(who):
        if time.monotonic() > until:
            raise Unavailable(
                f"bead (pid {who.pid}) has not stopped within {_LIMIT_S:g} s; it may hang. Killing it loses nothing:"
                f" kill -9 {who.pid}"
            )
        time.sleep(_POLL_S)


def _say(context: Context, stopped: bool, text: str) -> int:
    if context.output.as_json:
        context.output.document({"stopped": stopped})
    else:
        context.output.text(text)
    return 0
