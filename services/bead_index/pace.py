"""Long work in a thread, with a pause now and then: the event loop of this process also answers model requests."""

import time
from collections.abc import Iterable, Iterator
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
