"""How much a request may send: refused by what it says of its length, or while it comes. Who may ask is `guard`'s."""

from starlette.types import Message, Receive, Scope

from bead.errors import TooLarge

MOST_BYTES = 128 << 20
"""Twice what the proxy reads of a request (`proxy.inject_body_limit_mb`), which the store gets as JSON."""


def bounded(scope: Scope, receive: Receive, most_bytes: int = MOST_BYTES) -> Receive:
    """`receive` that gives up at the limit.

    Raises:
        TooLarge: the request says that it is longer; from the returned function: it turned out to be.
    """
    told = next((value for name, value in scope["headers"] if name.lower() == b"content-length"), b"0")
    if int(told) > most_bytes:
        raise _too_large(most_bytes)
    come = 0

    async def counted() -> Message:
        nonlocal come
        message = await receive()
        come += len(message.get("body", b""))
        if come > most_bytes:
            raise _too_large(most_bytes)
        return message

    return counted


def _too_large(most_bytes: int) -> TooLarge:
    return TooLarge(f"a request may have {most_bytes >> 20} MB at most; send it in parts")
