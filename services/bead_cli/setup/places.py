"""Where a machine still speaks of bead: profiles, units, settings of agents; none of what setup keeps a note of."""

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from bead_cli.setup import units
from bead_cli.setup.files import MOST_BYTES

_PROFILES = (
    ".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
    ".config/fish/config.fish", ".config/environment.d/*.conf",
)  # fmt: skip
_UNITS = (".config/systemd/user/*.service", "Library/LaunchAgents/*.plist")
_AGENTS = (
    ".claude/settings.json", ".claude/settings.local.json", ".claude.json", ".codex/config.toml", ".codex/hooks.json",
    ".gemini/settings.json", ".gemini/.env", ".qwen/settings.json", ".qwen/.env", ".config/opencode/opencode.json",
    ".config/opencode/plugin/*.js", ".aider.conf.yml", ".continue/config.yaml", ".cursor/hooks.json",
    ".cursor/mcp.json",
)  # fmt: skip
_VARIABLES = {
    "ZDOTDIR": (".zshrc", ".zshenv"),
    "CLAUDE_CONFIG_DIR": ("settings.json",),
    "CODEX_HOME": ("config.toml", "hooks.json"),
}
_WORD = rb"(?<![\w-])\.?bead(?![\w-])"


class Stray(NamedTuple):
    """A line that names bead."""

    path: str
    line: int
    """From 1."""


def strays(machine: units.Machine, ports: Collection[int], known: Collection[str]) -> Iterator[Stray]:
    """Lines that name bead, or an address of it at one of `ports`, in files that are not `known`."""
    addresses = [rb"(?:127\.0\.0\.1|localhost|\[::1\]):%d(?!\d)" % port for port in ports]
    names = re.compile(b"|".join((_WORD, *addresses)), re.IGNORECASE)
    real = {os.path.realpath(path) for path in known}
    for path in dict.fromkeys(_candidates(machine)):
        if os.path.realpath(path) in real:
            continue
        try:
            if path.stat().st_size > MOST_BYTES:
                continue
            lines = path.read_bytes().splitlines()
        except OSError:
            continue
        yield from (Stray(str(path), number) for number, line in enumerate(lines, 1) if names.search(line))
    table = units.crontab(machine) if "crontab" not in known else ""
    yield from (
        Stray("crontab", number) for number, line in enumerate(table.splitlines(), 1) if names.search(line.encode())
    )


def _candidates(machine: units.Machine) -> Iterator[Path]:
    for pattern in (*_PROFILES, *_UNITS, *_AGENTS):
        yield from sorted(machine.home.glob(pattern))
    for variable, files in _VARIABLES.items():
        if folder := machine.environ.get(variable):
            yield from (Path(folder) / name for name in files)
