"""Lanes: the one way from the event loop to blocking work.

What runs in a lane never overlaps with anything else in it, so a lane is also the lock of what it guards: a caller
that gives up (a time limit, a closed connection) stops waiting, and the work it started still ends undisturbed.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from bead.errors import Unavailable

P = ParamSpec("P")
T = TypeVar("T")


class Lane:
    """One thread that does one thing after the other."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"store-{name}")

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `work` returns, once everything asked before it is done.

        Raises:
            Unavailable: the store is stopping.
        """
        try:
            future = self._thread.submit(work, *args, **kwargs)
        except RuntimeError:
            raise Unavailable("the store is stopping; try again in a moment") from None
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Finish everything that was asked, then take no more. Blocks."""
        self._thread.shutdown(wait=True)
