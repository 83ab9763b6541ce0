"""What every coding agent is shown to do through bead: it is reminded, and what was inserted stays where it is.

session one   "remember that ..."
session two   a question that recalls it, then two tool calls
resumed       one more turn of session two
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tests.fakes.recording import Recorded
from tests.harness.desk import AgentDesk

SAID = "we ship with `make ship-it` and never from a laptop on Fridays"
WISH = f"remember that {SAID}"
QUESTION = "TURN:loop does make ship-it work from a laptop on Fridays?"
LATER = "TURN:after and now?"
_OPENING = "<bead-memory"
_CLOSING = "</bead-memory>"
_MEMORY_AGENT = re.compile(rb"acting as the (?:\w+ )?memory (?:extraction|consolidation) (?:sub)?agent")


@dataclass(frozen=True)
class Block:
    """A bead block in a request that reached the provider."""

    place: tuple[str | int, ...]
    """The message or item that holds it."""
    text: str


def blocks(document: Any) -> list[Block]:
    """Every block of a request in any protocol, in order of the document, the system part's first."""
    found = [
        Block(_place(path), text[text.index(_OPENING) :])
        for path, text in _strings(document, ())
        if text.rstrip().endswith(_CLOSING) and _OPENING in text
    ]
    return sorted(found, key=lambda block: (len(block.place) > 1, block.place[1:]))


def main_requests(requests: list[Recorded], turn: str) -> list[Recorded]:
    """Those whose conversation has that turn; titles have no tools, and a memory agent a system part of its own."""
    found = [request for request in requests if turn.encode() in request.body and b'"tools"' in request.body]
    return [request for request in found if not _MEMORY_AGENT.search(request.body)]


def is_stable(requests: list[Recorded]) -> bool:
    """Whether each request has the blocks of the one before, at the same places, byte for byte."""
    seen = [blocks(request.json()) for request in requests]
    return all(set(earlier) <= set(later) for earlier, later in pairwise(seen)) and bool(seen and seen[0])


def sent_calls(request: Recorded) -> int:
    """How many tool calls a request has the answers to."""
    text = json.dumps(request.json())
    ids = set(
        re.findall(
            r'"(?:tool_call_id|call_id|tool_use_id)": "([^"]+)"|"functionResponse".{0,2000}?"id": "([^"]+)"', text
        )
    )
    return len(ids)


@dataclass(frozen=True)
class Outcome:
    """What was seen, in one run."""

    is_reminded: bool
    """Whether session two's first request had the fact that session one stated, and stored it once."""
    is_loop_stable: bool
    is_resume_stable: bool


def play(desk: AgentDesk) -> Outcome:
    """All three turns."""
    desk.open(BEAD_PROXY__PINNED__PROJECT="off")
    desk.bead("write", "user/tea", "The person drinks green tea.")
    desk.ask(WISH)
    desk.ask(f"{QUESTION} {desk.agent.call} {desk.agent.call}")
    looped = main_requests(desk.provider.model_requests(), "TURN:loop")
    desk.ask(LATER, again=True)
    requests = main_requests(desk.provider.model_requests(), "TURN:loop")
    stated = [fact for fact in desk.bead("memories")["facts"] if fact["body"] == SAID]
    return Outcome(
        is_reminded=len(stated) == 1 and any(SAID in block.text for block in blocks(looped[0].json())),
        is_loop_stable=[sent_calls(request) for request in looped] == [0, 1, 2] and is_stable(looped),
        is_resume_stable=b"TURN:after" in requests[-1].body and is_stable(requests),
    )


def _place(path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    number = next((at for at, step in enumerate(path) if isinstance(step, int)), None)
    return path[:1] if number is None or path[0] in ("system", "systemInstruction") else path[: number + 1]


def _strings(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _strings(item, (*path, name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _strings(item, (*path, number))
    elif isinstance(value, str):
        yield path, value
