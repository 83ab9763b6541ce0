"""What the fake provider may be told to reply, in words that no wire format owns.

Turning a reply into bytes is the wire modules' job (`messages`, `chat`, `responses`, `gemini`), sending the bytes is
`upstream`'s.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Header = tuple[str, str]


@dataclass(frozen=True)
class Call:
    """One tool call. For the Responses API `name` may be `NAMESPACE.NAME`."""

    name: str
    arguments: Any = field(default_factory=dict)


@dataclass(frozen=True)
class Usage:
    """Token counts to report. The provider's own formats add or split these as each of them does."""

    input_tokens: int | None = None
    """Tokens neither read from nor written to the cache; None: a quarter of the body's bytes."""
    output_tokens: int = 10
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


@dataclass(frozen=True)
class Pause:
    """Wait before the next piece."""

    seconds: float


@dataclass(frozen=True)
class Disconnect:
    """Close the connection in the middle of the answer; what was sent before arrives."""


class Gate:
    """A place where an answer stops until the test opens it."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        """Set when an answer has come this far."""
        self._open = asyncio.Event()

    def open(self) -> None:
        self._open.set()

    async def wait(self) -> None:
        self.reached.set()
        await self._open.wait()


Break = Pause | Gate | Disconnect
Piece = bytes | Break


@dataclass(frozen=True)
class Answer:
    """A model's answer: text, then tool calls."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: Usage = field(default_factory=Usage)
    headers: tuple[Header, ...] = ()
    """Sent beside the ones that the wire format needs."""
    compression: str = ""
    """"gzip" or "deflate": compress the answer, flushed event by event, and say so in Content-Encoding."""
    breaks: Mapping[int, Break] = field(default_factory=dict)
    """What happens before the event of that number (from 0) of a streamed answer; 0 of one that is not streamed."""


@dataclass(frozen=True)
class Failure:
    """A provider's error answer in the request's own wire format."""

    status: int
    message: str = "made-up failure"
    headers: tuple[Header, ...] = ()


@dataclass(frozen=True)
class Raw:
    """Exactly these headers and pieces; each piece of bytes is one write. Without Content-Length it is sent chunked."""

    status: int = 200
    headers: tuple[Header, ...] = ()
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True)
class Held:
    """Nothing at all, not even a status line, until the gate is open; then the other reply."""

    gate: Gate
    then: "Reply"


Reply = Answer | Failure | Raw | Held
