"""How each harness is told to speak through bead: one table, pure.

A harness is pointed at the proxy by its environment, or where it reads none by arguments; nothing of its own
configuration is touched.
"""

import re
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

IN_PATH = "BEAD_IN_PATH"
"""Set for an agent whose requests go through the proxy, so that its hooks tell nothing twice."""
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
_CAPABILITY = re.compile(r"/t/[^/]+\Z")


class Harness(NamedTuple):
    """`settings` gives the variables to set for a base URL of the proxy; `base_variable` is what they replace."""

    program: str
    base_variable: str
    settings: Callable[[str], dict[str, str]]
    provider: str = "anthropic"
    """Whose upstream address it uses, `proxy.upstream.<provider>`."""
    arguments: Callable[[str], tuple[str, ...]] = lambda base_url: ()
    """What stands before the person's own arguments."""


def _claude(base_url: str) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": base_url, "CLAUDE_CODE_GATEWAY_HINT_HEADERS": "1"}


def _gemini(base_url: str) -> dict[str, str]:
    return {"GOOGLE_GEMINI_BASE_URL": f"{base_url}/gemini"}


def _qwen(base_url: str) -> dict[str, str]:
    return {"OPENAI_BASE_URL": f"{base_url}/openai/v1"}


def _codex(base_url: str) -> tuple[str, ...]:
    """Codex takes its address from its configuration alone.

    Arguments can be read by every user of the machine, so where the proxy knows its own user by the socket, the
    capability stays out of them.
    """
    shown = _CAPABILITY.sub("", base_url) if sys.platform == "linux" else base_url
    return ("-c", f'openai_base_url="{shown}/openai/v1"')


HARNESSES: dict[str, Harness] = {
    "claude": Harness("claude", "ANTHROPIC_BASE_URL", _claude),
    "codex": Harness("codex", "OPENAI_BASE_URL", lambda base_url: {}, "openai", _codex),
    "gemini": Harness("gemini", "GOOGLE_GEMINI_BASE_URL", _gemini, "gemini"),
    "qwen": Harness("qwen", "OPENAI_BASE_URL", _qwen, "openai"),
}


def with_memory(harness: Harness, base_url: str, environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` for the harness: pointed at the proxy, and no HTTP proxy between it and this machine."""
    wanted = {**environ, **harness.settings(base_url), IN_PATH: "1"}
    for name, other in (("NO_PROXY", "no_proxy"), ("no_proxy", "NO_PROXY")):
        wanted[name] = _with_loopback(environ.get(name) or environ.get(other) or "")
    return wanted


def _with_loopback(hosts: str) -> str:
    listed = [host.strip() for host in hosts.split(",") if host.strip()]
    return ",".join(listed + [name for name in _LOOPBACK_NAMES if name not in listed])
