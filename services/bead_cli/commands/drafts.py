"""`bead drafts`: memories drained from the coding agents, and your word about each."""

import argparse
import subprocess
import tempfile
from typing import Any

from bead.errors import BadRequest
from bead_cli.commands.remember import say_verb
from bead_cli.context import Context
from bead_cli.door import Door, opened
from bead_cli.harness_env import refuse_inside_harness
from bead_cli.loopback import quoted
from bead_cli.output import Output, one_line

_LINE_CHARACTERS = 160
_NEAR_CHARACTERS = 100
_LIMIT_S = 30.0
_ACTIONS = ("list", "approve", "edit", "discard")
_EPILOG = """\
A draft reaches no model. Approved it is a fact in your own words; discarded it never comes back, whichever agent writes
it again. `edit` opens your editor ($EDITOR), or takes --text. Not to be used by an agent: exit code 1 inside one.

examples:
  bead drafts
  bead drafts approve 1f0c2b
  bead drafts edit 1f0c2b --text "Staging is reset on Sundays."
  bead drafts discard 1f0c2b 8d77a0
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """`list`, also without the word, or a decision about drafts."""
    parser.epilog = _EPILOG
    parser.add_argument("action", choices=_ACTIONS, nargs="?", default="list", metavar="list|approve|edit|discard")
    parser.add_argument("ids", nargs="*", metavar="ID", help="a draft as `list` shows it, or a beginning of it")
    parser.add_argument("--agent", metavar="NAME", help="with list: only what this agent wrote")
    parser.add_argument("--text", metavar="TEXT", help="with edit: the new words")


def run(args: argparse.Namespace, context: Context) -> int:
    """Print the drafts, what most agents wrote first, or decide some."""
    if (args.action == "list") != (not args.ids) or (args.action == "edit" and len(args.ids) != 1):
        raise BadRequest("'approve' and 'discard' need IDs and 'edit' one, as 'bead drafts list' shows them")
    if args.text is not None and args.action != "edit":
        raise BadRequest("--text goes with 'edit'")
    # To list is to show them to whoever typed it: in an agent that is a model (I14).
    refuse_inside_harness(context.environ, f"drafts {args.action}")
    with opened(context, "store") as door:
        drafts = door.call("store", "GET", "/v1/drafts", timeout_s=_LIMIT_S)["drafts"]
        if args.action == "list":
            _show(context.output, [each for each in drafts if _is_of(each, args.agent)])
        else:
            _decide_all(context, door, args, [_named(drafts, text) for text in args.ids])
    return 0


def _show(output: Output, drafts: list[dict[str, Any]]) -> None:
    if output.as_json:
        output.document({"drafts": drafts})
        return
    for each in drafts:
        agents = [tag[6:] for tag in each["tags"] if tag.startswith("agent:")]
        about = output.style("dim", f"{', '.join(agents)}  {each['created']}")
        output.text(f"{output.style('bold', each['id'])}  {each['key']}  {about}")
        output.text(f"  {output.stored(one_line(each['body'], _LINE_CHARACTERS))}")
        if each["suspicious"]:
            output.text(output.style("yellow", "  it reads like an instruction to a model: read it twice"))
        for near in each["near"]:
            kind = "fact" if near["is_fact"] else "draft"
            body = output.stored(one_line(near["body"], _NEAR_CHARACTERS))
            output.text(output.style("dim", f"  like {kind} {near['name']}: {body}"))
    if not drafts:
        output.text("no draft waits for you")


def _is_of(draft: dict[str, Any], agent: str | None) -> bool:
    return agent is None or f"agent:{agent}" in draft["tags"]


def _named(drafts: list[dict[str, Any]], text: str) -> dict[str, Any]:
    """The draft that `text` names or begins; a whole id that is not there is the store's to answer."""
    found = [each for each in drafts if each["id"].startswith(text)]
    if len(found) > 1:
        raise BadRequest(f"{len(found)} drafts begin with '{text}'; give more of the ID")
    return found[0] if found else {"id": text, "body": ""}


def _decide_all(context: Context, door: Door, args: argparse.Namespace, drafts: list[dict[str, Any]]) -> None:
    decided = []
    for draft in drafts:
        body: dict[str, Any] = {}
        if args.action == "edit":
            body = {"body": args.text if args.text is not None else _in_editor(context, draft["body"])}
        path = f"/v1/drafts/{quoted(draft['id'])}/{args.action}"
        decided.append(door.call("store", "POST", path, body, timeout_s=_LIMIT_S))
        if not context.output.as_json:
            _say(context.output, decided[-1])
    if context.output.as_json:
        context.output.document(decided[0] if len(decided) == 1 else {"decided": decided})


def _say(output: Output, decided: dict[str, Any]) -> None:
    key = f" {decided['key']}" if decided["key"] else ""
    output.text(f"{output.style('green', decided['decision'])}{key} (draft {decided['id']})")
    if decided["written"]:
        say_verb(output, decided["written"])


def _in_editor(context: Context, body: str) -> str:
    """What the person makes of `body` in their editor; the file is theirs alone and gone afterwards."""
    editor = context.environ.get("VISUAL") or context.environ.get("EDITOR")
    if not editor:
        raise BadRequest("'edit' needs $EDITOR, or the new words with --text")
    with tempfile.NamedTemporaryFile("w+", suffix=".md", prefix="bead-draft-", encoding="utf-8") as file:
        file.write(body)
        file.flush()
        done = subprocess.run([*editor.split(), file.name], check=False)
        if done.returncode != 0:
            raise BadRequest(f"the editor ended with {done.returncode}; the draft stays as it is")
        with open(file.name, encoding="utf-8") as edited:  # some editors put another file in its place
            text = edited.read()
    if not text.strip():
        raise BadRequest("the text is empty; the draft stays as it is")
    return text
