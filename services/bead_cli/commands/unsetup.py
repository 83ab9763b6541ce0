"""`bead unsetup`: leave no trace of `bead setup` outside bead's home."""

import argparse

from bead.errors import BeadError, NotFound, Refused, Unavailable
from bead_cli import runtime
from bead_cli.context import Context
from bead_cli.setup import units
from bead_cli.setup.machine import Place, place
from bead_cli.setup.undoing import undo

_NEEDS_A_PERSON = 4
_DESCRIPTION = """\
Give every file back that `bead setup` has changed and stop the bead it has started. Memory itself stays: it is the
folder that --home names, and yours to delete. A file that you have changed since keeps your changes.
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Only shows or does."""
    parser.description = _DESCRIPTION
    parser.epilog = "examples:\n  bead unsetup --dry-run\n  bead unsetup\n"
    parser.add_argument("--dry-run", action="store_true", help="only say what would be changed")


def run(args: argparse.Namespace, context: Context) -> int:
    """4 when a file had to be left as it is."""
    here = place(context)
    journal, unit = here.journal, here.journal.unit
    if not journal.entries and not unit:
        raise NotFound("setup has changed nothing here")
    kind = str(unit.get("kind") or units.NOTHING)
    if not args.dry_run:
        units.unload(here.machine, kind)
        if unit.get("started"):
            _stop(context)
    rows, is_whole = [], True
    for entry in reversed(list(journal.entries.values())):
        try:
            undone = undo(journal, entry, dry_run=args.dry_run)
            rows.append({"path": undone.path, "what": undone.what})
        except BeadError as error:
            is_whole = False
            rows.append({"path": entry.path, "what": f"left alone: {error.message}"})
    rows += _undo_cron(args, here)
    if not args.dry_run:
        units.reload(here.machine, kind)
        journal.unit, journal.choices = {} if is_whole else {"kind": kind}, {}
        journal.keep()
    _say(context, rows, args.dry_run)
    return 0 if is_whole else _NEEDS_A_PERSON


def _undo_cron(args: argparse.Namespace, here: Place) -> list[dict[str, str]]:
    unit = here.journal.unit
    if "crontab" not in unit:
        return []
    now = units.crontab(here.machine)
    is_ours = now == unit.get("crontab_after")
    if not args.dry_run:
        units.set_crontab(here.machine, unit["crontab"] if is_ours else units.without_cron_line(now))
    return [{"path": "crontab", "what": "as it was" if is_ours else "changed since; only bead's line was taken out"}]


def _stop(context: Context) -> None:
    from bead_cli.commands import down

    try:
        who = runtime.read(context.home)
        if who is not None and runtime.is_running(who):
            down.stop(who)
    except (Refused, Unavailable) as error:
        context.output.note(error.message)


def _say(context: Context, rows: list[dict[str, str]], dry_run: bool) -> None:
    if context.output.as_json:
        context.output.document({"files": rows, "done": not dry_run, "home": context.home})
        return
    for row in rows:
        context.output.text(f"{row['path']}: {row['what']}")
    would = "would stay" if dry_run else "stays"
    context.output.text(f"your memory {would} in {context.home}; a new terminal forgets the shell function")
