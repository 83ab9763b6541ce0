"""The line that starts Claude Code with memory, as a person may see it and as a file may keep it."""

import shlex

from bead_cli.context import Context, read_token, token_file
from bead_cli.runtime import Runtime

_END = "CLAUDE_CODE_GATEWAY_HINT_HEADERS=1 claude"


def claude_line(context: Context, who: Runtime) -> str:
    """With the capability on a terminal; elsewhere with the way to it, so that no log or file holds it.

    Raises:
        HomeUnusable: the capability cannot be read.
    """
    base = f"ANTHROPIC_BASE_URL={who.place('proxy').url}/t/"
    if context.output.is_terminal:
        return f"{base}{read_token(context.home, 'proxy', context.environ)} {_END}"
    return f"{base}$({_command(context)}) {_END}"


def _command(context: Context) -> str:
    """What prints the capability on the host: the files of a container are not there."""
    path = shlex.quote(token_file(context.home, "proxy", context.environ))
    return f"docker compose exec -T proxy cat {path}" if context.in_container() else f"cat {path}"
