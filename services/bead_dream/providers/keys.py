"""Where an API key comes from: a variable, or what a command prints. It is kept in memory for one run, told to nobody.

The command runs with the bare environment that launchd and systemd give: HOME, USER, and a short PATH. What works
there by hand works at night.
"""

import asyncio
import os
import shlex
from collections.abc import Mapping
from contextlib import suppress

from bead.errors import ModelTrouble

PATH = "/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin:/usr/sbin:/sbin"
MAX_KEY_BYTES = 16 << 10


def key_in(environ: Mapping[str, str], variable: str) -> str | None:
    """The key in a variable; None when it is not set or empty."""
    return environ.get(variable, "").strip() or None


async def key_of_command(command: str, environ: Mapping[str, str], timeout_s: float) -> str:
    """The first line that the command prints, its end cut.

    Raises:
        ModelTrouble: it cannot be run, fails, prints nothing, or takes too long. Neither output is told.
    """
    bare = {name: environ[name] for name in ("HOME", "USER", "LOGNAME") if name in environ} | {"PATH": PATH}
    try:
        process = await asyncio.create_subprocess_exec(
            *shlex.split(command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=bare,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise ModelTrouble(f"dream.api_key_command cannot be run ({type(error).__name__})") from None
    try:
        async with asyncio.timeout(timeout_s):
            output, _ = await process.communicate()
    except TimeoutError:
        raise ModelTrouble(f"dream.api_key_command gave no key within {timeout_s:g} s") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)  # its own session: whatever it has started goes with it
            await process.wait()
    if process.returncode != 0:
        raise ModelTrouble(f"dream.api_key_command ended with code {process.returncode}")
    key = output[:MAX_KEY_BYTES].decode("utf-8", "replace").strip("\r\n")
    if not key.strip() or not key.isprintable():
        raise ModelTrouble("dream.api_key_command printed no key on one line")
    return key
