"""`bead setup` and `bead unsetup`: connect bead to this machine, and leave no trace of it."""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bead.errors import BadRequest, BeadError, NotFound, Refused, Unavailable
from bead_cli import runtime
from bead_cli.context import Context, read_token
from bead_cli.probe import answers_for
from bead_cli.setup import files, marked, profiles, program, units
from bead_cli.setup.agents import AGENTS, Wishes
from bead_cli.setup.journal import Journal
from bead_cli.setup.steps import Done, Step, do
from bead_cli.setup.undoing import BLOCK, OWN, undo

_READY_S = 30.0
_POLL_S = 0.05
_NEEDS_A_PERSON = 4
_CONFIG = """\
# Settings of bead; what is not here has its default. `bead doctor` says when something here is wrong.
# dream:
#   provider: ollama        # a model for the nights; without one bead sorts and asks by rule
{dream}"""
_NO_DREAM = """\
scheduler:
  jobs:
    dream: {at: "03:30", on: false}
"""
_DESCRIPTION = """\
Start bead with your login and keep it running, and let `claude`, typed in your shell, start with memory. Every file
that is changed is kept first: `bead unsetup` gives it back byte for byte. What you have set yourself is never
overwritten, and a second run changes nothing.
"""
_EPILOG = """\
--harness writes into the agent's own settings instead: base URL, hooks, and Claude Code's status line.
Exit code 4 when a file was left alone; the answer says what to do there.

examples:
  bead setup --dry-run
  bead setup
  bead setup --harness claude --harness codex
  bead setup --harness claude --hooks-only       no base URL: memory comes through hooks
"""
_UNSETUP = """\
Give every file back that `bead setup` has changed and stop the bead it has started. Memory itself stays: it is the
folder that --home names, and yours to delete. A file that you have changed since keeps your changes.
"""


class _Place(NamedTuple):
    """This machine, as both commands see it."""

    machine: units.Machine
    journal: Journal


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """`setup`'s choices; `unsetup` only shows or does."""
    parser.add_argument("--dry-run", action="store_true", help="only say what would be changed")
    if name == "unsetup":
        parser.description = _UNSETUP
        parser.epilog = "examples:\n  bead unsetup --dry-run\n  bead unsetup\n"
        return
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument(
        "--harness",
        action="append",
        default=[],
        choices=tuple(AGENTS),
        metavar="NAME",
        help=f"connect an agent by its own settings, may be repeated: {', '.join(AGENTS)}",
    )
    parser.add_argument("--hooks-only", action="store_true", help="with --harness: hooks, and no base URL")
    parser.add_argument("--tool-search", action="store_true", help="Claude Code: keep its tool search on")
    parser.add_argument("--no-auto-memory", action="store_true", help="Claude Code: switch its own memory off")
    parser.add_argument("--no-vault", action="store_true", help="do not offer to make the vault")
    parser.add_argument("--no-dream", action="store_true", help="no nightly run")
    parser.add_argument("--no-load", action="store_true", help="write everything, start nothing")
    parser.add_argument("--no-rc", action="store_true", help="leave the shells' profiles alone")
    parser.add_argument("--allow-temporary", action="store_true", help="also from a folder that is cleaned up")


def run(args: argparse.Namespace, context: Context) -> int:
    """Either command."""
    place = _Place(_machine(context), Journal(Path(context.home)))
    return _unsetup(args, context, place) if args.command == "unsetup" else _setup(args, context, place)


# -- setup ------------------------------------------------------------------------------------------------------------


def _setup(args: argparse.Namespace, context: Context, place: _Place) -> int:
    bead = program.find(context.environ, allow_temporary=args.allow_temporary)
    if not args.dry_run:
        _prepare(context)
    arguments = [bead, "up", *_home_of(context, place)]
    kind = place.journal.unit.get("kind") or units.kind(place.machine)
    steps = list(_steps(args, context, place, bead, arguments, kind))
    done = [_config(args, context), *(do(step, place.journal, dry_run=args.dry_run) for step in steps)]
    if kind == units.CRON:
        done.append(_cron(args, place, arguments))
    if not args.dry_run:
        place.journal.unit = {**place.journal.unit, "kind": kind}
        place.journal.keep()
    state = _started(args, context, place, kind, arguments)
    notes = list(_notes(args, context, place, kind))
    _report(context, done, state, notes)
    if not args.dry_run and not args.no_vault:
        _offer_vault(context)
    return _NEEDS_A_PERSON if any(each.state == "refused" for each in done) else 0


def _prepare(context: Context) -> None:
    from bead_store.home import prepare

    prepare(context.layout())


def _config(args: argparse.Namespace, context: Context) -> Done:
    """bead's own settings, which stay when everything else is undone: they are a part of the home."""
    path, what = Path(context.home) / "config.yaml", "bead's settings"
    if path.exists():
        return Done(str(path), what, "unchanged")
    if args.dry_run:
        return Done(str(path), what, "would be written")
    files.replace(path, _CONFIG.format(dream=_NO_DREAM if args.no_dream else "").encode(), 0o600)
    return Done(str(path), what, "written")


