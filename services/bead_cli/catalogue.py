"""The commands that exist: name, summary, and the module that is imported only when its command runs."""

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from bead_cli.context import Context


class CommandModule(Protocol):
    """A module of `bead_cli.commands`."""

    configure: Callable[[argparse.ArgumentParser, str], None]
    """Add the arguments, description and examples of the command with this name."""
    run: Callable[[argparse.Namespace, "Context"], int]


class Command(NamedTuple):
    """One word after `bead`."""

    name: str
    summary: str
    module: str

    def load(self) -> CommandModule:
        """The module that does the work."""
        return cast(CommandModule, import_module(f"bead_cli.commands.{self.module}"))


COMMANDS: tuple[Command, ...] = (
    Command("up", "start every service in this terminal", "up"),
    Command("down", "stop the bead that runs on this home", "down"),
    Command("status", "what runs, and what is degraded", "status"),
    Command("logs", "the last lines that bead has logged", "logs"),
    Command("serve", "run one service in this process (for containers)", "serve"),
    Command("proxy", "run the proxy alone, the same as `serve proxy`", "serve"),
    Command("setup", "connect this machine: start bead with your login, `claude` with memory", "setup"),
    Command("unsetup", "give every file back that setup has changed", "unsetup"),
    Command("wrap", "start a coding agent with memory", "wrap"),
    Command("statusline", "what this session was given, for Claude Code's status line", "statusline"),
    Command("prime", "what a session is to start with, for session-start hooks", "prime"),
    Command("remember", "keep a sentence, under a key made from its words", "remember"),
    Command("write", "write a fact under a key", "remember"),
    Command("recall", "print the text stored under a key", "read"),
    Command("memories", "list what is remembered", "read"),
    Command("show", "one fact with everything known about it", "read"),
    Command("history", "every version of a fact", "read"),
    Command("search", "search facts and conversations", "search"),
    Command("explain", "why a turn got the memories it got", "explain"),
    Command("pin", "show a fact at the start of every conversation", "mark"),
    Command("unpin", "take that back", "mark"),
    Command("reinforce", "make a dormant fact current again", "mark"),
    Command("rekey", "move a fact with its history to another key", "rekey"),
    Command("forget", "take facts and their text out of everything bead keeps", "forget"),
    Command("vault", "make the vault for what only you can read", "vault"),
    Command("seal", "move a fact into the vault", "vault"),
    Command("unseal", "make a sealed fact a plain one again", "vault"),
    Command("sealed", "what is sealed; show one with the passphrase", "vault"),
    Command("queue", "what waits for your decision", "queue"),
    Command("backup", "an encrypted copy of everything, in a folder", "backup"),
    Command("restore", "bring a backup back into an empty home", "backup"),
    Command("drain", "make drafts of what the agents remember by themselves", "drain"),
    Command("drafts", "drained memories that wait for your decision", "drafts"),
    Command("migrate", "bring the files of an older bead to this one's form", "migrate"),
    Command("hook", "what an agent's hooks call", "hook"),
    Command("dream", "a night now: read, propose, tidy; take one back", "dream"),
    Command("review", "decide what waits, in the terminal", "review"),
    Command("curate", "the admin page, in your browser", "curate"),
    Command("mcp", "bead's tools for an agent, over MCP", "mcp"),
    Command("export", "the current facts as JSON lines", "export"),
    Command("import", "facts from JSON lines, through the same rule as every other way in", "importing"),
    Command("index", "rebuild or check the search index", "index"),
    Command("trace", "what each request was given, as it happens", "trace"),
    Command("doctor", "what is wrong, why, and the command that mends it", "doctor"),
    Command("audit", "check the audit log", "audit"),
    Command("scan", "scan what is stored for credentials again", "scan"),
    Command("bench", "measure bead", "bench"),
    Command("eval", "measure how well bead chooses what the model is told", "eval"),
    Command("completion", "tab completion for bash, zsh or fish", "completion"),
    Command("version", "the version of bead", "version"),
)

BY_NAME = {command.name: command for command in COMMANDS}

PLANNED = frozenset(
    "backup bench curate doctor drafts dream drain eval explain export audit forget hook import logs mcp migrate owner"
    " prime reinforce rekey restore review scan seal sealed setup sync trace unseal unsetup vault".split()
) - set(BY_NAME)
"""Names that have a meaning in bead and no command in this version yet."""
