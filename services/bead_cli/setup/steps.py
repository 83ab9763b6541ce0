"""One file that setup changes: what it is to hold, shown or done, and never twice."""

import difflib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bead.errors import BeadError, Refused
from bead_cli.setup import files, settingsfile
from bead_cli.setup.journal import Entry, Journal
from bead_cli.setup.undoing import SETTINGS, WHOLE


class Step(NamedTuple):
    """One file. `wanted` makes its new bytes of the old ones and raises `Refused` where that is not safe."""

    path: Path
    what: str
    """For a person: what it is for."""
    wanted: Callable[[bytes | None], bytes]
    part: Mapping[str, Any]
    """What is bead's in it, for `undoing`."""
    mode: int = files.NEW_MODE
    """Of a file that is made."""
    by_hand: str = ""
    """What a person can do where bead may not."""
    left: Callable[[bytes | None], str] = lambda before: ""
    """What of it the person has set otherwise, and so keeps."""
    shown: str | None = None
    """What a dry run shows; None: the lines that are new. Beside what is bead's a file may hold a person's keys."""


class Done(NamedTuple):
    """What became of a step: `written`, `unchanged`, `would be written`, or `refused`."""

    path: str
    what: str
    state: str
    reason: str = ""
    """Why it was refused, or what of it was left as the person has it."""
    change: str = ""
    """What a dry run would change, as a difference of lines."""


def do(step: Step, journal: Journal, *, dry_run: bool) -> Done:
    """Let the file hold what it is to hold; a refusal leaves it as it is."""
    try:
        found = files.read(step.path)
        base = _without_older_part(step, journal.entries.get(str(step.path)), found.data)
        after = step.wanted(base)
        left = step.left(base)
        if after == found.data:
            return Done(str(step.path), step.what, "unchanged", left)
        _require_ours(step, journal, found.data)
        files.require_writable(found)
        if dry_run:
            change = step.shown if step.shown is not None else _difference(found.data, after)
            return Done(str(step.path), step.what, "would be written", left, change)
        if found.data is None:
            found = found._replace(mode=step.mode)
        journal.note(step.path, found, after, step.part)
        files.replace(found.path, after, found.mode)
    except BeadError as error:
        by_hand = f"; {step.by_hand}" if step.by_hand else ""
        return Done(str(step.path), step.what, "refused", error.message + by_hand)
    return Done(str(step.path), step.what, "written", left)


def _require_ours(step: Step, journal: Journal, data: bytes | None) -> None:
    """A file that would be bead's from end to end is not put over one that a person has made."""
    if step.part.get("kind") == WHOLE and data is not None and str(step.path) not in journal.entries:
        raise Refused(f"{step.path} is there already and is not setup's; move it away and run setup again")


def _without_older_part(step: Step, entry: Entry | None, data: bytes | None) -> bytes | None:
    """The settings without what an earlier setup put there, where that is not what is wanted now.

    A port, a place of the program or a choice that has changed would else stay beside the new one.
    """
    if entry is None or data is None or step.part.get("kind") != SETTINGS or entry.part == step.part:
        return data
    return settingsfile.without_part(data, settingsfile.from_document(entry.part), entry.path)


def _difference(before: bytes | None, after: bytes) -> str:
    old = (before or b"").decode("utf-8", "replace").splitlines()
    new = after.decode("utf-8", "replace").splitlines()
    lines = difflib.unified_diff(old, new, lineterm="", n=0)
    return "\n".join(line for line in lines if line.startswith("+") and not line.startswith("+++"))
