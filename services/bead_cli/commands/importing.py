"""`bead import`: facts from JSON lines, and what other programs kept, through the same rule as every other way in.

What other programs kept is `bead_cli.importing`'s.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from bead import keys
from bead.errors import BadRequest, BeadError, InvalidKey, Refused, Tombstoned
from bead.facts import FactType
from bead_cli.context import Context
from bead_cli.door import Door, opened
from bead_cli.harness_env import refuse_inside_harness
from bead_cli.importing.readers import PROGRAMS
from bead_cli.lookup import active_project, is_whole_key

_TYPE = "memory"
_PROGRAMS = tuple(PROGRAMS)
_MAX_LINE = 1 << 20
_SHOWN = 20
_EPILOG = """\
Reads lines such as {"_type": "memory", "key": "deploy-day", "value": "Tuesday"}: what `bead export` and beads write;
other lines are left out and counted. A key without a scope goes into the project of this directory, else to user/. What
is imported counts as observed by an agent, so nothing that you said is overruled: such lines wait in `bead queue`. With
--trust user they are your own words. What you let bead forget stays out, and the same text again changes nothing.

With --from PATH is what another program keeps: a CLAUDE.md, AGENTS.md or GEMINI.md, the MCP memory server's graph,
notes of basic-memory, an export of mem0, claude-mem.db, JSON lines of beads, or sessions of Claude Code and Codex for
the raw history. It is shown first, taken once, and its facts wait in `bead queue` unless they are yours (--trust user).

examples:
  bead import --from claude-md ./CLAUDE.md --dry-run
  bead import --from claude-mem ~/.claude-mem/claude-mem.db
  bead import --from claude-transcripts ~/.claude/projects --yes
  bead import facts.jsonl --dry-run
  bead import facts.jsonl
  bead import facts.jsonl --trust user
"""


class Memory(NamedTuple):
    """One line that can be written."""

    number: int
    key: str
    body: str
    type: str | None
    when: dict[str, Any] | None

    def __repr__(self) -> str:  # the body is a person's text
        return f"Memory(line {self.number})"


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """The file, and whose words it holds."""
    parser.epilog = _EPILOG
    parser.add_argument("file", metavar="PATH", help="a file of JSON lines (- reads standard input), or see --from")
    parser.add_argument("--from", dest="program", choices=_PROGRAMS, metavar="NAME", help=", ".join(_PROGRAMS))
    parser.add_argument("--yes", action="store_true", help="do not ask (with --from)")
    parser.add_argument("--trust", choices=("user", "agent"), default="agent", help="default: agent")
    parser.add_argument("--project", metavar="P", help="for keys without a scope; default: that of this directory")
    parser.add_argument("--dry-run", action="store_true", help="only say what there is")


def run(args: argparse.Namespace, context: Context) -> int:
    """1 when a line could not be taken; every other one was."""
    if args.trust == "user":
        refuse_inside_harness(context.environ, "import --trust user")
    if args.program:
        from bead_cli.importing.running import Wish
        from bead_cli.importing.running import run as run_import

        wish = Wish(args.program, args.file, args.trust == "user", args.project, args.dry_run, args.yes)
        return run_import(wish, context)
    with opened(context, "store", begins=not args.dry_run) as door:
        project = active_project(door, args.project)
        found, wrong, others = read(_lines(args.file), f"project/{project}" if project else "user")
        verbs = Counter({"other lines": others} if others else {})
        for memory in found:
            verbs["to write" if args.dry_run else _write(door, memory, args.trust, wrong)] += 1
    _tell(context, verbs, wrong)
    return 1 if wrong else 0


def read(lines: Iterable[str], scope: str) -> tuple[list[Memory], list[str], int]:
    """The memories, what is wrong with other lines (by number, without their text), and how many are none at all."""
    found: list[Memory] = []
    wrong: list[str] = []
    others = 0
    for number, text in enumerate(lines, 1):
        try:
            memory = _memory(number, text, scope)
        except (BeadError, ValueError) as error:
            wrong.append(f"line {number}: {error.message if isinstance(error, BeadError) else 'it is not JSON'}")
            continue
        if memory is None:
            others += 1
        else:
            found.append(memory)
    return found, wrong, others


def _memory(number: int, text: str, scope: str) -> Memory | None:
    if not text.strip():
        return None
    if len(text) > _MAX_LINE:
        raise BadRequest("it is longer than a fact may be")
    said = json.loads(text)
    if not isinstance(said, dict) or said.get("_type") != _TYPE:
        return None
    key, body = said.get("key"), said.get("value")
    if not isinstance(key, str) or not isinstance(body, str) or not body.strip():
        raise BadRequest("'key' and 'value' must be texts that are not empty")
    when = said.get("when")
    return Memory(
        number, whole_key(key, scope), body, _type(said.get("type")), when if isinstance(when, dict) else None
    )


def whole_key(key: str, scope: str) -> str:
    """`key` as bead spells it.

    Raises:
        InvalidKey: it names a scope and is no key of it; a person has to say what is meant.
    """
    if is_whole_key(key):
        return str(keys.parse(key))
    try:
        return str(keys.parse(f"{scope}/{key}"))
    except InvalidKey:
        return str(keys.parse(f"{scope}/{keys.derive_name(key)}"))


def _type(said: object) -> str | None:
    return str(said) if said in {each.value for each in FactType} else None


def _write(door: Door, memory: Memory, trust: str, wrong: list[str]) -> str:
    request = {
        "key": memory.key,
        "body": memory.body,
        "type": memory.type,
        "when": memory.when,
        "trust": "user_stated" if trust == "user" else "agent_observed",
    }
    try:
        answer = door.call("store", "POST", "/v1/facts", {name: value for name, value in request.items() if value})
    except Tombstoned:
        return "forgotten earlier"
    except Refused as error:
        wrong.append(f"line {memory.number}: {error.message}")
        return "refused"
    return str(answer["verb"])


def _lines(file: str) -> list[str]:
    try:
        if file == "-":
            return sys.stdin.read().split("\n")
        with open(file, encoding="utf-8-sig") as opened_file:
            return opened_file.read().split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{file} cannot be read ({type(error).__name__})") from None


def _tell(context: Context, verbs: Counter[str], wrong: list[str]) -> None:
    if context.output.as_json:
        context.output.document({"lines": dict(verbs), "wrong": wrong})
        return
    for verb, count in sorted(verbs.items()):
        context.output.text(f"{count} {verb.replace('_', ' ')}")
    for each in wrong[:_SHOWN]:
        context.output.note(each)
    if len(wrong) > _SHOWN:
        context.output.note(f"and {len(wrong) - _SHOWN} more lines; --json names them all")
