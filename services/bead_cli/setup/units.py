"""What keeps bead running: a systemd user unit, a launchd agent, else a line of cron; else bead is started once.

The programs are called by name through the PATH, so that a test can put its own there. Rendering is pure.
"""

import os
import plistlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bead.errors import Unavailable
from bead_cli.setup.steps import Step
from bead_cli.setup.undoing import WHOLE

LABEL = "com.bead.up"
SYSTEMD, LAUNCHD, CRON, NOTHING = "systemd", "launchd", "cron", "none"
ELSE = "else"
"""A unit of bead's name that a person has made: theirs to load and to end."""
_CRON_MARK = "# bead setup"
_LIMIT_S = 30.0

_UNIT = """\
[Unit]
Description=bead, memory for coding agents
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=exec
ExecStart={command}
Restart=on-failure
RestartSec=2
TimeoutStopSec=20
UMask=0077
LimitCORE=0
MemoryMax=2G
TasksMax=256
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
SystemCallArchitectures=native

[Install]
WantedBy=default.target
"""


class Machine(NamedTuple):
    """Where a unit goes."""

    environ: Mapping[str, str]
    home: Path
    """The person's."""
    log: Path
    platform: str = sys.platform

    @property
    def config(self) -> Path:
        return Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config")


def kind(machine: Machine) -> str:
    """What can keep bead running on this machine."""
    if machine.platform == "darwin":
        return LAUNCHD
    if _runs(machine, "systemctl", "--user", "show-environment"):
        return SYSTEMD
    return CRON if _found(machine, "crontab") else NOTHING


def step(machine: Machine, kind: str, arguments: list[str]) -> Step | None:
    """The unit's file; None where there is none."""
    if kind == SYSTEMD:
        path = machine.config / "systemd" / "user" / "bead.service"
        data = systemd_unit(arguments)
    elif kind == LAUNCHD:
        path = machine.home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        data = launchd_agent(arguments, machine.log)
    else:
        return None
    return Step(path, "keeps bead running", lambda before: data, {"kind": WHOLE})


def systemd_unit(arguments: list[str]) -> bytes:
    """The user unit; a per cent sign and a backslash mean something in it, and so does a dollar sign."""
    words = [word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$") for word in arguments]
    return _UNIT.format(command=" ".join(f'"{word}"' for word in words)).encode()


def launchd_agent(arguments: list[str], log: Path) -> bytes:
    """The agent that macOS starts at login and after a failure."""
    return plistlib.dumps(
        {
            "Label": LABEL,
            "ProgramArguments": arguments,
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 5,
            "ExitTimeOut": 20,
            "Umask": 0o077,
            "StandardOutPath": str(log),
            "StandardErrorPath": str(log),
        },
        sort_keys=False,
    )


def cron_line(arguments: list[str], log: Path) -> str:
    """The line that starts bead with the machine; cron takes a per cent sign for a line end."""
    command = f"{shlex.join(arguments)} >>{shlex.quote(str(log))} 2>&1"
    return f"@reboot {command} {_CRON_MARK}".replace("%", "\\%")


def with_cron_line(table: str, line: str) -> str:
    """A crontab with the line once."""
    kept = without_cron_line(table)
    return f"{kept}{'' if not kept or kept.endswith(chr(10)) else chr(10)}{line}\n"


def without_cron_line(table: str) -> str:
    """A crontab without bead's line."""
    return "".join(line for line in table.splitlines(keepends=True) if not line.rstrip().endswith(_CRON_MARK))


def crontab(machine: Machine) -> str:
    """The person's crontab; empty without one."""
    done = _run(machine, "crontab", "-l")
    return done.stdout if done.returncode == 0 else ""


def set_crontab(machine: Machine, table: str) -> None:
    """Replace the person's crontab; an empty one goes. Raises Unavailable."""
    done = _run(machine, "crontab", "-", given=table) if table else _run(machine, "crontab", "-r")
    if done.returncode != 0:
        raise Unavailable(f"crontab refused: {_said(done)}")


def load(machine: Machine, kind: str, arguments: list[str]) -> None:
    """Let the supervisor start bead now and at each login. Raises Unavailable with what it said."""
    if kind == SYSTEMD:
        _must(machine, "systemctl", "--user", "daemon-reload")
        _must(machine, "systemctl", "--user", "enable", "--now", "bead.service")
    elif kind == LAUNCHD:
        domain = f"gui/{os.getuid()}"
        _run(machine, "launchctl", "bootout", f"{domain}/{LABEL}")
        path = machine.home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        _must(machine, "launchctl", "bootstrap", domain, str(path))
    else:
        _start(machine, arguments)


def enable(machine: Machine, kind: str) -> None:
    """Let the supervisor start bead at the next login: one runs already. Raises Unavailable with what it said.

    launchd reads the agent's file at each login by itself, and loading it now would start a second bead.
    """
    if kind == SYSTEMD:
        _must(machine, "systemctl", "--user", "daemon-reload")
        _must(machine, "systemctl", "--user", "enable", "bead.service")


def unload(machine: Machine, kind: str) -> None:
    """Let the supervisor stop bead and forget it; one that is gone already is no trouble."""
    if kind == SYSTEMD:
        _run(machine, "systemctl", "--user", "disable", "--now", "bead.service")
    elif kind == LAUNCHD:
        _run(machine, "launchctl", "bootout", f"gui/{os.getuid()}/{LABEL}")


def reload(machine: Machine, kind: str) -> None:
    """Let the supervisor see that the unit's file is gone."""
    if kind == SYSTEMD:
        _run(machine, "systemctl", "--user", "daemon-reload")


def _start(machine: Machine, arguments: list[str]) -> None:
    """Start bead apart from this terminal."""
    machine.log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(machine.log, "ab") as log:
        subprocess.Popen(
            arguments,
            env=dict(machine.environ),
            cwd=machine.home,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _must(machine: Machine, *command: str) -> None:
    done = _run(machine, *command)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(command)} failed: {_said(done)}")


def _runs(machine: Machine, *command: str) -> bool:
    return _found(machine, command[0]) and _run(machine, *command).returncode == 0


def _found(machine: Machine, program: str) -> bool:
    return shutil.which(program, path=machine.environ.get("PATH")) is not None


def _run(machine: Machine, *command: str, given: str | None = None) -> "subprocess.CompletedProcess[str]":
    program = shutil.which(command[0], path=machine.environ.get("PATH"))
    if program is None:
        return subprocess.CompletedProcess(command, 127, "", f"{command[0]} is not here")
    try:
        return subprocess.run(
            [program, *command[1:]],
            env=dict(machine.environ),
            input=given or "",
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 126, "", type(error).__name__)


def _said(done: Any) -> str:
    return " ".join((done.stderr or done.stdout or f"exit code {done.returncode}").split())[:300]
