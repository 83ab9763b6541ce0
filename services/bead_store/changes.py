"""The change feed: what a derived copy has to look at again, in order, without any text.

It keeps only the newest change of each key and session, so it needs no bound of its own and no reader is ever too
late for it. It lives as long as the process: a new epoch tells readers to compare the manifest. Readers wait for an
event, never by asking again and again.
"""

import asyncio
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable

from bead.wire.store import Change, ChangeKind, ChangePage

MAX_WAIT_S = 60.0

Waiter = tuple[asyncio.AbstractEventLoop, asyncio.Event]


class Changes:
    """Published from any thread, read from an event loop."""

    def __init__(self) -> None:
        self.epoch = secrets.token_hex(8)
        self._guard = threading.Lock()
        self._seq = 0
        self._newest: OrderedDict[tuple[ChangeKind, str], Change] = OrderedDict()
        self._urgent_seq = 0
        """Number of the last change that is more than turns added."""
        self._waiters: set[Waiter] = set()
        self._hurried_waiters: set[Waiter] = set()
        """Readers that have a change and would wait for more unless it is urgent."""
        self._applying_waiters: set[Waiter] = set()
        """Who waits for a consumer's next word."""
        self._applied: dict[str, int] = {}
        self._closed = False

    @property
    def seq(self) -> int:
        """Number of the last change."""
        return self._seq

    def publish(self, kind: ChangeKind, name: str, *, gone: bool = False, added: int | None = None) -> int:
        """Tell readers about `name`; call when a reader who asks at once sees the new state. Returns its number.

        `added` is the ordinal of a turn that was put at the end of a session, the turns before it left as they were.
        """
        with self._guard:
            self._seq += 1
            before = self._newest.get((kind, name))
            first = None if before and self._unseen_rewrite(before) else added
            self._newest[kind, name] = Change(seq=self._seq, kind=kind, id=name, gone=gone, first=first)
            self._newest.move_to_end((kind, name))
            _wake(self._waiters)
            if first is None:
                self._urgent_seq = self._seq
                _wake(self._hurried_waiters)
            return self._seq

    async def page(self, epoch: str, after: int, wait_s: float, gather_s: float = 0.0) -> ChangePage:
        """Everything after `after`, waiting for the first for at most `wait_s`; at once and empty for another epoch.

        Where turns were added and nothing else happened, waits up to `gather_s` more for company.
        """
        if epoch != self.epoch:
            return ChangePage(epoch=self.epoch, seq=self._seq, changes=())
        await self._wait(self._waiters, lambda: self._seq > after, wait_s)
        if gather_s and self._seq > after:
            await self._wait(self._hurried_waiters, lambda: self._urgent_seq > after, gather_s)
        with self._guard:
            return ChangePage(epoch=self.epoch, seq=self._seq, changes=self._after(after))

    @property
    def is_closed(self) -> bool:
        """Whether the store is stopping."""
        return self._closed

    def acknowledge(self, consumer: str, epoch: str, seq: int) -> None:
        """`consumer` has applied everything up to `seq`. A word about another epoch is too late to matter."""
        if epoch == self.epoch:
            self._applied[consumer] = max(seq, self._applied.get(consumer, 0))
            with self._guard:
                _wake(self._applying_waiters)

    async def wait_applied(self, consumer: str, seq: int, wait_s: float) -> bool:
        """Whether `consumer` has applied change `seq` within `wait_s`."""
        ends = asyncio.get_running_loop().time() + wait_s
        while self.applied(consumer) < seq and not self._closed:
            left_s = ends - asyncio.get_running_loop().time()
            if left_s <= 0:
                break
            await self._wait(self._applying_waiters, lambda: self.applied(consumer) >= seq, left_s)
        return self.applied(consumer) >= seq

    def has_spoken(self, consumer: str) -> bool:
        """Whether `consumer` has acknowledged anything in this epoch, be it that there was nothing."""
        return consumer in self._applied

    def applied(self, consumer: str) -> int:
        """The last change that `consumer` has applied in this epoch; 0 when it has said nothing."""
        return self._applied.get(consumer, 0)

    def close(self) -> None:
        """Send every waiting reader home, so that the process can end."""
        with self._guard:
            self._closed = True
            _wake(self._waiters)
            _wake(self._hurried_waiters)
            _wake(self._applying_waiters)

    def _unseen_rewrite(self, change: Change) -> bool:
        """Whether a consumer may not have applied `change` yet, and it said more than that turns were added."""
        if change.first is not None and not change.gone:
            return False
        return not self._applied or min(self._applied.values()) < change.seq

    async def _wait(self, waiters: set[Waiter], is_there: Callable[[], bool], wait_s: float) -> None:
        waiter = (asyncio.get_running_loop(), asyncio.Event())
        with self._guard:
            if is_there() or self._closed:
                return
            waiters.add(waiter)
        try:
            async with asyncio.timeout(min(wait_s, MAX_WAIT_S)):
                await waiter[1].wait()
        except TimeoutError:
            pass
        finally:
            with self._guard:
                waiters.discard(waiter)

    def _after(self, seq: int) -> tuple[Change, ...]:
        found: list[Change] = []
        for change in reversed(self._newest.values()):
            if change.seq <= seq:
                break
            found.append(change)
        return tuple(reversed(found))


def _wake(waiters: set[Waiter]) -> None:
    for loop, event in waiters:
        loop.call_soon_threadsafe(event.set)
    waiters.clear()
