"""One thread for everything: what was given to a lane or a pool runs at once, in the thread that asked.

strace counts the calls of each thread by themselves, so only a process with one thread makes the n-th fsync the same
one in every run. The store's own code stays as it is; only what carries it from thread to thread changes.
"""

import concurrent.futures
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from bead_store import lanes

P = ParamSpec("P")
T = TypeVar("T")


class InlineExecutor(ThreadPoolExecutor):
    """A pool without threads."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """A future that is done already."""
        done: Future[Any] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:  # whatever the work raises belongs to who asked
            done.set_exception(error)
        return done


class InlineLane(lanes.Lane):
    """A lane without a thread. Nothing overlaps in it, because nothing overlaps at all."""

    def __init__(self, name: str) -> None:
        """Nothing is started."""
        self.behind: Callable[[], None] | None = None

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `work` returns."""
        try:
            return work(*args, **kwargs)
        finally:
            if self.behind:
                self.behind()

    def close(self) -> None:
        """Nothing is left to finish."""


def install() -> None:
    """Give these to every module that is imported from now on, and to asyncio."""
    lanes.Lane = InlineLane  # type: ignore[misc]  # the class itself is replaced
    setattr(concurrent.futures, "ThreadPoolExecutor", InlineExecutor)  # noqa: B010 -- a type checker forbids the plain form
