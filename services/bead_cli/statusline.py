"""The line below a coding agent's prompt: what its session was given, and how much of it the provider had cached.

Pure but for one question to a bead that runs, under a limit that a person does not feel; no answer is a line too.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from bead.errors import BeadError
from bead_cli.context import Context
from bead_cli.door import Door, running
from bead_cli.loopback import quoted

LIMIT_S = 0.05
"""Longest wait for bead: with Python's own start the line is there within a tenth of a second."""
_PLAIN = re.compile(r"[a-f0-9-]{36}\Z")
OFF = "bead: off"
_NOT_THERE = "bead: no answer"
_NOTHING_YET = "bead: on"


def status_line(context: Context, given: bytes) -> str:
    """One line for the session that `given` (the agent's JSON document) names. Never raises."""
    try:
        door = running(context)
        if door is None:
            return OFF
        session = session_of(given)
        if not session:
            return _NOTHING_YET
        path = f"/v1/views/standing/{quoted(session)}"
        return line(Door(door).call("store", "GET", path, timeout_s=LIMIT_S))
    except (BeadError, OSError, KeyError, TypeError):
        return _NOT_THERE


def session_of(given: bytes) -> str:
    """The session's name as the proxy keeps it; empty where the document has none."""
    try:
        said = json.loads(given)
    except (ValueError, RecursionError):
        return ""
    session = said.get("session_id") if isinstance(said, dict) else None
    if not isinstance(session, str) or not session:
        return ""
    if _PLAIN.match(session):
        return session  # as `session_name` would, which costs a third of the line's time to import
    from bead_proxy.caller import session_name

    return session_name(session)


def line(standing: Mapping[str, Any]) -> str:
    """`bead: 2 facts, 1 excerpt, cache 94 %`; without a part that there is nothing to say of."""
    parts = [_count(standing["facts"], "fact")]
    if standing["excerpts"]:
        parts.append(_count(standing["excerpts"], "excerpt"))
    if standing["input_tokens"]:
        parts.append(f"cache {100 * standing['cache_read_tokens'] // standing['input_tokens']} %")
    if standing["failures"]:
        parts.append("memory not loaded")
    return f"bead: {', '.join(parts)}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
