"""What the four wire formats share: usage defaults, JSON answers, server-sent events, compression.

Nothing here knows a provider.
"""

import json
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from tests.fakes.recording import Recorded
from tests.fakes.replies import Answer, Break, Failure, Header, Piece, Raw, Usage
from tests.fakes.script import Conversation

JSON_TYPE = ("Content-Type", "application/json")
SSE_TYPE = ("Content-Type", "text/event-stream; charset=utf-8")
CREATED_AT = 1_790_000_000
"""Seconds since 1970 in every answer: answers must not differ between two runs."""


class Wire(Protocol):
    """One provider format. Each module of a format is such an object."""

    def conversation(self, request: Recorded) -> Conversation:
        """What the script needs to know of a request."""

    def render(self, request: Recorded, answer: Answer) -> Raw:
        """A model's answer in this format, streamed if the request asks for it."""

    def render_failure(self, failure: Failure) -> Raw:
        """An error in this format."""


def input_tokens(request: Recorded, usage: Usage) -> int:
    if usage.input_tokens is not None:
        return usage.input_tokens
    return max(1, len(request.decoded_body) // 4)


def text_of(content: Any) -> list[str]:
    """The texts of a message's content: a string, or blocks of type text or input_text."""
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content or [] if block.get("type", "text") in ("text", "input_text")]


def words(text: str) -> list[str]:
    """The text in pieces as a model streams it; joined they are the text."""
    return re.findall(r"\s*\S+\s*", text) or ([text] if text else [])


def json_reply(value: Any, *, status: int = 200, headers: tuple[Header, ...] = ()) -> Raw:
    body = json.dumps(value).encode()
    return Raw(status, (JSON_TYPE, ("Content-Length", str(len(body))), *headers), (body,))


def json_answer(value: Any, answer: Answer) -> Raw:
    """The whole answer in one JSON document."""
    return _pieces_reply([json.dumps(value).encode()], answer, JSON_TYPE)


def event_answer(events: Iterable[bytes], answer: Answer) -> Raw:
    """A streamed answer, one write for each event."""
    return _pieces_reply(events, answer, SSE_TYPE, ("Cache-Control", "no-cache"))


def event(value: Any, *, name: str = "") -> bytes:
    """One server-sent event; text goes as it is, anything else as JSON."""
    data = value if isinstance(value, str) else json.dumps(value)
    return (f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode()


def _pieces_reply(parts: Iterable[bytes], answer: Answer, *headers: Header) -> Raw:
    if answer.compression:
        parts = _compressed(parts, answer.compression)
        headers = (*headers, ("Content-Encoding", answer.compression))
    return Raw(200, (*headers, *answer.headers), tuple(_with_breaks(parts, dict(answer.breaks))))


def _with_breaks(parts: Iterable[bytes], breaks: dict[int, Break]) -> Iterator[Piece]:
    for number, part in enumerate(parts):
        if number in breaks:
            yield breaks.pop(number)
        yield part
    if breaks:
        raise ValueError(f"the answer has no event with the number {min(breaks)}")


def _compressed(parts: Iterable[bytes], compression: str) -> Iterator[bytes]:
    compressor = zlib.compressobj(wbits={"gzip": 31, "deflate": 15}[compression])
    held: bytes | None = None
    for part in parts:
        if held is not None:
            yield held
        held = compressor.compress(part) + compressor.flush(zlib.Z_SYNC_FLUSH)
    yield (held or b"") + compressor.flush()
