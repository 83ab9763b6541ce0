"""How each harness is told to speak through bead: one table, pure.

A harness is pointed at the proxy by its environment, or where it reads none by arguments or a configuration that only
this one process sees (`throwaway`); nothing of its own configuration is touched.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

IN_PATH = "BEAD_IN_PATH"
"""Set for an agent whose requests go through the proxy, so that its hooks tell nothing twice."""
TOOL_SEARCH = "ENABLE_TOOL_SEARCH"
"""Documented switch of Claude Code: at another address than its provider's it sends every tool's description (B03)."""
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
    """What stands before the person's own arguments. Every user of the machine can read it."""
    beside: Callable[[str, Mapping[str, str]], dict[str, str]] = lambda base_url, environ: {}
    """Variables that depend on those that are set already."""
    refuses: Callable[[Mapping[str, str]], str] = lambda environ: ""
    """Why this environment cannot be pointed anywhere; empty when it can."""
    config: str = ""
    """Which throw-away configuration it is started with: `continue`, `cline`."""


def _claude(base_url: str) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": base_url, "CLAUDE_CODE_GATEWAY_HINT_HEADERS": "1"}


def _gemini(base_url: str) -> dict[str, str]:
    return {"GOOGLE_GEMINI_BASE_URL": f"{base_url}/gemini"}


def _qwen(base_url: str) -> dict[str, str]:
    return {"OPENAI_BASE_URL": f"{base_url}/openai/v1"}


def _aider(base_url: str) -> dict[str, str]:
    return {"OPENAI_API_BASE": f"{base_url}/openai/v1", "ANTHROPIC_API_BASE": f"{base_url}/anthropic"}


def _codex(base_url: str) -> tuple[str, ...]:
    """Codex takes its address from its configuration alone."""
    return ("-c", f'openai_base_url="{base_url}/openai/v1"')


PROVIDERS: Mapping[str, str] = {"anthropic": "anthropic/v1", "openai": "openai/v1", "google": "gemini/v1beta"}
"""Behind the proxy's address, by the names of the AI SDK."""


def _opencode(base_url: str, environ: Mapping[str, str]) -> dict[str, str]:
    """opencode merges this variable into its configuration; what stands in it already stays."""
    try:
        config = json.loads(environ.get(_OPENCODE) or "{}")
    except ValueError:
        config = {}
    providers = dict(config.get("provider") or {}) if isinstance(config, dict) else {}
    for name, path in PROVIDERS.items():
        provider = dict(providers.get(name) or {})
        provider["options"] = {**(provider.get("options") or {}), "baseURL": f"{base_url}/{path}"}
        providers[name] = provider
    return {_OPENCODE: json.dumps({**config, "provider": providers})}


def _copilot(base_url: str, environ: Mapping[str, str]) -> dict[str, str]:
    is_anthropic = environ.get("COPILOT_PROVIDER_TYPE") == "anthropic"
    return {_COPILOT: f"{base_url}/anthropic" if is_anthropic else f"{base_url}/openai/v1"}


def _copilot_refuses(environ: Mapping[str, str]) -> str:
    if environ.get(_COPILOT):
        return ""
    return "Copilot talks to GitHub's own models, which no base URL leads to; with COPILOT_PROVIDER_BASE_URL it can"


_OPENCODE = "OPENCODE_CONFIG_CONTENT"
_COPILOT = "COPILOT_PROVIDER_BASE_URL"


def _nothing(base_url: str) -> dict[str, str]:
    return {}


HARNESSES: dict[str, Harness] = {
    "claude": Harness("claude", "ANTHROPIC_BASE_URL", _claude),
    "codex": Harness("codex", "OPENAI_BASE_URL", _nothing, "openai", _codex),
    "gemini": Harness("gemini", "GOOGLE_GEMINI_BASE_URL", _gemini, "gemini"),
    "opencode": Harness("opencode", "", _nothing, beside=_opencode),
    "qwen": Harness("qwen", "OPENAI_BASE_URL", _qwen, "openai"),
    "copilot": Harness("copilot", _COPILOT, _nothing, "openai", beside=_copilot, refuses=_copilot_refuses),
    "continue": Harness("cn", "", _nothing, "openai", config="continue"),
    "aider": Harness("aider", "OPENAI_API_BASE", _aider, "openai"),
    "cline": Harness("cline", "", _nothing, "openai", config="cline"),
}


def without_capability(base_url: str) -> str:
    """The proxy's address as every user of the machine may read it."""
    return _CAPABILITY.sub("", base_url)


def with_memory(harness: Harness, base_url: str, environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` for the harness: pointed at the proxy, and no HTTP proxy between it and this machine."""
    wanted = {**environ, **harness.settings(base_url), **harness.beside(base_url, environ), IN_PATH: "1"}
    for name, other in (("NO_PROXY", "no_proxy"), ("no_proxy", "NO_PROXY")):
        wanted[name] = _with_loopback(environ.get(name) or environ.get(other) or "")
    return wanted


def _with_loopback(hosts: str) -> str:
    listed = [host.strip() for host in hosts.split(",") if host.strip()]
    return ",".join(listed + [name for name in _LOOPBACK_NAMES if name not in listed])
