"""What a person should know after `bead setup`: what an agent does otherwise now (B03), and what bead could not do."""

import stat
from collections.abc import Iterator
from pathlib import Path

from bead_cli.setup import marked, profiles, units
from bead_cli.setup.agents import AGENTS, Wishes
from bead_cli.setup.machine import Place


def for_agents(names: list[str], wishes: Wishes, place: Place) -> Iterator[str]:
    """What changes in each agent that was connected, and how to have it otherwise."""
    for name in names:
        agent = AGENTS[name]
        notes = (*(() if wishes.hooks_only else agent.changes), *agent.notes)
        yield from (f"{name}: {note}" for note in notes)
        yield f"{name}: {agent.own_memory if not wishes.no_auto_memory or not agent.switches else _SWITCHED}"
        if not wishes.hooks_only:
            yield from _exposed(name, wishes, place)


def for_profiles(shells: list[profiles.Shell]) -> Iterator[str]:
    """What of a profile keeps bead's function from being used, and when it is used."""
    for shell in shells:
        if late := _redefined(shell):
            yield f"{shell.profile}: {late!r} behind bead's block takes the name `claude` back; move it before"
    yield "a new terminal is needed before `claude` starts with memory"


def for_supervisor(kind: str) -> Iterator[str]:
    """What the supervisor does not do."""
    if kind == units.NOTHING:
        yield "nothing here starts bead with the machine (no systemd user manager, no cron): after a restart, bead up"
    if kind == units.CRON:
        yield "cron starts bead with the machine and does not start it again when it ends: bead status tells"


_SWITCHED = "its own memory is switched off; `bead unsetup` switches it on again"


def _exposed(name: str, wishes: Wishes, place: Place) -> Iterator[str]:
    """Settings that hold the proxy's token and that others can read or that are kept in git."""
    for step in AGENTS[name].steps(place.machine.environ, place.machine.home, wishes):
        entry = place.journal.entries.get(str(step.path))
        real = Path(entry.real) if entry else step.path
        if not real.is_file():
            continue
        if real.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
            yield f"{name}: {real} is where the proxy's token goes, and others here can read it: chmod 600 {real}"
        if any((folder / ".git").exists() for folder in real.parents):
            yield f"{name}: {real} is where the proxy's token goes, and lies in a git repository; do not publish it"


def _redefined(shell: profiles.Shell) -> str:
    """A line after the block that gives the name to something else."""
    try:
        data = marked.behind_block(shell.profile.read_bytes())
    except OSError:
        return ""
    begins = (f"alias {profiles.PROGRAM}=", f"{profiles.PROGRAM}()", f"function {profiles.PROGRAM}")
    lines = (line.strip() for line in data.decode("utf-8", "replace").splitlines())
    return next((line.partition("=")[0] for line in lines if line.startswith(begins)), "")
