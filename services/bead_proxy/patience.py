"""How long the request path waits for a service: up to a deadline, and not at all for a while after it failed (I10)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from bead.errors import Unavailable

T = TypeVar("T")

REST_S = 1.0
"""After a failure the service is left alone this long, so that not every request pays for waiting."""


class NotLoaded(Exception):
    """Memory cannot help this request; the text is a cause for counters and health, never content."""


class Patience:
    """Calls one service for the request path."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._rests_until = 0.0

    @property
    def is_resting(self) -> bool:
        """Whether calls are refused just now."""
        return asyncio.get_running_loop().time() < self._rests_until

    async def call(self, work: Callable[[], Awaitable[T]], deadline: float) -> T:
        """The result of `work`, if it comes before `deadline` on the loop's clock.

        Raises:
            NotLoaded: it did not, or the service is down or resting.
            BeadError: the service refused; it is well, and the caller knows what that means.
        """
        if self.is_resting:
            raise NotLoaded(f"{self._name} failed a moment ago")
        if asyncio.get_running_loop().time() >= deadline:
            # Others used the time up: no reason to rest.
            raise NotLoaded(f"no time left for {self._name}")
        try:
            async with asyncio.timeout_at(deadline):
                return await work()
        except TimeoutError:
            raise self._failed("did not answer in time") from None
        except Unavailable:
            raise self._failed("is not available") from None

    def rest(self) -> None:
        """Leave the service alone from now on, for a while."""
        self._rests_until = asyncio.get_running_loop().time() + REST_S

    def _failed(self, what: str) -> NotLoaded:
        self.rest()
        return NotLoaded(f"{self._name} {what}")