def _steps(
    args: argparse.Namespace, context: Context, place: _Place, bead: str, arguments: list[str], kind: str
) -> Iterator[Step]:
    """Every file that is to change, in the order in which they are needed."""
    if unit := units.step(place.machine, kind, arguments):
        yield unit
    if not args.no_rc:
        yield from _profiles(context, place, bead)
    if args.harness:
        wishes = _wishes(args, context, place, bead)
        for name in dict.fromkeys(args.harness):
            yield from AGENTS[name].steps(context.environ, place.machine.home, wishes)


def _profiles(context: Context, place: _Place, bead: str) -> Iterator[Step]:
    written: set[Path] = set()
    for shell in profiles.shells(context.environ, place.machine.home):
        file = Path(context.home) / shell.file
        text = profiles.functions(shell, bead, context.home)
        block = profiles.block(shell, file)
        if file not in written:
            what = f"what a shell does when you type {profiles.PROGRAM}"
            yield Step(file, what, partial(_always, text), {"kind": OWN}, 0o600, shown="")
            written.add(file)
        yield Step(
            shell.profile,
            f"{shell.name}'s profile",
            partial(_in_block, block),
            {"kind": BLOCK},
            by_hand=f"put this at its end yourself: {'; '.join(block.splitlines())}",
        )


def _always(data: bytes, before: bytes | None) -> bytes:
    return data


def _in_block(lines: str, before: bytes | None) -> bytes:
    return marked.with_block(before or b"", lines)


def _wishes(args: argparse.Namespace, context: Context, place: _Place, bead: str) -> Wishes:
    settings = context.settings()
    base_url = f"http://{runtime.LOOPBACK}:{settings.proxy.port}"
    if not settings.proxy.bare_url or sys.platform != "linux":
        # Where the kernel does not say whose connection it is, the capability does (D11).
        shown = args.dry_run and not context.layout().token("proxy").exists()
        base_url += "/t/<token>" if shown else f"/t/{read_token(context.home, 'proxy', context.environ)}"
    command = shlex.join([bead])
    if home := _home_of(context, place):
        command = f"env BEAD_HOME={shlex.quote(home[1])} {command}"
    drains, on_write = settings.drain.enabled, settings.drain.on_write
    return Wishes(
        bead=command,
        base_url=base_url,
        hooks_only=args.hooks_only,
        tool_search=args.tool_search,
        no_auto_memory=args.no_auto_memory,
        drains=bool(drains.get("claude", drains.get("all"))),
        drains_on_write=bool(on_write.get("claude", on_write.get("all"))),
    )


def _cron(args: argparse.Namespace, place: _Place, arguments: list[str]) -> Done:
    before = units.crontab(place.machine)
    line = units.cron_line(arguments, place.machine.log)
    after = units.with_cron_line(before, line)
    if line in before.splitlines():
        return Done("crontab", "keeps bead running", "unchanged")
    if args.dry_run:
        return Done("crontab", "keeps bead running", "would be written", change=f"+{line}")
    try:
        place.journal.unit.setdefault("crontab", before)
        place.journal.keep()
        units.set_crontab(place.machine, after)
    except BeadError as error:
        return Done("crontab", "keeps bead running", "refused", error.message)
    place.journal.unit["crontab_after"] = after
    return Done("crontab", "keeps bead running", "written")


def _started(args: argparse.Namespace, context: Context, place: _Place, kind: str, arguments: list[str]) -> str:
    """`running`, `started`, or why neither."""
    who = runtime.read(context.home)
    if who is not None and runtime.is_running(who):
        return "running"
    if args.dry_run or args.no_load:
        return "not started"
    if kind in (units.CRON, units.NOTHING):
        place.journal.unit["started"] = True
        place.journal.keep()
    try:
        units.load(place.machine, kind, arguments)
    except BeadError as error:
        return f"not started: {error.message}"
    return "started" if _wait_until_ready(context) else f"not ready yet; see: bead status, and {place.machine.log}"


def _wait_until_ready(context: Context) -> bool:
    until = time.monotonic() + _READY_S
    while time.monotonic() < until:
        who = runtime.read(context.home)
        if who is not None and runtime.is_running(who) and answers_for(who):
            return True
        time.sleep(_POLL_S)
    return False


def _notes(args: argparse.Namespace, context: Context, place: _Place, kind: str) -> Iterator[str]:
    for name in dict.fromkeys(args.harness):
        yield from (f"{name}: {note}" for note in AGENTS[name].notes)
        if args.no_auto_memory and name != "claude":
            yield f"{name}: its own memory has no documented switch that bead may set"
    if not args.harness:
        yield from (f"claude: {note}" for note in AGENTS["claude"].notes[:1])
    if not args.no_rc:
        for shell in profiles.shells(context.environ, place.machine.home):
            if late := _redefined(shell):
                yield f"{shell.profile}: {late!r} behind bead's block takes the name `claude` back; move it before"
        yield "a new terminal is needed before `claude` starts with memory"
    if kind == units.NOTHING:
        yield "nothing here starts bead with the machine (no systemd user manager, no cron): after a restart, bead up"
    if args.no_dream and "dream:" not in _text(Path(context.home) / "config.yaml"):
        yield f"to switch the nights off, put into config.yaml: {' '.join(_NO_DREAM.split())}"


