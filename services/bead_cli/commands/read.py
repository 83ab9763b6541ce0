"""`bead recall`, `memories`, `show` and `history`: what the store holds, without search."""

import argparse
import re
from typing import Any

from bead.errors import NotFound, Sealed
from bead_cli.context import Context, read_token
from bead_cli.door import Door, fact_path, opened
from bead_cli.lookup import active_project, current_fact, is_whole_key
from bead_cli.output import Output, one_line

_VERSIONED = re.compile(r"(.+)@v([1-9][0-9]*)\Z")
_PAGE = 1_000
_LINE_CHARACTERS = 120
_CARD_FIELDS = ("say", "do", "see", "unless")
_EPILOGS = {
    "recall": "examples:\n  bead recall project/shop/deploy-day\n  bead recall deploy-day\n",
    "memories": """\
Lists what this project, `user/` and `global/` hold.

examples:
  bead memories
  bead memories deploy
  bead memories --project shop
  bead memories --all                        every project
  bead memories --token                      for GET and POST 127.0.0.1:7078/v0/beads/memories
""",
    "show": "examples:\n  bead show project/shop/deploy-day\n  bead show project/shop/deploy-day@v1\n",
    "history": "examples:\n  bead history project/shop/deploy-day\n  bead history deploy-day --json\n",
}


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """A key, or a term for `memories`."""
    parser.epilog = _EPILOGS[name]
    if name == "memories":
        parser.add_argument("term", metavar="TERM", nargs="?", help="only those with this text in key or body")
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--project", metavar="P", help="only those of this project")
        which.add_argument("--all", action="store_true", help="those of every project")
        which.add_argument("--token", action="store_true", help="print the token for scripts over HTTP")
        return
    suffix = " (KEY@v2: that version)" if name == "show" else ""
    parser.add_argument("key", metavar="KEY", help=f"a key, or a name in this project, user/ or global/{suffix}")
    parser.add_argument("--project", metavar="P", help="default: the project of this directory")


def run(args: argparse.Namespace, context: Context) -> int:
    """Print what the command of this name reads."""
    if getattr(args, "token", False):
        return _print_token(context)
    readers = {"recall": _recall, "memories": _memories, "show": _show, "history": _history}
    with opened(context, "store") as door:
        try:
            return readers[args.command](args, context, door)
        except Sealed as error:
            if args.command == "recall":
                raise
            return _print_sealed(context.output, error)


def _print_token(context: Context) -> int:
    """The token of `/v0/beads/memories` that lists, reads and remembers; forgetting takes the admin token."""
    from bead.bus.guard import scoped_token
    from bead_curate.memories import TOKEN_SCOPE

    token = scoped_token(read_token(context.home, "admin", context.environ), TOKEN_SCOPE)
    context.output.document({"token": token}) if context.output.as_json else context.output.text(token)
    return 0


def _recall(args: argparse.Namespace, context: Context, door: Door) -> int:
    fact = current_fact(context, door, args.key, args.project)
    context.output.document(fact) if context.output.as_json else context.output.text(
        context.output.stored(fact["body"])
    )
    return 0


def _memories(args: argparse.Namespace, context: Context, door: Door) -> int:
    scopes = _scopes(args, door)
    facts = sorted(
        (fact for scope in scopes for fact in every_fact(door, scope) if _matches(fact, args.term)),
        key=lambda fact: str(fact["key"]),
    )
    sealed = [each for each in _sealed(door, scopes) if not args.term or args.term.casefold() in each["key"].casefold()]
    if context.output.as_json:
        context.output.document({"facts": facts, "sealed": sealed})
        return 0
    for fact in facts:
        body = context.output.stored(one_line(fact["body"], _LINE_CHARACTERS))
        context.output.text(f"{context.output.style('bold', fact['key'])}  {body}")
    for each in sealed:
        context.output.text(f"{context.output.style('bold', each['key'])}  {context.output.style('dim', 'sealed')}")
    if not facts and not sealed:
        where = f" in {', '.join(scope for scope in scopes if scope)}; see also: bead memories --all"
        text = "no memories with that text" if args.term else "no memories yet"
        context.output.text(text if args.all else text + where)
    return 0


