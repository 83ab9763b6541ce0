"""This machine and what setup has noted about it, as `bead setup` and `bead unsetup` both see it."""

import os
from pathlib import Path
from typing import NamedTuple

from bead.errors import BadRequest
from bead_cli.context import Context
from bead_cli.setup import units
from bead_cli.setup.journal import Journal


class Place(NamedTuple):
    """Where setup works."""

    machine: units.Machine
    journal: Journal

    def home_option(self, home: str) -> list[str]:
        """`--home` and the home, where it is not the usual one."""
        return [] if Path(home) == self.machine.home / ".bead" else ["--home", home]


def place(context: Context) -> Place:
    """The person's machine.

    Raises:
        BadRequest: nobody knows whose it is.
        HomeUnusable: what setup has noted cannot be read.
    """
    home = context.environ.get("HOME")
    if not home or not os.path.isabs(home):
        raise BadRequest("HOME is not set to an absolute path; setup does not know whose machine this is")
    log = Path(context.home) / "logs" / "bead.log"
    return Place(units.Machine(context.environ, Path(home), log), Journal(Path(context.home)))
