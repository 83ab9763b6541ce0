"""What conversations cost by the provider's own numbers, and whether what bead adds stays in the provider's cache.

Pure but for the clock it is given. A provider caches the beginning of a request; the next request of the conversation
reads it from there while the beginning is the same. Where that share falls, twice, right after bead had added a block,
recall ends for that conversation (D8). Numbers are tokens; money is for those who know the prices.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from bead_proxy.protocol import Usage

MOST_ACCOUNTS = 512
"""Conversations that are remembered; the one unused for longest goes first (I17)."""
CACHE_LIFE_S = 240.0
"""After a longer pause a provider may have dropped its cache by itself."""
SMALLEST_CACHED = 1_024
"""Providers cache no shorter beginning."""
FALLS = 2
"""So many, and recall ends."""
_STILL_CACHED = 0.5
"""Less than this share of what was cached counts as a fall."""
_READ_PRICE = 0.1
"""Of a token that is read from the cache, in input tokens; most providers ask about that."""


@dataclass(slots=True)
class Account:
    """One conversation."""

    requests: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    inserted: int = 0
    """Estimate: tokens of bead's blocks, counted in each request that carried them."""
    cost: float = 0.0
    """Estimate of the same, in uncached input tokens: a block that was read from the cache costs a tenth."""
    is_stopped: bool = False
    _falls: int = 0
    _cached: int = 0
    _model: str = ""
    _at: float = 0.0
    _added: bool = False

    @property
    def saved(self) -> float:
        """Estimate, in uncached input tokens: what the cache spared, which it does while blocks stay where they are."""
        return self.cache_read * (1 - _READ_PRICE)

    def book(self, usage: Usage, model: str, inserted: int, added: bool, now: float) -> bool:
        """Add one answered request; whether recall ends with it."""
        self.requests += 1
        self.input += usage.input
        self.output += usage.output
        self.cache_read += usage.cache_read
        self.cache_write += usage.cache_write
        self.inserted += inserted
        self.cost += inserted * (_READ_PRICE if usage.cache_read and not added else 1.0)
        has_fallen = self._has_fallen(usage, model, added, now)
        self._cached, self._model, self._at, self._added = usage.cache_read + usage.cache_write, model, now, added
        self._falls += has_fallen
        ends = self._falls >= FALLS and not self.is_stopped
        self.is_stopped |= ends
        return ends

    def _has_fallen(self, usage: Usage, model: str, added: bool, now: float) -> bool:
        is_due = self._cached >= SMALLEST_CACHED and model == self._model and now - self._at <= CACHE_LIFE_S
        return is_due and (added or self._added) and usage.cache_read < self._cached * _STILL_CACHED


class Accounts:
    """All conversations of this process, by session and thread."""

    def __init__(self, clock: Callable[[], float], most: int = MOST_ACCOUNTS) -> None:
        self._clock = clock
        self._most = most
        self._accounts: OrderedDict[tuple[str, str], Account] = OrderedDict()

    def may_recall(self, session: str, thread: str) -> bool:
        """Whether new recall blocks still go into that conversation."""
        account = self._accounts.get((session, thread))
        return account is None or not account.is_stopped

    def book(self, session: str, thread: str, usage: Usage, model: str, inserted: int, added: bool) -> bool:
        """See `Account.book`; a request without numbers tells nothing."""
        if not any(usage):
            return False
        account = self._accounts.setdefault((session, thread), Account())
        self._accounts.move_to_end((session, thread))
        if len(self._accounts) > self._most:
            self._accounts.popitem(last=False)
        return account.book(usage, model, inserted, added, self._clock())

    @property
    def stopped(self) -> int:
        """Conversations whose recall has ended."""
        return sum(account.is_stopped for account in self._accounts.values())

    def newest(self, limit: int) -> list[tuple[str, str, Account]]:
        """The conversations that were active last, newest first."""
        found = list(reversed(self._accounts.items()))[:limit]
        return [(session, thread, account) for (session, thread), account in found]
