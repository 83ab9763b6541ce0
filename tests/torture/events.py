"""What the tortured process tells while it still can: one JSON line an event, through a pipe that outlives it."""

from typing import Literal

import msgspec

Kind = Literal["begin", "done", "refused", "broke", "seen", "health", "closed"]


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that happened in the child, in order."""

    kind: Kind
    round: int
    step: int = -1
    """Place in the round's script; -1 for opening and closing the home."""
    code: str = ""
    """Of the error, or the class and place of one that nobody expected."""
    key: str = ""
    version: int = 0
    verb: str = ""
    uid: str = ""
    review_id: str = ""
    name: str = ""
    """Of a project."""
    current: dict[str, int] = {}
    """By key, the current version as the process answers it after the last step."""
    ready: bool = True
    degraded: tuple[str, ...] = ()


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Event).decode


def to_line(event: Event) -> bytes:
    """The event as it goes through the pipe."""
    return _encode(event) + b"\n"


def from_lines(data: bytes) -> list[Event]:
    """Every whole line; a process killed in the middle of one has not told it."""
    return [_decode(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]
