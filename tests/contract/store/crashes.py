"""A store whose process ends at the n-th call that changes the disk, and another one that finds what was left."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter

from bead.home import Home
from bead.settings import StoreSettings
from bead.tasks import Tasks
from bead_store import disk
from bead_store.app import Store
from bead_store.home import prepare
from bead_store.scan import NO_EXCEPTIONS, Scan

CHANGING = frozenset(
    {"write", "pwrite", "link", "rename", "unlink", "rmdir", "mkdir", "ftruncate", "fsync", "chmod", "fchmod"}
)
SCAN = Scan(())
"""Loaded once: none of these tests is about credentials."""


class Ended(BaseException):
    """The process is gone; nothing that runs afterwards can touch the disk."""


class CrashingOs:
    """`os`, until the n-th changing call: that one and every later one end the process before they do anything."""

    def __init__(self, last: int | None) -> None:
        self.last = last
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(os, name)
        if name not in CHANGING:
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            if self.last is not None and len(self.calls) >= self.last:
                raise Ended
            self.calls.append(name)
            return found(*args, **kwargs)

        return call


@asynccontextmanager
async def living(home: Home, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Store]:
    """A loaded store that is left as it is at the end, as by kill -9."""
    monkeypatch.setattr("bead_store.app.Scan", lambda *_: SCAN)
    writes = Counter("writes", "Writes.", ["verb"], registry=CollectorRegistry())
    async with Tasks() as tasks:
        settings = StoreSettings(watch="off", group_fsync_ms=60_000)
        store = Store(settings, NO_EXCEPTIONS, home, "me", prepare(home), tasks, writes)
        try:
            await store.load()
            yield store
        finally:
            for lane in (store.slow_lane, store.fact_lane, store.turn_lane, store.read_lane):
                await asyncio.to_thread(lane.close)


async def end_at(
    last: int | None,
    home: Home,
    work: Callable[[Store], Awaitable[object]],
    monkeypatch: pytest.MonkeyPatch,
) -> int:
    """Do `work` in a process that ends before its changing call number `last`; how many calls there were."""
    async with living(home, monkeypatch) as store:
        crashing = CrashingOs(last)
        with monkeypatch.context() as patch:
            patch.setattr(disk, "os", crashing)
            try:
                await work(store)
            except Ended:
                pass
    return len(crashing.calls)
