"""How each coding agent's own settings point it at bead: one table. Pure but for paths of the environment.

Which agent reads what was looked up in its documentation and tried (`make harnesses`). An agent without a setting of
this kind has a word on what to do instead.
"""

import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bead.errors import Refused
from bead_cli.drain.seeding import Hook, drain_hooks
from bead_cli.setup import marked, settingsfile
from bead_cli.setup.settingsfile import Part, Value
from bead_cli.setup.steps import Step
from bead_cli.setup.undoing import BLOCK, SETTINGS


class Wishes(NamedTuple):
    """What the person asked for, and where bead is."""

    bead: str
    """The command as a shell takes it, with `--home` where the home is another than the usual one."""
    base_url: str
    """Of the proxy, without a slash at its end."""
    hooks_only: bool = False
    """No base URL: memory comes through hooks alone (D9)."""
    tool_search: bool = False
    """Claude Code's tool search stays on though its base URL is another one (B03)."""
    no_auto_memory: bool = False
    """Claude Code's own memory is switched off."""
    drains: bool = False
    drains_on_write: bool = False


class Agent(NamedTuple):
    """One coding agent. `steps` are none where it has no settings of this kind; `notes` are for the person."""

    name: str
    steps: Callable[[Mapping[str, str], Path, Wishes], list[Step]]
    notes: tuple[str, ...] = ()


def _claude(environ: Mapping[str, str], home: Path, wishes: Wishes) -> list[Step]:
    folder = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    values: list[Value] = []
    hooks = [Hook("SessionStart", f"{wishes.bead} prime --hook-json --harness claude")]
    if wishes.hooks_only:
        hooks.append(Hook("UserPromptSubmit", f"{wishes.bead} hook user-prompt --cli claude"))
    else:
        values += [
            Value(("env", "ANTHROPIC_BASE_URL"), wishes.base_url),
            Value(("env", "CLAUDE_CODE_GATEWAY_HINT_HEADERS"), "1"),
        ]
    if wishes.tool_search:
        values.append(Value(("env", "ENABLE_TOOL_SEARCH"), "true"))
    if wishes.no_auto_memory:
        values.append(Value(("env", "CLAUDE_CODE_DISABLE_AUTO_MEMORY"), "1"))
    values.append(Value(("statusLine",), {"type": "command", "command": f"{wishes.bead} statusline"}))
    if wishes.drains:
        hooks += drain_hooks(wishes.bead, on_write=wishes.drains_on_write)
    return [_settings(folder / "settings.json", "Claude Code's settings", Part(tuple(values), tuple(hooks)))]


def _codex(environ: Mapping[str, str], home: Path, wishes: Wishes) -> list[Step]:
    folder = Path(environ.get("CODEX_HOME") or home / ".codex")
    hooks = [Hook("SessionStart", f"{wishes.bead} prime --hook-json --harness codex")]
    if wishes.hooks_only:
        hooks.append(Hook("UserPromptSubmit", f"{wishes.bead} hook user-prompt --cli codex"))
    found = [_settings(folder / "hooks.json", "Codex's hooks", Part(hooks=tuple(hooks)))]
    if not wishes.hooks_only:
        line = f'openai_base_url = "{wishes.base_url}/openai/v1"'
        wanted = partial(_toml, line=line, name="openai_base_url", where=str(folder / "config.toml"))
        found.append(_block(folder / "config.toml", "Codex's base URL", wanted, line))
    return found


def _gemini(environ: Mapping[str, str], home: Path, wishes: Wishes) -> list[Step]:
    folder = home / ".gemini"
    hooks = [Hook("SessionStart", f"{wishes.bead} prime --hook-json --harness gemini")]
    if wishes.hooks_only:
        hooks.append(Hook("BeforeAgent", f"{wishes.bead} hook before-agent --cli gemini"))
    found = [_settings(folder / "settings.json", "Gemini CLI's settings", Part(hooks=tuple(hooks)))]
    return found if wishes.hooks_only else [*found, _env(folder, f"GOOGLE_GEMINI_BASE_URL={wishes.base_url}/gemini")]


def _qwen(environ: Mapping[str, str], home: Path, wishes: Wishes) -> list[Step]:
    folder = home / ".qwen"
    hooks = [Hook("SessionStart", f"{wishes.bead} prime --hook-json --harness qwen")]
    if wishes.hooks_only:
        hooks.append(Hook("UserPromptSubmit", f"{wishes.bead} hook user-prompt --cli qwen"))
    found = [_settings(folder / "settings.json", "Qwen Code's settings", Part(hooks=tuple(hooks)))]
    return found if wishes.hooks_only else [*found, _env(folder, f"OPENAI_BASE_URL={wishes.base_url}/openai/v1")]


