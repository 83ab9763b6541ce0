"""Sessions: raw turns, and what memory each request carried, byte for byte."""

import asyncio
import re
from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response

from bead.conversations import BlockKind
from bead.turns import Role
from bead.wire.store import TurnView
from bead.wire.traces import TurnTrace, split_turn
from bead.wire.views import SentBlock
from bead_curate.web.app import Page
from bead_curate.web.backend import optional

PAGE = 30
_TOOL = re.compile(r"^\[(?P<label>tool [^\n]*)\]\n(?P<text>.*?)\n\[end of tool text\]$", re.DOTALL | re.MULTILINE)
TURNS = 60


class Replay(NamedTuple):
    """The memory of one request: what it had, and what was new in it."""

    trace: TurnTrace
    pinned: tuple[SentBlock, ...]
    earlier: tuple[SentBlock, ...]
    """Recall blocks of the requests before, which go out again at their places."""
    new: tuple[SentBlock, ...]


class Part(NamedTuple):
    """A stretch of a turn: a tool's text under its label, or somebody's words without one."""

    label: str
    text: str


class Shown(NamedTuple):
    """A turn with the requests that it led to."""

    turn: TurnView
    parts: tuple[Part, ...]
    replays: tuple[Replay, ...]


async def show(page: Page) -> Response:
    """Every session, the one written last first."""
    number = page.asked("page", "1")
    at = max(1, int(number)) if number.isdigit() and len(number) < 6 else 1
    found = await page.backend.views.sessions(offset=(at - 1) * PAGE, limit=PAGE)
    return page.show("sessions.html", found=found, at=at, pages=-(-found.total // PAGE))


async def one(page: Page) -> Response:
    """One session, turn by turn."""
    session, backend = page.path("session"), page.backend
    view, blocks, traces = await asyncio.gather(
        backend.store.session(session), optional(backend.views.blocks(session)), backend.traces()
    )
    mine = [each.trace for each in traces if each.trace.session == session][::-1]
    sent = blocks.blocks if blocks else ()
    names = await optional(backend.names(uid for block in sent for uid in block.fact_uids))
    at, pages = _page_of(page, view.turns)
    shown = _with_replays(view.turns, replays(mine, sent))
    return page.show(
        "session.html",
        session=session,
        turns=shown[(at - 1) * TURNS : at * TURNS],
        total=len(view.turns),
        blocks=sent,
        names=names or {},
        at=at,
        pages=pages,
        per_page=TURNS,
    )


def replays(traces: Sequence[TurnTrace], blocks: Sequence[SentBlock]) -> list[Replay]:
    """What each request carried: its thread's pinned block, and the recall blocks up to then, oldest first.

    A trace names facts and a block holds them: the first block not yet taken with the same facts is the one.
    """
    taken: set[int] = set()
    before: dict[str, list[SentBlock]] = {}
    found: list[Replay] = []
    for trace in traces:
        conversation = f"{trace.session}-{trace.thread}"
        own = [(number, block) for number, block in enumerate(blocks) if block.conversation == conversation]
        wanted = {chosen.id for chosen in trace.selected}
        new = next(
            (
                (number, block)
                for number, block in own
                if wanted and number not in taken and block.kind is BlockKind.RECALL and wanted <= set(block.fact_uids)
            ),
            None,
        )
        pinned = tuple(block for _, block in own if block.kind is BlockKind.PINNED and block.text)
        earlier = before.setdefault(conversation, [])
        found.append(Replay(trace, pinned if trace.pinned else (), tuple(earlier), (new[1],) if new else ()))
        if new:
            taken.add(new[0])
            earlier.append(new[1])
    return found


def parts(text: str) -> tuple[Part, ...]:
    """A turn's words and tool blocks, in order."""
    found: list[Part] = []
    at = 0
    for block in _TOOL.finditer(text):
        found += [Part("", text[at : block.start()].strip("\n")), Part(block["label"], block["text"])]
        at = block.end()
    return tuple(part for part in (*found, Part("", text[at:].strip("\n"))) if part.text)


def _with_replays(turns: Sequence[TurnView], made: Sequence[Replay]) -> list[Shown]:
    """Each turn of the person with the requests that name it."""
    by_turn: dict[str, list[Replay]] = {}
    for replay in made:
        by_turn.setdefault(split_turn(replay.trace.turn).step, []).append(replay)
    return [
        Shown(turn, parts(turn.text), tuple(by_turn.get(f"turn-{turn.ordinal}", ())) if turn.role is Role.USER else ())
        for turn in turns
    ]


def _page_of(page: Page, turns: Sequence[TurnView]) -> tuple[int, int]:
    """Which page of turns is asked for: by number, else the one with the turn `turn`, else the last."""
    pages = max(1, -(-len(turns) // TURNS))
    number, turn = page.asked("page"), page.asked("turn")
    if turn.isdigit():
        place = next((at for at, each in enumerate(turns) if each.ordinal == int(turn)), 0)
        return place // TURNS + 1, pages
    return (min(max(1, int(number)), pages) if number.isdigit() and len(number) < 6 else pages), pages


ROUTES = (("GET", "/sessions", show), ("GET", "/sessions/{session}", one))
