"""Conversations as they were last read, so that the next request of each is read on from there.

Disposable and bounded: what is not here is read whole. How a body is read is the protocol module's; nothing here is
believed about a body that does not begin with the very same bytes.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from bead.conversations import roll
from bead_proxy.protocol import ModelRequest, Reading, UserMessage

MOST_BYTES = 64 << 20
"""Bodies kept (I17): ten conversations of the largest size that harnesses reach before they compact."""
SMALLEST_BYTES = 64 << 10
"""A smaller body is read whole in less than a tenth of a millisecond."""
_BEGINNING_BYTES = 1_024

ReadOn = Callable[[bytes, Any], Reading[Any]]
_Key = tuple[str, bytes, ReadOn]


class Chain:
    """The positions of one request's user messages, in whichever project it turns out to belong to."""

    def __init__(
        self, owner: str, users: tuple[UserMessage, ...], kept: int = 0, before: "Chain | None" = None
    ) -> None:
        """The first `kept` users are those of `before`, whose positions hold here too."""
        self._owner = owner
        self._users = users
        self._known: dict[str, tuple[str, ...]] = {}
        """Positions by scope, perhaps of the first users only."""
        if before is not None:
            self._known = {scope: positions[:kept] for scope, positions in before._known.items()}

    def positions(self, scope: str) -> tuple[str, ...]:
        """The position after each user message (D6)."""
        known = self._known.get(scope, ())
        if len(known) < len(self._users):
            new = (user.parts for user in self._users[len(known) :])
            known = self._known[scope] = (*known, *roll(self._owner, scope, new, after=known[-1] if known else None))
        return known


class Read(NamedTuple):
    """One request as it was read."""

    request: ModelRequest
    chain: Chain


class _Kept(NamedTuple):
    size: int
    earlier: Any
    chain: Chain


class Recent:
    """Readings of one process, those used last."""

    def __init__(self, owner: str, most_bytes: int = MOST_BYTES) -> None:
        self._owner = owner
        self._most_bytes = most_bytes
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._size = 0

    def read(self, body: bytes, session: str | None, read_on: ReadOn) -> Read:
        """What `body` asks, read by its protocol's `read_on`. Raises Unreadable."""
        if not SMALLEST_BYTES <= len(body) <= self._most_bytes:
            request = read_on(body, None).request
            return Read(request, Chain(self._owner, request.users))
        # Titles and the like come between the turns of a session; most begin in another way, with another model.
        key = (session or "", body[:_BEGINNING_BYTES], read_on)
        before = self._kept.get(key)
        reading = read_on(body, before.earlier if before else None)
        chain = Chain(self._owner, reading.request.users, reading.kept, before.chain if before else None)
        if (earlier := reading.earlier()) is not None:
            self._keep(key, _Kept(len(body), earlier, chain))
        return Read(reading.request, chain)

    def __len__(self) -> int:
        return len(self._kept)

    def _keep(self, key: _Key, kept: _Kept) -> None:
        if old := self._kept.pop(key, None):
            self._size -= old.size
        self._kept[key] = kept
        self._size += kept.size
        while self._size > self._most_bytes:
            _, oldest = self._kept.popitem(last=False)
            self._size -= oldest.size
