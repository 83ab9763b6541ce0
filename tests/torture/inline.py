"""One thread for everything: what was given to a pool runs at once, in the thread that asked.

strace counts the calls of each thread by themselves, so only a process with one thread makes the n-th fsync the same
one in every run. The store's own code stays as it is; only the pools below it change.
"""

import concurrent.futures
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


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


def install() -> None:
    """Give this pool to every module that is imported from now on, and to asyncio."""
    setattr(concurrent.futures, "ThreadPoolExecutor", InlineExecutor)  # noqa: B010 -- a type checker forbids the plain form
