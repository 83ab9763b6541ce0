"""Lanes: the one way from the event loop to blocking work.

What runs in a lane never overlaps with anything else in it, so a lane is also the lock of what it guards: a caller
that gives up (a time limit, a closed connection) stops waiting, and the work it started still ends undisturbed.
"""

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, NamedTuple, ParamSpec, TypeVar

from bead.errors import Unavailable

P = ParamSpec("P")
T = TypeVar("T")

PAUSE_S = 0.1
"""So long nothing is asked before a lane does what nobody waits for: a row of writes is not held up between two."""
MOST_JOBS = 200
"""After so many jobs it is done though the row goes on, so that what is put off has a bound (I17)."""


class _Job(NamedTuple):
    work: Callable[[], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Lane:
    """One thread that does one thing after the other.

    Leaner than an executor, which costs every model request several tenths of a millisecond: it makes a future of its
    own beside the loop's, and locks and notifies for both.
    """

    def __init__(self, name: str) -> None:
        self.behind: Callable[[], None] | None = None
        """Done in the pause after a row of jobs, when their callers have their answers, and before the next job."""
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = Lock()
        self._is_closed = False
        self._thread = Thread(target=self._serve, name=f"store-{name}", daemon=True)
        self._thread.start()

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `work` returns, once everything asked before it is done.

        Raises:
            Unavailable: the store is stopping.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        with self._lock:
            if self._is_closed:
                raise Unavailable("the store is stopping; try again in a moment")
            self._jobs.put(_Job(partial(work, *args, **kwargs), future, loop))
        return await future

    def close(self) -> None:
        """Finish everything that was asked, then take no more. Blocks."""
        with self._lock:
            self._is_closed = True
            self._jobs.put(None)
        self._thread.join()

    def _serve(self) -> None:
        row, is_open = 0, True  # jobs since what is behind them was done the last time
        while is_open:
            with contextlib.suppress(Empty):
                job = self._jobs.get(timeout=PAUSE_S if row else None)
                if job is not None:
                    _do(job)
                    loop = job.loop
                    del job  # what it holds must not live until the next one comes
                    row += self.behind is not None
                    if row < MOST_JOBS:
                        continue
                else:
                    is_open = False
            if self.behind and row:
                _do_behind(self.behind, loop)
            row = 0


def _do(job: _Job) -> None:
    result, error = None, None
    try:
        result = job.work()
    except BaseException as raised:  # for the caller, whatever it is
        error = raised
    # A loop that is closed has nobody left who waits.
    with contextlib.suppress(RuntimeError):
        job.loop.call_soon_threadsafe(_settle, job.future, result, error)
    del error  # its traceback holds this frame


def _do_behind(work: Callable[[], None], loop: asyncio.AbstractEventLoop) -> None:
    """Do what nobody waits for; what it raises is the loop's to report."""
    try:
        work()
    except BaseException as error:  # the lane goes on, whatever it is
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_report, error)


def _report(error: BaseException) -> None:
    raise error


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():  # the caller has given up
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
