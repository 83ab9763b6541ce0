"""`bead migrate`: the files of an older bead in the form of this one, with a copy of everything first."""

import argparse
import asyncio
from pathlib import Path

from bead_cli.context import Context
from bead_cli.harness_env import refuse_inside_harness

_OF_CONTAINERS = Path("/backup")
"""Beside the home is nothing that can be written there."""

_EPILOG = """\
Says so and changes nothing when there is nothing to do. The copy lies beside the home, in a container in /backup,
readable for you alone; remove it when you are content. To go back, stop bead and put the copy in the home's place: an
older bead never opens a newer home.

examples:
  bead down && bead migrate
  docker compose stop && docker compose run --rm store migrate
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Where the copy goes."""
    parser.add_argument("--to", metavar="DIR", type=Path, help="folder for the copy (default: beside the home)")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace, context: Context) -> int:
    """Migrate the home."""
    from bead_store.formats import migrate

    refuse_inside_harness(context.environ, "migrate")
    folder = args.to or (_OF_CONTAINERS if context.environ.get("BEAD_IN_CONTAINER") else None)
    done = asyncio.run(migrate(context.layout(), folder=folder))
    if context.output.as_json:
        copy = str(done.copy) if done.copy else None
        context.output.document({"before": done.before, "after": done.after, "copy": copy})
    elif done.copy is None:
        context.output.text(f"{context.home} is in form {done.after} already")
    else:
        context.output.text(f"{context.output.style('green', 'migrated')} from form {done.before} to {done.after}")
        context.output.text(f"  as it was: {done.copy}")
    return 0
