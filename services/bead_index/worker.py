"""Blocking index work on two threads of its own: one writes, one reads, so that no search waits for a rebuild."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Self, TypeVar

import structlog

from bead_index.database import Damaged, IndexFile, throw_away

T = TypeVar("T")
log = structlog.get_logger()


class Worker:
    """`async with Worker(path) as worker`: the only holder of `index.db` in this process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="index-write")
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="index-read")
        self._writer: IndexFile | None = None
        self._reader: IndexFile | None = None
        self._recalling = ThreadPoolExecutor(1, thread_name_prefix="index-recall")
        self._recaller: IndexFile | None = None

    async def write(self, work: Callable[[IndexFile], T]) -> T:
        """`work` on the writing connection, after what was asked before.

        Raises:
            Damaged: the file is unusable; call `reset`.
            Unavailable: the disk refuses.
        """
        return await self._on(self._writing, lambda: work(self._open_writer()))

    async def read(self, work: Callable[[IndexFile], T]) -> T:
        """`work` on the reading connection; raises as `write` does."""
        return await self._on(self._reading, lambda: work(self._open_reader()))

    async def recall(self, work: Callable[[IndexFile], T]) -> T:
        """`work` on a reading connection of its own: no model request waits for a person's search."""
        return await self._on(self._recalling, lambda: work(self._open_recaller()))

    async def reset(self) -> None:
        """Throw the file away; the next call makes an empty one."""
        async with self._nobody_reads():
            await self._on(self._writing, self._throw_away)

    @property
    def new_path(self) -> Path:
        """Where another file is built that `swap` puts into the place of this one."""
        return self._path.with_name(f"{self._path.name}.new")

    async def swap(self) -> None:
        """Put the file at `new_path` into the place of this one."""
        async with self._nobody_reads():
            await self._on(self._writing, self._swap)

    async def __aenter__(self) -> Self:
        throw_away(self.new_path)  # of a process that was killed while it built
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self._on(self._reading, self._close_reader)
        await self._on(self._recalling, self._close_recaller)
        await self._on(self._writing, self._close_writer)
        self._recalling.shutdown()
        self._reading.shutdown()
        self._writing.shutdown()

    @asynccontextmanager
    async def _nobody_reads(self) -> AsyncIterator[None]:
        """Both readers closed and held: one that closed later would take the new file's log with it."""
        done = Event()
        closed = [asyncio.Event(), asyncio.Event()]
        pools = ((self._reading, self._close_reader), (self._recalling, self._close_recaller))
        loop = asyncio.get_running_loop()

        def hold(close: Callable[[], None], is_closed: asyncio.Event) -> None:
            try:
                close()
            finally:
                loop.call_soon_threadsafe(is_closed.set)
                done.wait()

        held = [
            loop.run_in_executor(pool, hold, close, event) for (pool, close), event in zip(pools, closed, strict=True)
        ]
        try:
            for event in closed:
                await event.wait()
            yield
        finally:
            done.set()
            await asyncio.gather(*held)

    @staticmethod
    async def _on(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(pool, work)

    def _open_writer(self) -> IndexFile:
        if self._writer is not None and (self._writer.is_missing() or self._writer.is_replaced()):
            self._close_writer()
            throw_away(self._path)  # -wal and -shm of the file that is gone
        if self._writer is None:
            self._writer = self._opened()
        return self._writer

    def _opened(self) -> IndexFile:
        try:
            return IndexFile(self._path, writing=True)
        except Damaged:
            log.warning("index.db is damaged or of another version; it is built again from the store")
            throw_away(self._path)
            return IndexFile(self._path, writing=True)

    def _open_reader(self) -> IndexFile:
        # While the path is missing the old file goes on answering; the writer makes the new one.
        if self._reader is not None and self._reader.is_replaced():
            self._close_reader()
        if self._reader is None:
            self._reader = IndexFile(self._path, writing=False)
        return self._reader

    def _open_recaller(self) -> IndexFile:
        if self._recaller is not None and self._recaller.is_replaced():
            self._close_recaller()
        if self._recaller is None:
            self._recaller = IndexFile(self._path, writing=False)
        return self._recaller

    def _close_recaller(self) -> None:
        if self._recaller is not None:
            self._recaller.close()
            self._recaller = None

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _close_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _swap(self) -> None:
        self._close_writer()
        throw_away(self._path)
        # Complete: whoever built it has closed it, and that put all of its log into it.
        os.replace(self.new_path, self._path)

    def _throw_away(self) -> None:
        self._close_writer()
        throw_away(self._path)
