"""`bead export`: the current facts as JSON lines, as a folder of Markdown, or as a section of a CLAUDE.md.

A forget finds what was written again; the forms are `bead_cli.exporting`'s.
"""

import argparse
import json
import os
from typing import Any

from bead.errors import BadRequest, Exists, HomeUnusable
from bead_cli.commands.read import every_fact
from bead_cli.context import Context
from bead_cli.door import Door, opened

_FIELDS = ("type", "trust", "valid_from", "pinned", "when")
_EPILOG = """\
One line a fact: {"_type": "memory", "key": ..., "value": ..., ...}. Sealed facts, drafts and conversations stay out.
What is forgotten later is taken out of FILE too, as long as it is there; a copy of it is yours to look after.

--okf DIR is a folder of Markdown in the Open Knowledge Format, a file a fact. --claude-md FILE keeps a section of your
own file up to date, between two markers, with the facts of the project that FILE lies in (in none: yours); not a byte
of the rest changes. Whoever reads that file reads them: think of it before you commit it.

examples:
  bead export facts.jsonl
  bead export --okf ~/notes/bead
  bead export --claude-md ./CLAUDE.md
  bead export                    to standard output; bead does not know where that goes
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Where to, and what."""
    parser.epilog = _EPILOG
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="a file that is not there yet; default: standard output"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--jsonl", action="store_true", help="JSON lines, as without it")
    form.add_argument("--okf", metavar="DIR", help="a folder of Markdown that is not there yet")
    form.add_argument("--claude-md", metavar="FILE", help="the section of this file")
    parser.add_argument("--project", metavar="P", help="only the facts of this project")


def run(args: argparse.Namespace, context: Context) -> int:
    """Write every fact, and note where."""
    if args.file and (args.okf or args.claude_md):
        raise BadRequest("name one of FILE, --okf DIR and --claude-md FILE")
    if args.okf:
        return _folder(args, context)
    if args.claude_md:
        return _section(args, context)
    path = os.path.abspath(args.file) if args.file else None
    with opened(context, "store") as door:
        lines = [json.dumps(line(fact), ensure_ascii=False) for fact in every_fact(door, _scope(args.project))]
        if path is not None:
            # First the note: a forget must know of the file before there is text in it.
            door.call("store", "POST", "/v1/copies", {"path": path})
            _write(path, lines)
    if path is None and not context.output.as_json:
        for each in lines:
            context.output.text(each)
    elif context.output.as_json:
        context.output.document({"facts": len(lines), "path": path})
    else:
        context.output.text(f"{len(lines)} facts in {path}")
    return 0


def _folder(args: argparse.Namespace, context: Context) -> int:
    from bead_cli.exporting.okf import pages
    from bead_cli.exporting.writing import write_folder

    path = os.path.abspath(args.okf)
    with opened(context, "store") as door:
        facts = every_fact(door, _scope(args.project))
        # First the note: a forget must know of the folder before there is text in it.
        door.call("store", "POST", "/v1/copies", {"path": path})
        write_folder(path, pages(facts))
    document = {"facts": len(facts), "path": path}
    context.output.document(document) if context.output.as_json else context.output.text(
        f"{len(facts)} facts in {path}"
    )
    return 0


def _section(args: argparse.Namespace, context: Context) -> int:
    from bead_cli.exporting.writing import section_lines, write_section

    path = os.path.realpath(args.claude_md)
    with opened(context, "store") as door:
        project = args.project or _project_of(door, os.path.dirname(path))
        scopes = [_scope(project)] if project else ["user", "global"]
        facts = [fact for scope in scopes for fact in every_fact(door, scope) if fact["status"] == "current"]
        door.call("store", "POST", "/v1/copies", {"path": path, "kind": "section"})
        verb = write_section(path, section_lines(facts))
    if context.output.as_json:
        context.output.document({"facts": len(facts), "path": path, "verb": verb})
    else:
        context.output.text(f"{verb}: {_facts(len(facts))} of {', '.join(map(str, scopes))} in {path}")
    return 0


def _facts(count: int) -> str:
    return "1 fact" if count == 1 else f"{count} facts"


def _project_of(door: Door, directory: str) -> str | None:
    from bead.git import identify

    found = identify(directory)
    if found is None:
        return None
    request = {"directory": directory, "identities": found.ids, "name": found.name}
    project = door.call("store", "POST", "/v1/projects/resolve", request)
    return str(project["name"]) if project else None


def _scope(project: str | None) -> str | None:
    return f"project/{project.removeprefix('project/')}" if project else None


def line(fact: dict[str, Any]) -> dict[str, Any]:
    """One fact as a line says it."""
    more = {name: fact[name] for name in _FIELDS if fact.get(name)}
    return {"_type": "memory", "key": fact["key"], "value": fact["body"], **more}


def _write(path: str, lines: list[str]) -> None:
    try:
        with open(path, "x", encoding="utf-8", opener=_private) as file:
            file.writelines(f"{each}\n" for each in lines)
    except FileExistsError:
        raise Exists(f"{path} is there already, and bead writes over nothing; choose another name") from None
    except OSError as error:
        raise HomeUnusable(f"{path} cannot be written ({error.strerror})") from None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
