"""Shows what an import would bring, asks, and brings it: facts into the review queue, sessions into the raw log.

Every memory goes through the store's ordinary write, so the credential scan, what was forgotten and what the person
said all hold; one that cannot be taken is named by its place, and every other one is brought all the same.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from bead import keys
from bead.drain.memory import memhash
from bead.errors import NotFound, Refused, Tombstoned
from bead_cli.commands.read import every_fact
from bead_cli.context import Context
from bead_cli.door import Door, opened
from bead_cli.importing.readers import PROGRAMS
from bead_cli.importing.records import Kept, Record, Said, Wrong, source_of
from bead_cli.lookup import active_project, is_whole_key
from bead_cli.loopback import quoted
from bead_cli.output import Output

_SHOWN = 20
_SAMPLE = 5
_LINE = 100
_TURN_LIMIT_S = 30.0


class Wish(NamedTuple):
    """What the command line asks for."""

    program: str
    path: str
    is_trusted: bool
    """Whether these are the person's own words."""
    project: str | None
    dry_run: bool
    yes: bool


class Found(NamedTuple):
    """What a reader gave, each memory once; of turns only how many there are, for histories are larger than memory."""

    kept: list[Kept]
    wrong: list[Wrong]
    turns: int
    sessions: int
    twice: int

    @property
    def total(self) -> int:
        """Things to bring."""
        return len(self.kept) + self.turns


def run(wish: Wish, context: Context) -> int:
    """1 when something could not be taken; everything else was.

    Raises:
        Refused: the path cannot be read, or nobody said yes.
    """
    found = gathered(PROGRAMS[wish.program].load()(wish.path))
    if wish.dry_run or not found.total:
        _tell(context.output, found, Counter(), preview=True)
        return 1 if found.wrong else 0
    if not wish.yes:
        _ask(context.output, found, wish)
    with opened(context, "store", begins=True) as door:
        verbs = _bring(door, context.output, found, wish)
    _tell(context.output, found, verbs, preview=False)
    return 1 if found.wrong else 0


def gathered(records: Iterable[Record]) -> Found:
    """`records` by kind, without memories that say the same."""
    kept: list[Kept] = []
    wrong: list[Wrong] = []
    hashes: set[str] = set()
    sessions: set[str] = set()
    turns = twice = 0
    for each in records:
        if isinstance(each, Wrong):
            wrong.append(each)
        elif isinstance(each, Said):
            turns += 1
            sessions.add(each.session)
        elif each.hash in hashes:
            twice += 1
        else:
            hashes.add(each.hash)
            kept.append(each)
    return Found(kept, wrong, turns, len(sessions), twice)


def _bring(door: Door, output: Output, found: Found, wish: Wish) -> Counter[str]:
    project = active_project(door, wish.project)
    verbs: Counter[str] = Counter()
    history = (each for each in PROGRAMS[wish.program].load()(wish.path) if isinstance(each, Said))
    steps: Iterator[Kept | Said] = chain(found.kept, history if found.turns else ())
    known = {memhash(str(fact["body"])) for fact in every_fact(door, None)} if found.kept else set()
    seen: dict[str, bool] = {}
    projects: dict[str, str | None] = {}
    for number, each in enumerate(steps, 1):
        try:
            if isinstance(each, Said):
                verb = _append(door, each, wish.program, seen, projects)
            elif each.hash in known and not wish.is_trusted:
                verb = "known already"
            else:
                verb = _keep(door, each, wish, project)
        except Tombstoned:
            verb = "forgotten earlier"
        except Refused as error:
            found.wrong.append(Wrong(each.place, error.message))
            verb = "refused"
        verbs[verb] += 1
        if output.is_terminal and not output.as_json:
            output.bar(min(number, found.total), found.total)
    return verbs


def _keep(door: Door, kept: Kept, wish: Wish, project: str | None) -> str:
    scope = kept.project or project
    request = {
        "key": key_of(kept, f"project/{scope}" if scope else "user"),
        "body": kept.text,
        "type": kept.type,
        "trust": "user_stated" if wish.is_trusted else "agent_observed",
        "sources": [source_of(wish.program, wish.path, kept.place)],
        "harness": wish.program,
        "review": not wish.is_trusted,
    }
    answer = door.call("store", "POST", "/v1/facts", {name: value for name, value in request.items() if value})
    return str(answer["verb"])


