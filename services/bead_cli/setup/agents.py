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
    """The agent's own memory is switched off, where it has a documented switch."""
    drains: bool = False
    drains_on_write: bool = False


class Agent(NamedTuple):
    """One coding agent. `steps` are none where it has no settings of this kind; the texts are for the person."""

    name: str
    steps: Callable[[Mapping[str, str], Path, Wishes], list[Step]]
    changes: tuple[str, ...] = ()
    """What another base URL changes in it, with the documented switches (B03)."""
    notes: tuple[str, ...] = ()
    own_memory: str = "keeps no memory of its own that its documentation tells how to switch off"
    switches: tuple[Value, ...] = ()
    """Documented settings that switch its own memory off; put in only when the person asks."""


_CLAUDE_MEMORY = (Value(("env", "CLAUDE_CODE_DISABLE_AUTO_MEMORY"), "1"),)
_QWEN_MEMORY = (
    Value(("memory", "enableManagedAutoMemory"), False),
    Value(("memory", "enableManagedAutoDream"), False),
)


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
        values += _CLAUDE_MEMORY
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
    if wishes.hooks_only:
        return found
    # Gemini CLI reads the first of these two files that is there: a new one would hide the keys in the other.
    return [*found, _env(folder, f"GOOGLE_GEMINI_BASE_URL={wishes.base_url}/gemini", hides=home / ".env")]


def _qwen(environ: Mapping[str, str], home: Path, wishes: Wishes) -> list[Step]:
    folder = Path(environ.get("QWEN_HOME") or home / ".qwen")
    hooks = [Hook("SessionStart", f"{wishes.bead} prime --hook-json --harness qwen")]
    if wishes.hooks_only:
        hooks.append(Hook("UserPromptSubmit", f"{wishes.bead} hook user-prompt --cli qwen"))
    values = _QWEN_MEMORY if wishes.no_auto_memory else ()
    found = [_settings(folder / "settings.json", "Qwen Code's settings", Part(values, tuple(hooks)))]
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
    line = f"openai-api-base: {wishes.base_url}/openai/v1\nset-env:\n  - ANTHROPIC_API_BASE={wishes.base_url}/anthropic"
    wanted = partial(_lines, line=line, names=("openai-api-base:", "set-env:"), where=str(path))
    return [_block(path, "aider's settings", wanted, line)]


def _none(environ: Mapping[str, str], home: Path, wishes: Wishes) -> list[Step]:
    return []


AGENTS: dict[str, Agent] = {
    "claude": Agent(
        "claude",
        _claude,
        changes=(
            "with a base URL that is not the provider's own, Claude Code takes every model's window for 200,000 tokens"
            " and compacts earlier, sends every MCP tool's description in full instead of searching for tools, and has"
            " no Remote Control. Tool search stays on with --tool-search (ENABLE_TOOL_SEARCH=true); the two others"
            " have no switch: choose --hooks-only for them, where nothing changes and memory comes through hooks",
            "an administrator's allowedProviders may forbid another base URL; --hooks-only works there too",
            "a base URL in its settings holds also while bead is not running, and Claude Code then waits for nobody;"
            " the shell function alone (setup without --harness claude) starts it directly in that case",
        ),
        own_memory="its own memory stays on beside bead's; --no-auto-memory switches it off"
        " (CLAUDE_CODE_DISABLE_AUTO_MEMORY=1)",
        switches=_CLAUDE_MEMORY,
    ),
    "codex": Agent(
        "codex",
        _codex,
        changes=(
            "with another base URL Codex tries a WebSocket first and goes on over HTTP; with a ChatGPT login its"
            " requests do not use this setting",
        ),
        notes=(
            "Codex runs a new hook after you have trusted it once, in its own dialogue; `codex exec` skips it until"
            " then without a word",
        ),
        own_memory="its own memory is off unless you have set memories = true under [features] of its config.toml",
    ),
    "gemini": Agent(
        "gemini",
        _gemini,
        changes=(
            "a Google login does not use the base URL; an API key does. A project with a .env of its own, and a folder"
            " that Gemini CLI does not trust, do not read the one in ~/.gemini",
        ),
        own_memory="its own memory is off unless you have set experimental.autoMemory",
    ),
    "qwen": Agent(
        "qwen",
        _qwen,
        changes=("a base URL in modelProviders, or in a project's .env, goes before this one",),
        own_memory="its own memory stays on beside bead's; --no-auto-memory switches it off"
        " (memory.enableManagedAutoMemory, memory.enableManagedAutoDream)",
        switches=_QWEN_MEMORY,
    ),
    "opencode": Agent(
        "opencode",
        _opencode,
        notes=("opencode has no hooks for commands: with --hooks-only nothing is written for it",),
    ),
    "aider": Agent("aider", _aider, notes=("a project's own .aider.conf.yml goes before this one",)),
    "copilot": Agent(
        "copilot", _none, notes=("Copilot CLI reads its provider from the environment alone: bead wrap copilot",)
    ),
    "continue": Agent(
        "continue",
        _none,
        notes=("Continue has a base URL in each of your models: set apiBase there, or use: bead wrap continue",),
    ),
    "cline": Agent(
        "cline",
        _none,
        notes=(
            "Cline keeps its address beside your keys, and only its own command writes there: bead wrap cline tells it",
        ),
    ),
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


def _env(folder: Path, line: str, hides: Path | None = None) -> Step:
    name, path = line.partition("=")[0], folder / ".env"
    wanted = partial(_lines, line=line, names=(f"{name}=",), where=str(path), hides=hides)
    return _block(path, f"{folder.name.lstrip('.')}'s base URL", wanted, line)


def _lines(data: bytes | None, *, line: str, names: tuple[str, ...], where: str, hides: Path | None = None) -> bytes:
    """A file of lines with ours at its end.

    Raises:
        Refused: the person has set one of the names, or a file of theirs would not be read any more.
    """
    if data is None and hides is not None and hides.exists():
        raise Refused(f"{hides} would not be read any more if {where} were made; nothing was changed there")
    theirs = marked.without_block(data or b"")
    for name in names:
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
