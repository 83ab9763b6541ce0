"""`bead export`: the current facts as JSON lines, which `bead import` reads; a forget finds the file again."""

import argparse
import json
import os
from typing import Any

from bead.errors import Exists, HomeUnusable
from bead_cli.commands.read import every_fact
from bead_cli.context import Context
from bead_cli.door import opened

_FIELDS = ("type", "trust", "valid_from", "pinned", "when")
_EPILOG = """\
One line a fact: {"_type": "memory", "key": ..., "value": ..., ...}. Sealed facts, drafts and conversations stay out.
What is forgotten later is taken out of FILE too, as long as it is there; a copy of it is yours to look after.

examples:
  bead export facts.jsonl
  bead export                    to standard output; bead does not know where that goes
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Where to, and what."""
    parser.epilog = _EPILOG
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="a file that is not there yet; default: standard output"
    )
    parser.add_argument("--project", metavar="P", help="only the facts of this project")


def run(args: argparse.Namespace, context: Context) -> int:
    """Write every fact, and note where."""
    scope = f"project/{args.project.removeprefix('project/')}" if args.project else None
    path = os.path.abspath(args.file) if args.file else None
    with opened(context, "store") as door:
        lines = [json.dumps(line(fact), ensure_ascii=False) for fact in every_fact(door, scope)]
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