def key_of(kept: Kept, scope: str) -> str:
    """Its own name as bead spells it, else one made of its words.

    Raises:
        InvalidKey: it names a scope and is no key of it.
    """
    if not kept.name:
        return f"{scope}/{keys.derive_name(kept.text)}"
    if is_whole_key(kept.name):
        return str(keys.parse(kept.name))
    try:
        return str(keys.parse(f"{scope}/{kept.name}"))
    except Refused:
        return f"{scope}/{keys.derive_name(kept.name)}"


def _append(door: Door, said: Said, program: str, seen: dict[str, bool], projects: dict[str, str | None]) -> str:
    """One turn into the raw log, unless the proxy has captured its session itself."""
    if said.session not in seen:
        seen[said.session] = _is_captured(door, said.session)
    if seen[said.session]:
        return "captured already"
    request = {
        "session": f"{program.partition('-')[0]}-import-{said.session}",
        "turn_id": said.id,
        "role": said.role,
        "text": said.text,
        "at": said.at,
        "project": _project(door, said.directory, projects),
        "harness": program,
    }
    answer = door.call("store", "POST", "/v1/turns", request, timeout_s=_TURN_LIMIT_S)
    return "there already" if answer["already_there"] else "turn kept"


def _is_captured(door: Door, session: str) -> bool:
    from bead_proxy.caller import session_name

    try:
        door.call("store", "GET", f"/v1/sessions/{quoted(session_name(session))}", query={"after": 2**31})
    except NotFound:
        return False
    return True


def _project(door: Door, directory: str, known: dict[str, str | None]) -> str | None:
    from bead.git import identify

    if directory not in known:
        found = identify(directory) if directory.startswith("/") else None
        name = None
        if found is not None:
            request = {"directory": directory, "identities": found.ids, "name": found.name}
            project = door.call("store", "POST", "/v1/projects/resolve", request)
            name = str(project["name"]) if project else None
        known[directory] = name
    return known[directory]


def _ask(output: Output, found: Found, wish: Wish) -> None:
    """Raises `Refused` unless somebody says yes."""
    if output.as_json or not sys.stdin.isatty():
        raise Refused(f"nothing was imported: {_count(found)}; look with --dry-run, then say --yes")
    _show(output, found)
    where = "as your own words" if wish.is_trusted else "into the review queue"
    output.ask(f"import {_count(found)} {'' if found.turns else where}? [y/N] ".replace("  ", " "))
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Refused("nothing was imported")


def _count(found: Found) -> str:
    if found.turns:
        return f"{found.turns} turns of {found.sessions} sessions"
    return f"{len(found.kept)} memories"


def _show(output: Output, found: Found) -> None:
    from bead_cli.output import one_line

    for each in found.kept[:_SAMPLE]:
        output.text(output.stored(f"  {each.place}: {one_line(each.text, _LINE)}"))
    if len(found.kept) > _SAMPLE:
        output.text(f"  and {len(found.kept) - _SAMPLE} more")


def _tell(output: Output, found: Found, verbs: Counter[str], *, preview: bool) -> None:
    if output.as_json:
        wrong = [each._asdict() for each in found.wrong]
        counts = {"memories": len(found.kept), "turns": found.turns, "twice": found.twice}
        output.document({**counts, "done": dict(verbs), "dry_run": preview, "wrong": wrong})
        return
    if preview:
        _show(output, found)
        output.text(f"{_count(found)} to import")
    for verb, count in sorted(verbs.items()):
        output.text(f"{count} {'waiting in `bead queue`' if verb == 'queued' else verb.replace('_', ' ')}")
    if found.twice:
        output.text(f"{found.twice} said twice there, taken once")
    for each in found.wrong[:_SHOWN]:
        output.note(f"{each.place}: {each.reason}")
    if len(found.wrong) > _SHOWN:
        output.note(f"and {len(found.wrong) - _SHOWN} more; --json names them all")
