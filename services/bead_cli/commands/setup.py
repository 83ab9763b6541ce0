"""`bead setup`: connect bead to this machine; `bead unsetup` takes it back."""

import argparse
import shlex
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from bead.errors import BeadError
from bead_cli import runtime
from bead_cli.context import Context, read_token
from bead_cli.setup import advice, files, marked, profiles, program, starting, units
from bead_cli.setup.agents import AGENTS, Wishes
from bead_cli.setup.machine import Place, place
from bead_cli.setup.steps import Done, Step, do
from bead_cli.setup.undoing import BLOCK, OWN, undo

_DOWN, _NEEDS_A_PERSON = 3, 4
_CHOICES = {"tool_search": False, "auto_memory": True}
_CRON = "starts bead with the machine"
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


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Every step can be left out."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("--dry-run", action="store_true", help="only say what would be changed")
    parser.add_argument(
        "--harness",
        action="append",
        default=[],
        choices=tuple(AGENTS),
        metavar="NAME",
        help=f"connect an agent by its own settings, may be repeated: {', '.join(AGENTS)}",
    )
    parser.add_argument("--hooks-only", action="store_true", help="with --harness: hooks, and no base URL")
    either = argparse.BooleanOptionalAction
    parser.add_argument("--tool-search", action=either, help="Claude Code: keep its tool search on; default: no")
    parser.add_argument("--auto-memory", action=either, help="with --harness: leave its own memory on; default: yes")
    parser.add_argument("--no-vault", action="store_true", help="do not offer to make the vault")
    parser.add_argument("--no-dream", action="store_true", help="no nightly run")
    parser.add_argument("--no-load", action="store_true", help="write everything, start nothing")
    parser.add_argument("--no-rc", action="store_true", help="leave the shells' profiles alone")
    parser.add_argument("--allow-temporary", action="store_true", help="also from a folder that is cleaned up")


def run(args: argparse.Namespace, context: Context) -> int:
    """4 when a file was left alone, 3 when bead could not be started."""
    here = place(context)
    bead = program.find(context.environ, allow_temporary=args.allow_temporary)
    if not args.dry_run:
        _prepare(context)
    chosen = _chosen(args, here)
    arguments = [bead, "up", *here.home_option(context.home)]
    kind = _kind(here)
    done, kind = _unit(args, here, kind, arguments)
    done = [_config(args, context), *done]
    shells = [] if args.no_rc else profiles.shells(context.environ, here.machine.home)
    done += [do(step, here.journal, dry_run=args.dry_run) for step in _profiles(context, shells, bead, chosen)]
    names = list(dict.fromkeys(args.harness))
    wishes = _wishes(args, context, here, bead, chosen) if names else None
    if wishes is not None:
        done += _agents(args, context, here, names, wishes)
    started = _started(args, context, here, kind, arguments)
    notes = list(_notes(args, context, here, kind, names, wishes))
    _report(context, done, started, notes)
    if not args.dry_run and not args.no_vault:
        _offer_vault(context)
    if any(each.state == "refused" for each in done):
        return _NEEDS_A_PERSON
    return 0 if started.is_fine else _DOWN


def _chosen(args: argparse.Namespace, here: Place) -> Mapping[str, bool]:
    """What was chosen now, else once: a second setup need not say it again."""
    said = {name: getattr(args, name) for name in _CHOICES if getattr(args, name) is not None}
    if not args.dry_run:
        here.journal.choices |= said
    return _CHOICES | here.journal.choices | said


def _kind(here: Place) -> str:
    """What keeps bead running: what an earlier setup chose, so that there are never two."""
    chosen = here.journal.unit.get("kind")
    return str(chosen) if chosen and chosen != units.NOTHING else units.kind(here.machine)


def _unit(args: argparse.Namespace, here: Place, kind: str, arguments: list[str]) -> tuple[list[Done], str]:
    """The unit or the line of cron; kind `ELSE` when a unit is there that a person has made."""
    done: list[Done] = []
    if step := units.step(here.machine, kind, arguments):
        done = [do(step, here.journal, dry_run=args.dry_run)]
        if done[0].state == "refused":
            return done, units.ELSE
    elif kind == units.CRON:
        done = [_cron(args, here, arguments)]
    if not args.dry_run:
        here.journal.unit = {**here.journal.unit, "kind": kind}
        here.journal.keep()
    return done, kind


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


def _profiles(context: Context, shells: list[profiles.Shell], bead: str, chosen: Mapping[str, bool]) -> Iterator[Step]:
    written: set[Path] = set()
    for shell in shells:
        file = Path(context.home) / shell.file
        text = profiles.functions(shell, bead, context.home, tool_search=chosen["tool_search"])
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


