"""Who is asking, as far as the headers tell: session, subagent, project, harness. Pure."""

import re
from dataclasses import dataclass
from hashlib import blake2b

from multidict import CIMultiDictProxy

# Lower case only: the store hashes other names, and a subagent's must still begin with its session's.
_PLAIN_SESSION = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}\Z")
_PLAIN_HARNESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}\Z")


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


def read_caller(headers: CIMultiDictProxy[str]) -> Caller:
    """The caller behind `headers`."""
    agent = headers.get("x-claude-code-agent-id")
    session = headers.get("x-bead-session") or headers.get("x-claude-code-session-id")
    return Caller(
        session=session_name(session, agent) if session else None,
        is_subagent=bool(agent),
        project=headers.get("x-bead-project") or None,
        harness=_harness(headers.get("x-bead-harness") or headers.get("user-agent") or ""),
        is_off=headers.get("x-bead-off") == "1",
    )


def session_name(session: str, agent: str | None = None) -> str:
    """`session` as the store may use it in a file name; anything unusual becomes a hash of itself."""
    name = session if _PLAIN_SESSION.match(session) else f"session-{_short_hash(session, 12)}"
    return f"{name}-{_short_hash(agent, 4)}" if agent else name


def _harness(product: str) -> str | None:
    name = re.split(r"[/ (]", product.strip(), maxsplit=1)[0]
    return name if _PLAIN_HARNESS.match(name) else None


def _short_hash(text: str, size: int) -> str:
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=size).hexdigest()
