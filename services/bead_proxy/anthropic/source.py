"""What a reading reads: a whole body, or only what is new in it since an earlier body of the same conversation.

Pure. A harness sends the whole conversation with every request and rewrites one or two messages at its end. What lies
before was read already, so only the rest is decoded: `{"messages":[` and everything from the first message on that may
differ. What comes out must be what a reading of the whole body gives, to the last offset: a boundary is used only where
the bytes before it are those of a body that was read, up to the end of a message, and where the rest is valid JSON by
itself whose array of messages is the one that was cut open. In any doubt the whole body is read.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Raw

from bead_proxy import rawjson
from bead_proxy.anthropic import wire
from bead_proxy.protocol import UserMessage

FIRST_USER_MESSAGES = 3
"""How many user messages may name the working directory; they are never among those that are read again."""

_ARRAY = b'{"messages":['
_END_OF_HEAD = b"]}"
_NEWEST_AGAIN = 2
"""A harness writes these many of the newest user messages anew: the search for equal bytes begins before them."""
_TRIES = 4
_LOOK_BACK_BYTES = 512
# What stands before the content of message 0. The signs cannot lie inside a string: a quote in one has a backslash.
_OPENING = re.compile(
    rb'[{,]\s*"messages"\s*:\s*\[(?P<first>)\s*\{\s*(?:"role"\s*:\s*"[a-z]+"\s*,\s*)?"content"\s*:\s*\Z'
)
_END_OF_MESSAGE = re.compile(rb'\s*(?:,\s*"role"\s*:\s*"user"\s*)?\}')
_NEXT_MESSAGE = re.compile(rb"\s*,\s*")

Span = tuple[int, int]


class Place(msgspec.Struct, frozen=True, gc=False):
    """A document that `Raw` values point into, and what its offsets lack to be those of the body."""

    document: Any
    shift: int

    def span(self, raw: Raw) -> Span:
        """See `rawjson.Document.span`."""
        start, end = self.document.span(raw)
        return start + self.shift, end + self.shift


@dataclass(frozen=True, slots=True)
class Earlier:
    """A body that was read, as far as the next one may begin in the same way."""

    body: bytes
    head: Place
    """Everything before the first message, closed so that it is a document of its own."""
    users: tuple[UserMessage, ...]
    first_texts: tuple[str, ...]
    """Texts of the first `FIRST_USER_MESSAGES` user messages."""
    told: tuple[Span, ...]
    """Where the contents of messages of role `system` lie."""


@dataclass(frozen=True, slots=True)
class Source:
    """Messages to be read, and what is known of those before them."""

    body: bytes
    messages: list[wire.Message]
    fields: wire.Fields
    place: Place
    head: Place | None = None
    """None until somebody looks for it: the messages are all there are."""
    users: tuple[UserMessage, ...] = ()
    first_texts: tuple[str, ...] = ()
    told: tuple[Span, ...] = ()

    def span(self, raw: Raw) -> Span:
        """Start and end of `raw` in the body. Raises Unreadable."""
        if self.head is not None and not self.place.document.holds(raw):
            return self.head.span(raw)
        return self.place.span(raw)


def whole(body: bytes) -> Source:
    """All of `body`. Raises Unreadable."""
    document = rawjson.decode(body, wire.BODY)
    return Source(body, document.value.messages, document.value, Place(document, 0))


def rests(body: bytes, earlier: Earlier) -> Iterator[Source]:
    """What is new in `body`, beginning with the shortest rest; empty when it is another conversation.

    Each is right by itself, unless the newest step reaches back before it. Raises Unreadable.
    """
    count = _users_in_common(body, earlier)
    for kept in range(count, max(FIRST_USER_MESSAGES, count - _TRIES + 1) - 1, -1):
        if (at := _next_message(body, earlier, kept)) and (rest := _rest(body, earlier, kept, at)):
            yield rest


def head(source: Source) -> Place | None:
    """Everything before the first message; None where that is written in an unusual way."""
    if source.head is not None:
        return source.head
    if not source.messages or not memoryview(source.messages[0].content).nbytes:
        return None
    content, _ = source.span(source.messages[0].content)
    begin = max(0, content - _LOOK_BACK_BYTES)
    opening = _OPENING.search(source.body[begin:content])
    if opening is None:
        return None
    return Place(rawjson.decode(source.body[: begin + opening.start("first")] + _END_OF_HEAD, wire.BODY), 0)


def _users_in_common(body: bytes, earlier: Earlier) -> int:
    """How many user messages `body` begins with byte for byte, the last one of `earlier` aside; 0 for too few."""
    view = memoryview(earlier.body)
    low, high = FIRST_USER_MESSAGES, len(earlier.users) - 1
    probe = max(low, high - _NEWEST_AGAIN)
    found = equal = 0
    while low <= high:
        end = earlier.users[probe - 1].anchor.end
        if body.startswith(view[equal:end], equal):
            found, equal, low = probe, end, probe + 1
        else:
            high = probe - 1
        probe = (low + high + 1) // 2
    return found


def _next_message(body: bytes, earlier: Earlier, kept: int) -> int:
    """Where the message behind the first `kept` user messages begins; 0 where that cannot be told."""
    content = earlier.users[kept - 1].anchor.end
    end = _END_OF_MESSAGE.match(body, content)
    if end is None or earlier.body[content : end.end()] != end[0]:
        return 0
    following = _NEXT_MESSAGE.match(body, end.end())
    return following.end() if following else 0


def _rest(body: bytes, earlier: Earlier, kept: int, at: int) -> Source | None:
    document = rawjson.decode(_ARRAY + body[at:], wire.TAIL)
    tail = document.value
    # A key "messages" that comes again in the rest has taken the place of the array that was cut open.
    if not tail.messages or document.span(tail.messages[0])[0] != len(_ARRAY):
        return None
    return Source(
        body=body,
        messages=[wire.message(message) for message in tail.messages],
        fields=tail.or_else(earlier.head.document.value),
        place=Place(document, at - len(_ARRAY)),
        head=earlier.head,
        users=earlier.users[:kept],
        first_texts=earlier.first_texts,
        told=_before(earlier.told, at),
    )


def _before(told: Sequence[Span], at: int) -> tuple[Span, ...]:
    return tuple(span for span in told if span[0] < at)
