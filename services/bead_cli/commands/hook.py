"""`bead hook EVENT`: what a coding agent's hooks call. Each event is a function of its module; this dispatches.

A hook never breaks its agent: whatever happens here, the exit code is 0.
"""

import argparse
import os
import select
import sys
import time
from importlib import import_module

from bead_cli import firing
from bead_cli.context import Context

EVENTS = {
    "session-end": "bead_cli.drain.hooks.on_session_end",
    "post-tool-use": "bead_cli.drain.hooks.on_post_tool_use",
    "user-prompt": "bead_cli.prompting.on_user_prompt",
    "before-agent": "bead_cli.prompting.on_before_agent",
}
"""Where the function of each event is: it gets the context, the bytes of the agent's document, and the agent's name."""
_INPUT_LIMIT_S = 0.5
_MAX_INPUT_BYTES = 8 << 20
_EPILOG = """\
For an agent's settings, not for typing. Reads the agent's JSON document from standard input. Exit code 0, always.

user-prompt (Claude Code, Codex, Qwen Code) and before-agent (Gemini CLI) answer with what memory has to say to a
prompt, where the proxy is not in the path; session-end and post-tool-use only leave a note for `bead drain`.

examples:
  bead hook session-end < document.json
  bead hook user-prompt --cli codex < document.json
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """The event, and whose."""
    parser.epilog = _EPILOG
    parser.add_argument("event", choices=tuple(EVENTS), metavar="|".join(EVENTS))
    parser.add_argument("--cli", default="claude", metavar="NAME", help="the agent; default: claude")


def run(args: argparse.Namespace, context: Context) -> int:
    """Let the event's function work."""
    firing.note(context.home, args.cli, args.event)
    module, _, function = EVENTS[args.event].rpartition(".")
    try:
        getattr(import_module(module), function)(context, read_input(sys.stdin.fileno()), args.cli)
    except Exception as error:  # the agent must go on; the class only, a text may hold content (I15)
        context.output.note(f"the hook did nothing ({type(error).__name__})")
    return 0


def read_input(descriptor: int, limit_s: float = _INPUT_LIMIT_S) -> bytes:
    """The agent's document; what has come when the time is over, so that an input that stays open holds nobody."""
    until_s = time.monotonic() + limit_s
    data = b""
    while len(data) < _MAX_INPUT_BYTES:
        left_s = until_s - time.monotonic()
        if left_s <= 0 or not select.select([descriptor], [], [], left_s)[0]:
            break
        piece = os.read(descriptor, 1 << 16)
        if not piece:
            break
        data += piece
    return data
