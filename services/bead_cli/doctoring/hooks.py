"""Hooks that stand in agents' settings, and whether they really fire: one that never does is worse than none."""

import os
import re
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from bead_cli import firing
from bead_cli.context import Context
from bead_cli.doctoring.finding import Finding

_MOST_BYTES = 4 << 20
_LATE_S = 7 * 86_400.0
_HOOK = re.compile(r"bead\S*(?:\s+--home\s+\S+)?\s+(?:hook\s+(?P<event>[a-z-]+)|prime\b[^\"]*--hook-json)")
# Agent, the variable that moves its folder, the folder, the file with hooks, and where its sessions lie.
_AGENTS = (
    ("claude", "CLAUDE_CONFIG_DIR", ".claude", "settings.json", "projects"),
    ("codex", "CODEX_HOME", ".codex", "hooks.json", "sessions"),
    ("gemini", "", ".gemini", "settings.json", "tmp"),
    ("qwen", "", ".qwen", "settings.json", "projects"),
    ("cursor", "", ".cursor", "hooks.json", ""),
)
_WHY = {
    "codex": "start codex once and trust the hook when it asks; untrusted ones are skipped without a word",
    "gemini": "look at hooks in gemini's settings (/hooks), and that the folder is trusted",
}


class Hook(NamedTuple):
    """One hook of bead's in an agent's settings, or one that has run."""

    agent: str
    event: str
    path: str
    last_seen: str
    """RFC 3339; empty when it never ran."""


def hooks(context: Context) -> list[Hook]:
    """Every hook that is set or has run, by agent and event."""
    ran = {(each.agent, each.event): each.at_s for each in firing.fired(context.home)}
    found = {(agent, event): path for agent, path, _ in _files(context.environ) for event in _events(path)}
    return [
        Hook(agent, event, found.get((agent, event), ""), _told(ran.get((agent, event))))
        for agent, event in sorted({*ran, *found})
    ]


def never_firing(context: Context) -> Iterator[Finding]:
    """Hooks that are set and did not run though the agent has been used since."""
    ran = {(each.agent, each.event): each.at_s for each in firing.fired(context.home)}
    for agent, path, sessions in _files(context.environ):
        for event in _events(path):
            at_s = ran.get((agent, event), 0.0)
            used_s = _newest(sessions)
            mend = _WHY.get(agent, f"start {agent} anew; try the command of the hook in a terminal; bead status")
            if used_s > max(at_s, os.path.getmtime(path)) + (_LATE_S if at_s else 60.0):
                when = f"last ran {_told(at_s)}" if at_s else "has never run"
                cause = f"{agent}'s hook {event} {when}, though {agent} was used {_told(used_s)}"
                yield Finding("note", "hooks", cause, mend, path)


def _files(environ: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Agent, its settings, and the folder of its sessions."""
    home = environ.get("HOME")
    for agent, variable, folder, name, sessions in _AGENTS:
        root = (environ.get(variable) if variable else None) or (home and os.path.join(home, folder))
        if root:
            yield agent, os.path.join(root, name), os.path.join(root, sessions) if sessions else ""


def _events(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(_MOST_BYTES)
    except OSError:
        return []
    return sorted({found["event"] or "session-start" for found in _HOOK.finditer(text)})


def _newest(folder: str) -> float:
    """When a session was written last; 0 when there is none."""
    newest = 0.0
    until = time.monotonic() + 1.0
    for place, _, names in os.walk(folder) if folder else ():
        for name in names:
            if name.endswith((".jsonl", ".json")):
                newest = max(newest, os.lstat(os.path.join(place, name)).st_mtime)
        if time.monotonic() > until:
            break
    return newest


def _told(at_s: float | None) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds") if at_s else ""
