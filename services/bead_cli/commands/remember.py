"""`bead remember` and `bead write`: keep a fact, and say truly what that did."""

import argparse
import sys
from typing import Any

from bead import guards
from bead.errors import NotFound, Refused
from bead.secrecy import forbid_core_dumps
from bead_cli.context import Context
from bead_cli.door import DEFAULT_TIMEOUT_S, Door, opened
from bead_cli.harness_env import harness_in, refuse_inside_harness, trust_of
from bead_cli.lookup import active_project, checked_text, current_fact
from bead_cli.output import Output, one_line
from bead_cli.passphrase import ask

_TYPES = ("user", "feedback", "project", "reference")
_CARD = (
    ("say", "a sentence of yours in which it matters"),
    ("do", "a piece of a command or an edit for which it matters"),
    ("see", "a piece of output or of an error for which it matters"),
    ("unless", "a piece of text that shows it is followed already"),
)
_WAS_CHARACTERS = 200
_SECRET_LIMIT_S = 600.0
"""A plain history of the key is sealed first, and that reads the whole raw log."""
_EPILOGS = {
    "remember": """\
Without --key the key is made from the first words of the text; the same sentence again changes nothing.
One word alone is read as a key, not kept: `bead remember deploy-day` prints what is stored there.

examples:
  bead remember "we deploy on Tuesdays"
  bead remember "use pnpm, never npm" --do "npm install" --unless "pnpm"
  bead remember "I work in Lisbon" --key user/city
  git log -1 --format=%s | bead remember - --type reference
""",
    "write": """\
KEY is user/…, global/…, project/<name>/… or team/<name>/…; a short name goes into the project of this directory.

examples:
  bead write project/shop/deploy-day "deploys happen on Wednesdays"
  bead write user/editor helix --type user
  bead write test-command "make check" --say "run the tests" --do "pytest"
  bead write user/bank-pin --sensitivity secret        asks for the text; see `bead vault`
""",
}


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Text, key, type, project and the trigger card."""
    parser.epilog = _EPILOGS[name]
    if name == "write":
        parser.add_argument("key", metavar="KEY", help="where to keep it")
        parser.add_argument(
            "--sensitivity",
            choices=("public", "private", "secret"),
            help="default: private; secret goes into the vault",
        )
    else:
        parser.add_argument("--key", metavar="K", help="where to keep it, instead of a key made from the words")
    count = "*" if name == "write" else "+"
    parser.add_argument("text", metavar="TEXT", nargs=count, help="the text to keep; - reads standard input")
    parser.add_argument("--type", choices=_TYPES, help="default: project inside a project, else user")
    parser.add_argument("--project", metavar="P", help="default: the project of this directory")
    for field, meaning in _CARD:
        parser.add_argument(f"--{field}", metavar="S", action="append", default=[], help=f"{meaning} (repeatable)")


def run(args: argparse.Namespace, context: Context) -> int:
    """Write one fact through the store's rule."""
    is_secret = getattr(args, "sensitivity", None) == "secret"
    if is_secret:
        refuse_inside_harness(context.environ, "write --sensitivity secret")
        forbid_core_dumps()
    text = checked_text(_words(args.text, context, is_secret=is_secret))
    if args.key is None and guards.is_command(text):
        raise Refused(f"'{text}' looks like a command, not something to remember; to keep it anyway give it a --key")
    with opened(context, "store", begins=True) as door:
        if args.key is None and guards.is_bare_key(text):
            return _read_instead(context, door, guards.bare(text), args.project)
        answer = _write(args, context, door, text, _SECRET_LIMIT_S if is_secret else DEFAULT_TIMEOUT_S)
    context.output.document(answer) if context.output.as_json else say_verb(context.output, answer)
    return 0


def _words(given: list[str], context: Context, *, is_secret: bool) -> list[str]:
    """The text of the command line, of standard input, or, for a secret, typed without echo."""
    if given == ["-"]:
        return [sys.stdin.read()]
    if is_secret and not given:
        return [ask("the secret (not shown): ", "a secret that is not on the command line")]
    if is_secret:
        context.output.note("the secret is in your shell's history; without TEXT bead asks for it, and - reads a pipe")
    return given


def _write(args: argparse.Namespace, context: Context, door: Door, text: str, limit_s: float) -> dict[str, Any]:
    harness = harness_in(context.environ)
    trust = trust_of(harness)
    if harness:
        context.output.note(f"written with trust {trust}: this runs inside {harness}")
    card = {field: getattr(args, field) for field, _ in _CARD if getattr(args, field)}
    request = {
        "body": text,
        "key": args.key,
        "type": args.type,
        "trust": trust,
        "project": active_project(door, args.project),
        "when": card or None,
        "sensitivity": getattr(args, "sensitivity", None),
        "harness": harness,
    }
    wanted = {name: value for name, value in request.items() if value is not None}
    answer: dict[str, Any] = door.call("store", "POST", "/v1/facts", wanted, timeout_s=limit_s)
    return answer


def _read_instead(context: Context, door: Door, text: str, project: str | None) -> int:
    """A bare key is a question. Raises `Refused` when nothing is stored under it: it is no memory either."""
    try:
        fact = current_fact(context, door, text, project)
    except NotFound:
        raise Refused(
            f"'{text}' looks like a key, and nothing is stored under it; to keep it as text give it a --key"
        ) from None
    context.output.note(f"'{text}' is a key; this is what it holds:")
    context.output.document(fact) if context.output.as_json else context.output.text(
        context.output.stored(fact["body"])
    )
    return 0


def say_verb(output: Output, answer: dict[str, Any]) -> None:
    """One line with the honest verb of a write."""
    verb, name = answer["verb"], f"{answer['key']} v{answer['version']}"
    if verb == "queued":
        stays = f"current stays v{answer['version']}" if answer["version"] else "nothing is stored there yet"
        output.text(f"queued for review: {answer['key']} (item {answer.get('review_id')}); {stays}")
        return
    was = answer.get("replaced")
    ending = f" (was: {output.stored(one_line(was, _WAS_CHARACTERS))})" if verb == "superseded" and was else ""
    output.text(f"{output.style('green', verb)} {name}{ending}")
    other = answer.get("conflicts_with")
    if other:
        output.text(f"  {other} says something else about this, and agents are shown only one of the two.")
        output.text(f"  Does this take its place? bead queue accept {answer['review_id']} (or reject: both stay)")