def _opencode(environ: Mapping[str, str], home: Path, wishes: Wishes) -> list[Step]:
    if wishes.hooks_only:
        return []
    folder = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
    values = (
        Value(("provider", "anthropic", "options", "baseURL"), f"{wishes.base_url}/anthropic/v1"),
        Value(("provider", "openai", "options", "baseURL"), f"{wishes.base_url}/openai/v1"),
    )
    return [_settings(folder / "opencode.json", "opencode's settings", Part(values))]


def _aider(environ: Mapping[str, str], home: Path, wishes: Wishes) -> list[Step]:
    if wishes.hooks_only:
        return []
    path = home / ".aider.conf.yml"
    line = f"openai-api-base: {wishes.base_url}/openai/v1"
    return [
        _block(path, "aider's settings", partial(_lines, line=line, name="openai-api-base:", where=str(path)), line)
    ]


def _none(environ: Mapping[str, str], home: Path, wishes: Wishes) -> list[Step]:
    return []


AGENTS: dict[str, Agent] = {
    "claude": Agent(
        "claude",
        _claude,
        (
            "with a base URL that is not the provider's own, Claude Code takes every model's window for 200,000 tokens"
            " and compacts earlier, sends every MCP tool's description in full instead of searching for tools, and has"
            " no Remote Control. Tool search stays on with --tool-search (ENABLE_TOOL_SEARCH=true); the two others"
            " have no switch: choose --hooks-only for them, where nothing changes and memory comes through hooks",
            "an administrator's allowedProviders may forbid another base URL; --hooks-only works there too",
            "a base URL in its settings holds also while bead is not running, and Claude Code then waits for nobody;"
            " the shell function alone (setup without --harness claude) starts it directly in that case",
        ),
    ),
    "codex": Agent(
        "codex",
        _codex,
        (
            "with another base URL Codex tries a WebSocket first and goes on over HTTP; with a ChatGPT login its"
            " requests do not use this setting",
            "Codex runs a new hook after you have trusted it once, in its own dialogue; `codex exec` skips it until"
            " then without a word",
        ),
    ),
    "gemini": Agent("gemini", _gemini, ("a Google login does not use the base URL; an API key does",)),
    "qwen": Agent("qwen", _qwen),
    "opencode": Agent("opencode", _opencode),
    "aider": Agent("aider", _aider, ("only for models that aider asks through OpenAI's protocol; others: bead wrap",)),
    "copilot": Agent(
        "copilot", _none, ("Copilot CLI reads its provider from the environment alone: bead wrap copilot",)
    ),
    "continue": Agent(
        "continue",
        _none,
        ("Continue has a base URL in each of your models: set apiBase there, or use: bead wrap continue",),
    ),
    "cline": Agent("cline", _none, ("Cline keeps its provider beside its keys: use bead wrap cline",)),
}


def _settings(path: Path, what: str, part: Part) -> Step:
    def wanted(data: bytes | None) -> bytes:
        return settingsfile.with_part(data, part, str(path)).data

    def left(data: bytes | None) -> str:
        taken = settingsfile.with_part(data, part, str(path)).taken
        return f"set by you and left as it is: {', '.join(taken)}" if taken else ""

    kept = {"kind": SETTINGS, **settingsfile.as_document(part)}
    return Step(path, what, wanted, kept, mode=0o600, left=left, shown="\n".join(settingsfile.in_lines(part)))


def _block(path: Path, what: str, wanted: Callable[[bytes | None], bytes], line: str) -> Step:
    return Step(path, what, wanted, {"kind": BLOCK}, mode=0o600, by_hand=f"add this line yourself: {line}")


def _env(folder: Path, line: str) -> Step:
    name = line.partition("=")[0]
    path = folder / ".env"
    return _block(
        path, f"{folder.name[1:]}'s base URL", partial(_lines, line=line, name=f"{name}=", where=str(path)), line
    )


def _lines(data: bytes | None, *, line: str, name: str, where: str) -> bytes:
    """A file of lines with ours at its end. Raises Refused when the person has set the same name."""
    theirs = marked.without_block(data or b"")
    if any(each.strip().startswith(name.encode()) for each in theirs.splitlines()):
        raise Refused(f"{where} sets {name.rstrip('=:')} already; it is left as it is")
    return marked.with_block(data or b"", line)


def _toml(data: bytes | None, *, line: str, name: str, where: str) -> bytes:
    """A TOML file with ours before its first table. Raises Refused when the person has set the same name."""
    theirs = marked.without_block(data or b"")
    try:
        known = tomllib.loads(theirs.decode("utf-8"))
    except (ValueError, UnicodeDecodeError):
        raise Refused(f"{where} is no TOML that can be read; nothing was changed there") from None
    if name in known:
        raise Refused(f"{where} sets {name} already; it is left as it is")
    return marked.with_block(data or b"", line, first=True)
