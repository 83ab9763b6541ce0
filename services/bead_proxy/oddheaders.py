"""Header bytes that are no UTF-8: the library drops them, so they travel as placeholders until the head is written.

HTTP leaves header bytes beyond ASCII to the two ends, and `fetch` sends them as Latin-1. Touches nothing where all
bytes are UTF-8, which is nearly always.
"""

import secrets
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

Pairs = list[tuple[str, str]]
Odd = dict[bytes, bytes]
"""What stands for what."""


class HasTransport(Protocol):
    """The library's protocol of one connection."""

    transport: Any


def decoded(raw: Iterable[tuple[bytes, bytes]]) -> tuple[Pairs, Odd]:
    """Names and values as text, and what the values that cannot be text are until they are written."""
    odd: Odd = {}
    return list(_decoded(raw, odd)), odd


def write_odd(protocol: HasTransport, odd: Odd) -> None:
    """The next bytes that are written to `protocol` hold a head with placeholders: put the values there."""
    if odd:
        protocol.transport = _Mending(protocol, odd)


def _decoded(raw: Iterable[tuple[bytes, bytes]], odd: Odd) -> Iterator[tuple[str, str]]:
    for name, value in raw:
        try:
            yield name.decode("ascii"), value.decode("utf-8")
        except UnicodeDecodeError:
            placeholder = f"odd-{secrets.token_hex(16)}"
            odd[placeholder.encode()] = value
            yield name.decode("ascii", "ignore"), placeholder


class _Mending:
    """Stands in for a transport until the head has passed."""

    def __init__(self, protocol: HasTransport, odd: Odd) -> None:
        self._protocol = protocol
        self._transport = protocol.transport
        self._odd = odd

    def write(self, data: Any) -> None:
        self._protocol.transport = self._transport
        self._transport.write(self._mended(bytes(data)))

    def writelines(self, pieces: Iterable[Any]) -> None:
        self._protocol.transport = self._transport
        head, *rest = pieces
        self._transport.writelines([self._mended(bytes(head)), *rest])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _mended(self, data: bytes) -> bytes:
        head, end, body = data.partition(b"\r\n\r\n")
        for placeholder, value in self._odd.items():
            head = head.replace(placeholder, value)
        return head + end + body
