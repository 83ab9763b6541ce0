"""Lets bead run now and after each login, whatever it was that setup found to keep it running."""

import time
from typing import NamedTuple

from bead.errors import BeadError
from bead_cli import runtime
from bead_cli.context import Context
from bead_cli.probe import answers_for
from bead_cli.setup import units
from bead_cli.setup.machine import Place

_READY_S = 30.0
_POLL_S = 0.05


class Start(NamedTuple):
    """What became of it, for a person, and whether that is what was asked for."""

    state: str
    is_fine: bool = True


def start(context: Context, place: Place, kind: str, arguments: list[str]) -> Start:
    """Let the supervisor have bead, and start it where none runs."""
    try:
        if is_running(context):
            units.enable(place.machine, kind)
            return Start("running")
        if kind in (units.CRON, units.NOTHING):
            place.journal.unit["started"] = True
            place.journal.keep()
        units.load(place.machine, kind, arguments)
    except BeadError as error:
        return Start(f"not started: {error.message}", is_fine=False)
    if _wait_until_ready(context):
        return Start("started")
    return Start(f"not ready yet; see: bead status, and {place.machine.log}", is_fine=False)


def is_running(context: Context) -> bool:
    """Whether a bead is alive on this home. Raises HomeUnusable."""
    who = runtime.read(context.home)
    return who is not None and runtime.is_running(who)


def _wait_until_ready(context: Context) -> bool:
    until = time.monotonic() + _READY_S
    while time.monotonic() < until:
        who = runtime.read(context.home)
        if who is not None and runtime.is_running(who) and answers_for(who):
            return True
        time.sleep(_POLL_S)
    return False