def _agents(
    args: argparse.Namespace, context: Context, here: Place, names: list[str], wishes: Wishes
) -> Iterator[Done]:
    """Settings of each agent, and back what an earlier setup changed and this one does not want."""
    for name in names:
        agent = AGENTS[name]
        steps = agent.steps(context.environ, here.machine.home, wishes)
        yield from (do(step, here.journal, dry_run=args.dry_run) for step in steps)
        wanted = {step.path for step in steps}
        for step in agent.steps(context.environ, here.machine.home, wishes._replace(hooks_only=False)):
            if step.path not in wanted and (entry := here.journal.entries.get(str(step.path))):
                try:
                    undone = undo(here.journal, entry, dry_run=args.dry_run)
                    state = "would be written" if args.dry_run else "written"
                    yield Done(str(step.path), step.what, state, f"given back: {undone.what}")
                except BeadError as error:
                    yield Done(str(step.path), step.what, "refused", error.message)


def _wishes(args: argparse.Namespace, context: Context, here: Place, bead: str, chosen: Mapping[str, bool]) -> Wishes:
    settings = context.settings()
    is_shown = args.dry_run and not context.layout().token("proxy").exists()
    token = "<token>" if is_shown else read_token(context.home, "proxy", context.environ)
    base_url = f"http://{runtime.LOOPBACK}:{settings.proxy.port}/t/{token}"
    command = shlex.join([bead])
    if home := here.home_option(context.home):
        command = f"env BEAD_HOME={shlex.quote(home[1])} {command}"
    drains, on_write = settings.drain.enabled, settings.drain.on_write
    return Wishes(
        bead=command,
        base_url=base_url,
        hooks_only=args.hooks_only,
        tool_search=chosen["tool_search"],
        no_auto_memory=not chosen["auto_memory"],
        drains=bool(drains.get("claude", drains.get("all"))),
        drains_on_write=bool(on_write.get("claude", on_write.get("all"))),
    )


def _cron(args: argparse.Namespace, here: Place, arguments: list[str]) -> Done:
    before = units.crontab(here.machine)
    line = units.cron_line(arguments, here.machine.log)
    after = units.with_cron_line(before, line)
    if line in before.splitlines():
        return Done("crontab", _CRON, "unchanged")
    if args.dry_run:
        return Done("crontab", _CRON, "would be written", change=f"+{line}")
    try:
        here.journal.unit.setdefault("crontab", before)
        here.journal.keep()
        units.set_crontab(here.machine, after)
    except BeadError as error:
        return Done("crontab", _CRON, "refused", error.message)
    here.journal.unit["crontab_after"] = after
    return Done("crontab", _CRON, "written")


def _started(
    args: argparse.Namespace, context: Context, here: Place, kind: str, arguments: list[str]
) -> starting.Start:
    if args.dry_run or args.no_load:
        return starting.Start("running" if starting.is_running(context) else "not started")
    if kind == units.ELSE:
        return starting.Start("running" if starting.is_running(context) else "not started: its unit is not setup's")
    return starting.start(context, here, kind, arguments)


def _notes(
    args: argparse.Namespace, context: Context, here: Place, kind: str, names: list[str], wishes: Wishes | None
) -> Iterator[str]:
    if wishes is not None:
        yield from advice.for_agents(names, wishes, here)
    if not args.no_rc:
        if "claude" not in names:
            yield from (f"claude: {note}" for note in AGENTS["claude"].changes[:1])
        yield from advice.for_profiles(profiles.shells(context.environ, here.machine.home))
    yield from advice.for_supervisor(kind)
    if args.no_dream and "dream:" not in _text(Path(context.home) / "config.yaml"):
        yield f"to switch the nights off, put into config.yaml: {' '.join(_NO_DREAM.split())}"


def _report(context: Context, done: list[Done], started: starting.Start, notes: list[str]) -> None:
    output = context.output
    if output.as_json:
        output.document({"files": [each._asdict() for each in done], "bead": started.state, "notes": notes})
        return
    colours = {"written": "green", "would be written": "yellow", "refused": "red", "unchanged": "dim"}
    for each in done:
        output.text(f"{output.style(colours[each.state], each.state)}  {each.path}  ({each.what})")
        for line in (each.reason, *each.change.splitlines()):
            if line:
                output.text(output.stored(f"    {line}"))
    output.text(f"bead: {started.state}")
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


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
