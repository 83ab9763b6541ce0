"""What an agent's hooks ask of the drain: a note, and back to the agent at once (B23).

`session_end` leaves a note; `post_tool_use` leaves one when the path that was written is inside a memory folder. The
work is done by a bead that runs, or by the next one. Imports little, opens no home, waits for nobody.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from bead_cli.context import Context
from bead_cli.drain import notes

_MEMORY_FOLDERS = (("projects", "*", "memory"), ("memories",))


def on_session_end(context: Context, given: bytes, cli: str) -> None:
    """`bead hook session-end`."""
    session_end(context.home, given, context.environ, cli)


def on_post_tool_use(context: Context, given: bytes, cli: str) -> None:
    """`bead hook post-tool-use`."""
    post_tool_use(context.home, given, context.environ, cli)


def session_end(home: str, given: bytes, environ: Mapping[str, str], cli: str = "claude") -> bool:
    """Whether a note was left; an empty or broken input leaves one too, which asks for everything."""
    document = _document(given)
    note = _note(cli, environ) if document else {}
    if isinstance(session := document.get("session_id"), str):
        note["session"] = session[:200]
    return notes.leave(home, note)


def post_tool_use(home: str, given: bytes, environ: Mapping[str, str], cli: str = "claude") -> bool:
    """Whether a note was left: only when the agent wrote into a memory folder of its own."""
    tool_input = _document(given).get("tool_input")
    path = tool_input.get("file_path") if isinstance(tool_input, dict) else None
    if not isinstance(path, str) or not is_memory(path, cli, environ):
        return False
    return notes.leave(home, {**_note(cli, environ), "on_write": True})


def is_memory(path: str, cli: str, environ: Mapping[str, str]) -> bool:
    """Whether a path lies in a memory folder of the agent, by its name alone."""
    root = os.path.normpath(_root(cli, environ))
    parts = os.path.normpath(path).split(os.sep)
    below = parts[len(root.split(os.sep)) :]
    if parts[: len(parts) - len(below)] != root.split(os.sep):
        return False
    return any(
        len(below) > len(folder) and all(wanted in ("*", part) for wanted, part in zip(folder, below, strict=False))
        for folder in _MEMORY_FOLDERS
    )


def _root(cli: str, environ: Mapping[str, str]) -> str:
    named = environ.get("CLAUDE_CONFIG_DIR") if cli == "claude" else None
    return named or os.path.join(environ.get("HOME") or os.path.expanduser("~"), f".{cli}")


def _note(cli: str, environ: Mapping[str, str]) -> dict[str, Any]:
    config = environ.get("CLAUDE_CONFIG_DIR") if cli == "claude" else None
    return {"cli": cli, **({"config": config} if config else {})}


def _document(given: bytes) -> dict[str, Any]:
    try:
        found = json.loads(given)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
