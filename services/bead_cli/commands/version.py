"""`bead version`, also `bead --version`."""

import argparse

from bead import __version__
from bead_cli.context import Context


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """No arguments of its own."""


def run(args: argparse.Namespace, context: Context) -> int:
    """Print the version."""
    if context.output.as_json:
        context.output.document({"version": __version__})
    else:
        context.output.text(f"bead {__version__}")
    return 0
