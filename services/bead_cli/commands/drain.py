"""`bead drain`: what the coding agents remember by themselves becomes drafts for you to look at."""

import argparse
import os
from typing import TYPE_CHECKING

from bead.errors import NotAllowed
from bead_cli.context import Context
from bead_cli.door import Door, opened
from bead_cli.harness_env import harness_in
from bead_cli.output import Output

if TYPE_CHECKING:
    from bead_cli.drain.draining import Bus, Drained, Report

_UNAVAILABLE = 3
_EPILOG = """\
Reads the memories that Claude Code, Codex, Gemini CLI and Qwen Code keep for themselves; each becomes one draft, once.
No draft reaches a model before you approve it: `bead drafts`. Nothing of an agent's is changed without --truncate.

Typed by you it drains every agent. By itself, and when an agent types it, only those that the setting drain.enabled
turns on; an agent can empty nothing.

examples:
  bead drain --dry-run              what there is, without touching anything
  bead drain                        make drafts of it
  bead drain --cli claude --truncate
  bead drain --legacy               the usual places of this account, when nobody knows which agent wrote there
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Whose memories, and whether their files are emptied."""
    from bead.wire.drafts import CLIS

    parser.epilog = _EPILOG
    names = (*CLIS, "opencode", "copilot")
    parser.add_argument("--cli", choices=names, metavar="NAME", help=f"one of {', '.join(names)}; default: all")
    parser.add_argument("--legacy", action="store_true", help="the usual places, tagged agent:shared")
    parser.add_argument("--truncate", action="store_true", help="empty files of which every memory is a draft")
    parser.add_argument("--dry-run", action="store_true", help="only say what is there")


def run(args: argparse.Namespace, context: Context) -> int:
    """Drain; 3 when the store does not answer any more."""
    from bead_cli.drain import notes, places
    from bead_cli.drain.draining import SHARED, Wish, drain

    clis = _clis(args, context)
    if context.in_container():
        raise NotAllowed("the agents' memories lie on the host; run 'bead drain' there")
    wish = Wish(args.truncate, args.dry_run, SHARED if args.legacy else None)
    uid = os.getuid()
    waiting = [path for path, _ in notes.waiting(context.home)]
    found = places.find(context.environ, clis, uid, usual=args.legacy)
    if args.dry_run:
        report = drain(found, _no_bus(), wish, uid)
    else:
        with opened(context, "store", begins=True) as door:
            report = drain(found, bus_of(door), wish, uid)
        if not report.trouble and args.cli is None:
            notes.done(waiting)
    _print(context.output, report, wish.dry_run)
    return _UNAVAILABLE if report.trouble else 0


def bus_of(door: Door) -> "Bus":
    """The store behind `door`, as the drain asks it."""
    from bead.git import identify
    from bead.wire.drafts import DraftAnswer, NewDraft
    from bead_cli.drain.draining import Bus

    def add(new: NewDraft) -> DraftAnswer:
        return DraftAnswer.model_validate(door.call("store", "POST", "/v1/drafts", new.model_dump(mode="json")))

    def project(directory: str) -> str | None:
        found = identify(directory)
        if found is None:
            return None
        request = {"directory": directory, "identities": found.ids, "name": found.name}
        resolved = door.call("store", "POST", "/v1/projects/resolve", request)
        return None if resolved is None else str(resolved["name"])

    return Bus(add, project)


def _clis(args: argparse.Namespace, context: Context) -> list[str]:
    from bead.wire.drafts import CLIS
    from bead_cli.drain.draining import enabled
    from bead_cli.drain.places import WITHOUT

    clis = [args.cli] if args.cli else [*CLIS, *WITHOUT]
    harness = harness_in(context.environ)
    if harness is None:
        return clis
    if args.truncate or args.legacy:
        raise NotAllowed(f"emptying is a person's decision, and this runs inside {harness}; use a terminal of your own")
    allowed = enabled(context.settings().drain.enabled, clis)
    if not allowed:
        raise NotAllowed(f"draining is off, and this runs inside {harness}; the setting drain.enabled turns it on")
    return allowed


def _no_bus() -> "Bus":
    from bead.wire.drafts import DraftAnswer, NewDraft
    from bead_cli.drain.draining import Bus

    def add(new: NewDraft) -> DraftAnswer:
        raise AssertionError("a dry run asks nobody")

    return Bus(add, lambda directory: None)


def _print(output: Output, report: "Report", dry_run: bool) -> None:
    if output.as_json:
        output.document(report.document())
        return
    for each in report.files:
        output.text(_line(output, each))
    for note in report.notes:
        output.text(output.style("dim", f"{note.cli}: {output.stored(note.path)} {note.reason}".replace("  ", " ")))
    counts = report.counts()
    said = ", ".join(f"{count} {verb}" for verb, count in counts.items()) or "nothing new"
    output.text(f"{sum(each.memories for each in report.files)} memories" + ("" if dry_run else f": {said}"))
    if counts.get("created"):
        output.text("read them: bead drafts")
    if report.trouble:
        output.note(f"ended early: {report.trouble}")


def _line(output: Output, each: "Drained") -> str:
    colour = {"emptied": "green", "kept": "yellow"}.get(each.state, "bold")
    project = f" ({each.project})" if each.project else ""
    reason = f": {each.reason}" if each.reason else ""
    count = f"{each.memories} memor{'y' if each.memories == 1 else 'ies'}"
    return f"{output.style(colour, each.state)} {output.stored(each.path)}{project} {count}{reason}"
