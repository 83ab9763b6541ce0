"""Request bodies that travel packed: opened for memory, and packed again in the same coding where something was added.

A body that nothing is added to goes on as it came, byte for byte (I8). Where something was added, the codings stay the
same and so do the headers: the provider is known to take them, for its own client chose them. How a coding works is
`codings`'s.
"""

import asyncio
from collections.abc import Iterable, Sequence

from bead_proxy.codings import Damaged, TooLarge, UnknownCoding, codings_of, pack, unpack
from bead_proxy.protocol import Pieces, Unreadable

_AT_ONCE_BYTES = 8 * 1024
"""A packed body up to this size is opened on the event loop, as far as that goes quickly."""
_AT_ONCE_OPENED_BYTES = 512 * 1024


class Packed:
    """One request body, as it came."""

    def __init__(self, body: bytes, content_encodings: Iterable[str]) -> None:
        self._body = body
        self._encoding = ",".join(content_encodings)
        self._codings: Sequence[str] = ()

    async def opened(self, limit: int) -> bytes:
        """What it says, at most `limit` bytes.

        Raises:
            Unreadable: it cannot be opened, and goes on as it came.
        """
        if not self._encoding:
            return self._body
        try:
            self._codings = codings_of(self._encoding)
            return await self._unpacked(limit)
        except UnknownCoding:
            raise Unreadable("content coding not known") from None
        except TooLarge:
            raise Unreadable("too large when unpacked") from None
        except Damaged:
            raise Unreadable("does not unpack") from None

    async def closed(self, opened: bytes, pieces: Pieces) -> Pieces:
        """`pieces`, which were made of `opened`, as the provider expects them."""
        if not self._codings:
            return pieces
        if len(pieces) == 1 and pieces[0] is opened:
            return (self._body,)
        whole = b"".join(pieces)
        if len(whole) <= _AT_ONCE_OPENED_BYTES:
            return (pack(whole, self._codings),)
        return (await asyncio.to_thread(pack, whole, self._codings),)

    async def _unpacked(self, limit: int) -> bytes:
        if len(self._body) <= _AT_ONCE_BYTES:
            try:
                return unpack(self._body, self._codings, min(limit, _AT_ONCE_OPENED_BYTES))
            except TooLarge:
                if limit <= _AT_ONCE_OPENED_BYTES:
                    raise
        return await asyncio.to_thread(unpack, self._body, self._codings, limit)