def _redefined(shell: profiles.Shell) -> str:
    """A line after the block that gives the name to something else."""
    try:
        data = marked.behind_block(shell.profile.read_bytes())
    except OSError:
        return ""
    begins = (f"alias {profiles.PROGRAM}=", f"{profiles.PROGRAM}()", f"function {profiles.PROGRAM}")
    lines = (line.strip() for line in data.decode("utf-8", "replace").splitlines())
    return next((line.partition("=")[0] for line in lines if line.startswith(begins)), "")


def _report(context: Context, done: list[Done], state: str, notes: list[str]) -> None:
    output = context.output
    if output.as_json:
        output.document({"files": [each._asdict() for each in done], "bead": state, "notes": notes})
        return
    colours = {"written": "green", "would be written": "yellow", "refused": "red", "unchanged": "dim"}
    for each in done:
        output.text(f"{output.style(colours[each.state], each.state)}  {each.path}  ({each.what})")
        for line in (each.reason, *each.change.splitlines()):
            if line:
                output.text(output.stored(f"    {line}"))
    output.text(f"bead: {state}")
    for note in notes:
        output.text(f"- {note}")


def _offer_vault(context: Context) -> None:
    if context.layout().identity.exists():
        return
    if not (sys.stdin.isatty() and context.output.is_terminal):
        context.output.note("for what only you may read there is a vault: bead vault init")
        return
    context.output.ask("make the vault now, for what only you may read? [y/N] ")
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        from bead_cli.commands import vault

        vault.run(argparse.Namespace(command="vault", action="init"), context)


# -- unsetup ----------------------------------------------------------------------------------------------------------


def _unsetup(args: argparse.Namespace, context: Context, place: _Place) -> int:
    journal, unit = place.journal, place.journal.unit
    if not journal.entries and not unit:
        raise NotFound("setup has changed nothing here")
    kind = str(unit.get("kind") or units.NOTHING)
    if not args.dry_run:
        units.unload(place.machine, kind)
        if unit.get("started"):
            _stop(context)
    rows, is_whole = [], True
    for entry in reversed(list(journal.entries.values())):
        try:
            undone = undo(journal, entry, dry_run=args.dry_run)
            rows.append({"path": undone.path, "what": undone.what})
        except BeadError as error:
            is_whole = False
            rows.append({"path": entry.path, "what": f"left alone: {error.message}"})
    rows += _undo_cron(args, place)
    if not args.dry_run:
        units.reload(place.machine, kind)
        journal.unit = {} if is_whole else {"kind": kind}
        journal.keep()
    _say(context, rows, args.dry_run)
    return 0 if is_whole else _NEEDS_A_PERSON


def _undo_cron(args: argparse.Namespace, place: _Place) -> list[dict[str, str]]:
    unit = place.journal.unit
    if "crontab" not in unit:
        return []
    now = units.crontab(place.machine)
    is_ours = now == unit.get("crontab_after")
    if not args.dry_run:
        units.set_crontab(place.machine, unit["crontab"] if is_ours else units.without_cron_line(now))
    return [{"path": "crontab", "what": "as it was" if is_ours else "changed since; only bead's line was taken out"}]


def _stop(context: Context) -> None:
    from bead_cli.commands import down

    try:
        who = runtime.read(context.home)
        if who is not None and runtime.is_running(who):
            down.stop(who)
    except (Refused, Unavailable) as error:
        context.output.note(error.message)


def _say(context: Context, rows: list[dict[str, str]], dry_run: bool) -> None:
    if context.output.as_json:
        context.output.document({"files": rows, "done": not dry_run, "home": context.home})
        return
    for row in rows:
        context.output.text(f"{row['path']}: {row['what']}")
    would = "would stay" if dry_run else "stays"
    context.output.text(f"your memory {would} in {context.home}; a new terminal forgets the shell function")


# -- both -------------------------------------------------------------------------------------------------------------


def _machine(context: Context) -> units.Machine:
    home = context.environ.get("HOME")
    if not home or not os.path.isabs(home):
        raise BadRequest("HOME is not set to an absolute path; setup does not know whose machine this is")
    return units.Machine(context.environ, Path(home), Path(context.home) / "logs" / "bead.log")


def _home_of(context: Context, place: _Place) -> list[str]:
    """`--home`, where the home is not the usual one."""
    usual = place.machine.home / ".bead"
    return [] if Path(context.home) == usual else ["--home", context.home]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
