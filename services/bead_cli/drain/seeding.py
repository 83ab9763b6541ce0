"""Puts bead's hooks into an agent's settings and takes them out again. Pure: settings in, settings out.

An entry is bead's when its command is exactly one of bead's; everything else is the person's and stays as it stands. A
group, event or `hooks` that is empty without bead's entry goes with it.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple


class Hook(NamedTuple):
    """One hook: the agent's word for the event, what it is for, and the command."""

    event: str
    command: str
    matcher: str | None = None


def drain_hooks(bead: str, *, on_write: bool) -> tuple[Hook, ...]:
    """The drain's hooks in Claude Code's words; `bead` is the command as a shell takes it."""
    session_end = Hook("SessionEnd", f"{bead} hook session-end")
    if not on_write:
        return (session_end,)
    return (session_end, Hook("PostToolUse", f"{bead} hook post-tool-use", "Write|Edit|MultiEdit"))


def seeded(settings: Mapping[str, Any], hooks: tuple[Hook, ...]) -> dict[str, Any]:
    """`settings` with each hook once; equal to `settings` when all are there.

    Raises:
        ValueError: `hooks` is not what the agent would read; nothing can be added to it safely.
    """
    found = deepcopy(dict(settings))
    table = found.setdefault("hooks", {})
    for hook in hooks:
        groups = _groups(table, hook.event)
        if not any(entry.get("command") == hook.command for group in groups for entry in _entries(group)):
            matcher = {} if hook.matcher is None else {"matcher": hook.matcher}
            groups.append({**matcher, "hooks": [{"type": "command", "command": hook.command}]})
            table[hook.event] = groups
    if not hooks and not table:
        del found["hooks"]
    return found


def unseeded(settings: Mapping[str, Any], hooks: tuple[Hook, ...]) -> dict[str, Any]:
    """`settings` without these hooks, and without what only held them."""
    found = deepcopy(dict(settings))
    table = found.get("hooks")
    if not isinstance(table, dict):
        return found
    for hook in hooks:
        groups = table.get(hook.event)
        if not isinstance(groups, list):
            continue
        kept = [each for group in groups if (each := _without(group, hook.command)) is not None]
        if kept == groups:
            continue
        table[hook.event] = kept
        if not kept:
            del table[hook.event]
    if not table and settings.get("hooks"):
        del found["hooks"]
    return found


def _groups(table: Any, event: str) -> list[Any]:
    if not isinstance(table, dict):
        raise ValueError("'hooks' is no table of events")
    groups = table.get(event, [])
    if not isinstance(groups, list):
        raise ValueError(f"'hooks.{event}' is no list")
    return groups


def _entries(group: Any) -> list[dict[str, Any]]:
    entries = group.get("hooks") if isinstance(group, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _without(group: Any, command: str) -> Any:
    """The group without entries of this command; None when nothing else was in it."""
    if not any(entry.get("command") == command for entry in _entries(group)):
        return group
    kept = [entry for entry in group["hooks"] if not (isinstance(entry, dict) and entry.get("command") == command)]
    return {**group, "hooks": kept} if kept else None