def _sealed(door: Door, scopes: list[str | None]) -> list[dict[str, Any]]:
    sealed: list[dict[str, Any]] = door.call("store", "GET", "/v1/vault/sealed")["sealed"]
    return [each for each in sealed if any(scope is None or each["key"].startswith(f"{scope}/") for scope in scopes)]


def _scopes(args: argparse.Namespace, door: Door) -> list[str | None]:
    """Which scopes to list; None stands for all of them."""
    if args.all:
        return [None]
    if args.project is not None:
        return [f"project/{args.project.removeprefix('project/')}"]
    active = active_project(door, None)
    return [*([f"project/{active}"] if active else []), "user", "global"]


def every_fact(door: Door, scope: str | None) -> list[dict[str, Any]]:
    """All current facts by key, page by page."""
    facts: list[dict[str, Any]] = []
    after = None
    while True:
        page = door.call("store", "GET", "/v1/facts", query={"scope": scope, "after": after, "limit": _PAGE})
        facts += page["facts"]
        after = page.get("next_after")
        if after is None:
            return facts


def _matches(fact: dict[str, Any], term: str | None) -> bool:
    """Whether key or body holds the term, whatever its case."""
    return term is None or term.casefold() in fact["key"].casefold() or term.casefold() in fact["body"].casefold()


def _print_sealed(output: Output, error: Sealed) -> int:
    """A sealed fact is told by its name and its versions; the text is for `bead sealed show`."""
    if output.as_json:
        output.document(error.facts)
        return 0
    versions = ", ".join(f"v{version}" for version in error.facts["versions"])
    output.text(f"{output.style('bold', error.facts['key'])} {versions}  {output.style('dim', 'sealed')}")
    return 0


def _show(args: argparse.Namespace, context: Context, door: Door) -> int:
    versioned = _VERSIONED.match(args.key)
    name = versioned[1] if versioned else args.key
    if versioned:
        fact = _version(_versions(context, door, name, args.project), int(versioned[2]))
    else:
        fact = current_fact(context, door, name, args.project)
    uses = door.call("store", "GET", f"/v1/views/uses/{fact['uid']}")["uses"]
    told, used = ({use["conversation"] for use in uses if use["used"] or not only} for only in (False, True))
    if context.output.as_json:
        context.output.document({**fact, "conversations": {"told": len(told), "used": len(used)}})
        return 0
    _print_fact(context.output, fact)
    if told:
        context.output.text(context.output.style("dim", f"  told {len(told)} conversations, used in {len(used)}"))
    return 0


def _history(args: argparse.Namespace, context: Context, door: Door) -> int:
    history = _versions(context, door, args.key, args.project)
    if context.output.as_json:
        context.output.document(history)
        return 0
    for place, fact in enumerate(history["versions"]):
        if place:
            context.output.text()
        _print_fact(context.output, fact)
    return 0


def _versions(context: Context, door: Door, text: str, project: str | None) -> dict[str, Any]:
    # A whole key is not looked up first: its highest version may be damaged, and the older ones still be readable.
    key = text if is_whole_key(text) else current_fact(context, door, text, project)["key"]
    history: dict[str, Any] = door.call("store", "GET", fact_path(key, "/history"))
    return history


def _version(history: dict[str, Any], number: int) -> dict[str, Any]:
    for fact in history["versions"]:
        if fact["version"] == number:
            found: dict[str, Any] = fact
            return found
    raise NotFound(f"{history['key']} has no version {number}; it has {_numbers(history)}")


def _numbers(history: dict[str, Any]) -> str:
    return ", ".join(f"v{fact['version']}" for fact in history["versions"])


def _print_fact(output: Output, fact: dict[str, Any]) -> None:
    words = [fact["status"], fact["trust"], fact["type"], fact["valid_from"], *(["pinned"] if fact["pinned"] else [])]
    output.text(f"{output.style('bold', fact['key'])} v{fact['version']}  {output.style('dim', '  '.join(words))}")
    card = fact.get("when") or {}
    for field in _CARD_FIELDS:
        for item in card.get(field, ()):
            output.text(output.style("dim", f"  {field}: {output.stored(item)}"))
    for source in fact.get("sources", ()):
        output.text(output.style("dim", f"  from: {output.stored(source)}"))
    for line in output.stored(fact["body"]).splitlines():
        output.text(f"  {line}")
