"""Background tasks that somebody holds: named, logged when they fail, cancelled and awaited at the end."""

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

import structlog

log = structlog.get_logger()


class Tasks:
    """Owner of background tasks: `async with Tasks() as tasks: tasks.start(work(), name="follow")`."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
        """Run `work` until it ends or the owner leaves."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._finished)
        return task

    async def drain(self, timeout_s: float) -> None:
        """Wait for what runs now, at most `timeout_s`; what is left stays running."""
        if self._running:
            await asyncio.wait(self._running, timeout=timeout_s)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()):
            # The class only: an exception's text may hold what it choked on (I15).
            log.error("background task failed", task=task.get_name(), error=type(error).__name__)
