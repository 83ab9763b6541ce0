"""Holds the process that watches the home's files (`watching`), and hands on what it tells.

A watcher that ends is started again; until then, and where no events arrive, `trouble` says so for the health answer.
"""

import asyncio
import contextlib
import json
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import structlog

from bead.settings import StoreSettings

_PATIENCE_S = 0.3
"""Before the first watcher: a store that is opened for one command needs none, and a start is busy enough."""
_LINE_BYTES = 4 << 20
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
_LOOKBACK_NS = 5_000_000_000
"""Files changed this long before a watcher starts are looked at again: one may have been missed in between."""

log = structlog.get_logger()


class Watch:
    """Calls `noticed` with each path that changes below `roots`, on the event loop."""

    def __init__(self, settings: StoreSettings, roots: Iterable[Path], noticed: Callable[[str], None]) -> None:
        self._settings = settings
        self._roots = tuple(str(root) for root in roots)
        self._noticed = noticed
        self._since_ns = time.time_ns()
        self.trouble: str | None = None
        """Why edits are noticed late or not at all; None while all is well."""

    async def run(self) -> None:
        """Watch until cancelled; what was changed since this object was made is told too.

        So the files may be read first: putting up watches costs as much as reading them, and one at a time is sooner.
        """
        pause_s = _FIRST_PAUSE_S
        since_ns = self._since_ns - _LOOKBACK_NS
        await asyncio.sleep(_PATIENCE_S)
        while True:
            started = time.monotonic()
            with contextlib.suppress(OSError):
                async with self._watcher(since_ns) as process:
                    await self._listen(process)
            since_ns = time.time_ns() - _LOOKBACK_NS
            self.trouble = "edited files are not noticed at the moment: the watching process ended"
            log.warning("the watching process ended and is started again")
            pause_s = _FIRST_PAUSE_S if time.monotonic() - started > pause_s else min(2 * pause_s, _LONGEST_PAUSE_S)
            await asyncio.sleep(pause_s)

    @asynccontextmanager
    async def _watcher(self, since_ns: int) -> AsyncIterator[Process]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bead_store.watching",
            "--way", self._settings.watch, "--sweep-s", str(self._settings.sweep_s),
            "--since-ns", str(since_ns), *self._roots,
            stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=_LINE_BYTES,
        )  # fmt: skip
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _listen(self, process: Process) -> None:
        assert process.stdout is not None, "its output is a pipe"
        async for line in process.stdout:
            told = json.loads(line)
            if "way" in told:
                self.trouble = self._told_way(told["way"], told["why"])
            for path in told.get("changed", ()):
                self._noticed(path)

    def _told_way(self, way: str, why: str | None) -> str | None:
        if way == "events" or self._settings.watch == "sweep":
            return None
        return f"edited files are found by looking at all of them every {self._settings.sweep_s:g} s or more: {why}"
