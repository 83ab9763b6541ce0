"""`bead prime`: what a session is to start with, for session-start hooks; the text is `priming`'s."""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from bead.errors import BadRequest, BeadError, NotFound, Unavailable
from bead_cli import firing
from bead_cli.context import Context
from bead_cli.door import Door, opened
from bead_cli.inpath import has_seen, is_in_path
from bead_cli.lookup import active_project, caught_up
from bead_cli.priming import DOCUMENTS, HOW_TO, Caps, banner, document, primed

EVERYTHING = 1_000_000
"""More tokens than a home has: the cut is made here, where it can be announced."""
_LIMIT_S = 2.0
_EPILOG = """\
Prints nothing when there is nothing to tell, and says loudly when memory could not be read. Where the proxy is in the
path (`bead wrap`), memory comes with each request and a hook says nothing, so that nothing is told twice.
Limits are prime.max_items and prime.max_characters; text of your own for the end of it lies in PRIME.md of the home.

examples:
  bead prime
  bead prime --memories-only
  bead prime --hook-json --harness claude       for a SessionStart hook
  bead prime --opencode-plugin > ~/.config/opencode/plugin/bead.js
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """What to print, and for whom."""
    parser.epilog = _EPILOG
    parser.add_argument(
        "--hook-json", action="store_true", help="as the document that a session-start hook answers with"
    )
    parser.add_argument(
        "--harness", choices=tuple(DOCUMENTS), default="claude", metavar="NAME", help=", ".join(DOCUMENTS)
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--memories-only", action="store_true", help="without the words on how to use bead")
    which.add_argument("--no-memories", action="store_true", help="only the words on how to use bead")
    which.add_argument("--opencode-plugin", action="store_true", help="print opencode's plugin that asks for it")
    parser.add_argument("--project", metavar="P", help="default: the project of this directory")


class Session(NamedTuple):
    """What a hook's document says of the session that begins; both empty where nobody says."""

    id: str = ""
    source: str = ""
    """`startup`, `resume`, `clear`, `compact`."""


def run(args: argparse.Namespace, context: Context) -> int:
    """Always 0: a hook that fails would only hide why."""
    if args.opencode_plugin:
        from bead_cli.opencode import plugin

        program = shutil.which("bead", path=context.environ.get("PATH")) or os.path.realpath(sys.argv[0])
        text = plugin([program, "--home", context.home])
        context.output.document({"text": text}) if context.output.as_json else context.output.text(text)
        return 0
    session = Session()
    if args.hook_json:
        firing.note(context.home, args.harness, "session-start")
        session = _session()
    text = "" if args.hook_json and _is_silent(args, context) else session_text(args, context, session)
    if context.output.as_json:
        context.output.document({"text": text})
    elif text:
        context.output.text(document(args.harness, "SessionStart", text) if args.hook_json else text)
    return 0


def session_text(args: argparse.Namespace, context: Context, session: Session = Session()) -> str:  # noqa: B008
    """The text, or the banner that says why there is none; empty when the home has nothing to tell."""
    try:
        how_to = "" if args.memories_only else _how_to(context)
        if args.no_memories:
            return how_to
        settings = context.settings()
        caps = Caps(settings.prime.max_items, settings.prime.max_characters)
        with opened(context, "store", "index") as door:
            if session.id and has_seen(door, session.id, _LIMIT_S):
                return ""
            project = active_project(door, args.project) or ""
            text, taken = primed(_facts(door, settings.owner, project), caps, how_to)
            if session.id and taken:
                _note_told(door, settings.owner, project, session, text, taken)
            return text
    except NotFound:
        return ""
    except BeadError as error:
        return banner(error.message)
    except OSError as error:
        return banner(type(error).__name__)


def _facts(door: Door, owner: str, project: str) -> list[Any]:
    """Every fact this directory's sessions may be told, most important first.

    Raises:
        BeadError: the home cannot be read.
    """
    import msgspec

    from bead.wire.index import PinnedAnswer

    if not caught_up(door):
        raise Unavailable("the index has not caught up with the store in time")
    request = {"owner": owner, "project": project, "budget_tokens": EVERYTHING, "project_facts": "fit"}
    return list(msgspec.convert(door.call("index", "POST", "/v1/pinned", request), PinnedAnswer).facts)


def _note_told(door: Door, owner: str, project: str, session: Session, text: str, facts: Sequence[Any]) -> None:
    """Let the hooks of this session's prompts know what it has been told; losing that only tells something twice."""
    from bead.conversations import BlockKind
    from bead_cli import telling
    from bead_proxy.caller import session_name

    # A resumed session still has what it was told before; any other begins with this text.
    kind = BlockKind.RECALL if session.source == "resume" else BlockKind.PINNED
    try:
        state = telling.told(door, owner, project, session_name(session.id), _LIMIT_S)
        if state.place:
            named = [{"uid": fact.uid, "version": fact.version} for fact in facts]
            telling.keep(door, state, kind, text, named, _LIMIT_S)
    except BeadError:
        return


def _is_silent(args: argparse.Namespace, context: Context) -> bool:
    try:
        return is_in_path(context, args.harness)
    except BeadError:
        return False  # the text will say what is wrong


def _session() -> Session:
    from bead_cli.commands.hook import read_input

    try:
        if sys.stdin.isatty():
            return Session()
        said = json.loads(read_input(sys.stdin.fileno()))
    except (OSError, ValueError, AttributeError):
        return Session()
    if not isinstance(said, dict) or not isinstance(said.get("session_id"), str):
        return Session()
    return Session(said["session_id"], str(said.get("source", "")))


def _how_to(context: Context) -> str:
    """The person's own words in place of ours; memories come before either, and are never replaced by it.

    Raises:
        BadRequest: the file cannot be read.
    """
    path = os.path.join(context.home, "PRIME.md")
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        return HOW_TO
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path} cannot be read ({type(error).__name__})") from None
