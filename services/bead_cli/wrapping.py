"""How each harness is told to speak through bead: one table, pure.

A harness is pointed at the proxy by its environment alone; nothing of its own configuration is touched.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")


class Harness(NamedTuple):
    """`settings` gives the variables to set for a base URL of the proxy; `base_variable` is what they replace."""

    program: str
    base_variable: str
    settings: Callable[[str], dict[str, str]]


def _claude(base_url: str) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": base_url, "CLAUDE_CODE_GATEWAY_HINT_HEADERS": "1"}


HARNESSES: dict[str, Harness] = {"claude": Harness("claude", "ANTHROPIC_BASE_URL", _claude)}


def with_memory(harness: Harness, base_url: str, environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` for the harness: pointed at the proxy, and no HTTP proxy between it and this machine."""
    wanted = {**environ, **harness.settings(base_url)}
    for name, other in (("NO_PROXY", "no_proxy"), ("no_proxy", "NO_PROXY")):
        wanted[name] = _with_loopback(environ.get(name) or environ.get(other) or "")
    return wanted


def _with_loopback(hosts: str) -> str:
    listed = [host.strip() for host in hosts.split(",") if host.strip()]
    return ",".join(listed + [name for name in _LOOPBACK_NAMES if name not in listed])
