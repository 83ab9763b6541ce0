"""How the bench's own servers live: on uvloop, on a port of the kernel's choice, no longer than their parent."""

import asyncio
import json
import sys
from contextlib import AbstractAsyncContextManager

import uvloop


def run_until_stdin_closes(listening: AbstractAsyncContextManager[int]) -> None:
    """Enter `listening`, which gives a port, print it as `{"port": N}`, and serve until standard input ends.

    The parent holds the other end of standard input, so a parent that dies takes the server with it.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(listening))


async def _serve(listening: AbstractAsyncContextManager[int]) -> None:
    closed = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), closed.set)
    async with listening as port:
        print(json.dumps({"port": port}), flush=True)
        await closed.wait()
