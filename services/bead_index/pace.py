"""Long work in a thread, with a pause now and then: the event loop of this process also answers model requests."""

import gc
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

WORK_S = 0.001
"""Longest stretch of Python that a request may have to wait for."""
PAUSE_S = 0.0002
"""Long enough for the loop to wake; without a pause it gets the interpreter only every five milliseconds."""

T = TypeVar("T")


def unhurried(items: Iterable[T]) -> Iterator[T]:
    """`items`, with pauses while they are worked on. Blocking; never for the loop itself."""
    until = time.monotonic() + WORK_S
    for item in items:
        if time.monotonic() > until:
            time.sleep(PAUSE_S)
            until = time.monotonic() + WORK_S
        yield item


@contextmanager
def long_lived() -> Iterator[None]:
    """What is made in the block is no garbage: the collector neither looks for any meanwhile, nor at it afterwards.

    One look at some thousand facts holds every request up for hundreds of milliseconds. What the block of before made
    is looked at again when it has been let go.
    """
    was_on = gc.isenabled()
    gc.disable()
    gc.unfreeze()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()
