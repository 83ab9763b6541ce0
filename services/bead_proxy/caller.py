"""Who is asking, as far as the headers tell: session, subagent, side request, project, directory, harness. Pure.

What each harness sends is one table; a body may tell more (`ModelRequest`).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from bead_proxy.protocol import SideRequest

# Lower case only: the store hashes other names, and a subagent's must still begin with its session's.
_PLAIN_SESSION = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}\Z")
_PLAIN_HARNESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}\Z")

# Claude Code, Codex, opencode; ours wins.
_SESSION = ("x-bead-session", "x-claude-code-session-id", "session-id", "session_id", "x-session-id")
_SIDE: Mapping[tuple[str, str], SideRequest] = {
    ("x-claude-code-request-class", "compaction"): SideRequest.COMPACTION,
    ("x-claude-code-request-class", "auxiliary"): SideRequest.OTHER,
    ("x-claude-code-request-class", "side_reply"): SideRequest.OTHER,
    ("x-openai-memgen-request", "true"): SideRequest.MEMORY_AGENT,
    ("x-openai-subagent", "memory_consolidation"): SideRequest.MEMORY_AGENT,
    ("x-openai-subagent", "compact"): SideRequest.COMPACTION,
}
_TURN_METADATA = "x-codex-turn-metadata"
_LONGEST_METADATA = 64 * 1024


@dataclass(frozen=True, slots=True)
class Caller:
    """What the headers of one request say."""

    session: str | None
    """Session id, safe as a file name; a subagent's has a hash of its agent id behind it."""
    is_subagent: bool
    project: str | None
    """Project that the launcher named."""
    harness: str | None
    is_off: bool
    """Whether this one request asked for no memory."""
    side: SideRequest | None = None
    """What the harness itself calls the request, where that is no step of a conversation."""
    directory: str | None = None
    """Working directory, where a header has it."""


def read_caller(headers: Mapping[str, str]) -> Caller:
    """The caller behind `headers`, whose names are compared without case."""
    session, agent = _session(headers)
    return Caller(
        session=session_name(session, agent) if session else None,
        is_subagent=bool(agent),
        project=headers.get("x-bead-project") or None,
        harness=_harness(headers.get("x-bead-harness") or headers.get("user-agent") or ""),
        is_off=headers.get("x-bead-off") == "1",
        side=next((side for (name, value), side in _SIDE.items() if headers.get(name) == value), None),
        directory=_directory(headers.get(_TURN_METADATA)),
    )


def session_name(session: str, agent: str | None = None) -> str:
    """`session` as the store may use it in a file name; anything unusual becomes a hash of itself."""
    name = session if _PLAIN_SESSION.match(session) else f"session-{_short_hash(session, 12)}"
    return f"{name}-{_short_hash(agent, 4)}" if agent else name


def _session(headers: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The session's id, a subagent's that of the session that began it, and the subagent's own."""
    session = next((headers[name] for name in _SESSION if headers.get(name)), None)
    if agent := headers.get("x-claude-code-agent-id"):
        return session, agent
    if headers.get("x-openai-subagent") or headers.get("x-codex-parent-thread-id"):
        # A thread of the same session.
        return session, headers.get("thread-id") or "subagent"
    if parent := headers.get("x-parent-session-id"):
        # A session of its own.
        return parent, session
    return session, None


def _directory(metadata: str | None) -> str | None:
    """The first workspace of Codex's turn metadata, a JSON document in a header."""
    if not metadata or len(metadata) > _LONGEST_METADATA:
        return None
    try:
        told = json.loads(metadata)
    except (ValueError, RecursionError):
        return None
    workspaces = told.get("workspaces") if isinstance(told, dict) else None
    paths = [path for path in workspaces if path.startswith("/")] if isinstance(workspaces, dict) else []
    return paths[0] if len(paths) == 1 else None


def _harness(product: str) -> str | None:
    name = re.split(r"[/ (]", product.strip(), maxsplit=1)[0]
    return name if _PLAIN_HARNESS.match(name) else None


def _short_hash(text: str, size: int) -> str:
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=size).hexdigest()
