"""What a trace says of one model request: ids, scores and numbers, never a text (D8, I15).

Put together by the proxy when an answer has ended, kept by the store, read by `bead trace`, `bead explain` and the
admin page. Who needs the words behind an id asks the store for them.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

import msgspec

MAX_PAGE = 1_000
"""Most traces of one answer."""

MAX_TRACE_BYTES = 64 << 10
"""Longest trace that is kept."""

_TURN = re.compile(r"[^/\s\x00-\x1f]{1,200}/(?:turn|request)-[0-9a-z]{1,32}\Z")


class Chosen(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that was put into the request."""

    id: str
    """uid of a fact, or id of a chunk of an episode."""
    version: int = 0
    score: float = 0.0
    reason: str = ""
    """Code of the rule that let it in: `say`, `do`, `see`, `evidence`, `pinned` …"""
    tokens: int = 0
    """Estimate, for this fact alone."""


class Rival(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that was considered and stayed out."""

    id: str
    score: float = 0.0
    reason: str = ""
    """Code: `threshold`, `seen`, `budget`, `duplicate` …"""


class TurnTrace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`POST /v1/traces`: one model request."""

    turn: str
    """`<session>/turn-N` where the request is a step of a conversation, else `<session>/request-<id>`."""
    at: str
    """When the request arrived; RFC 3339, UTC."""
    session: str
    thread: str = ""
    project: str = ""
    """Scope name; empty where there is none."""
    harness: str = ""
    protocol: str = ""
    """Name of the provider's module: `anthropic`, `openai_chat`, `openai_responses`, `gemini`."""
    model: str = ""
    kind: str = ""
    """`human`, `tool` (a step of a tool loop), or the kind of a side request: `title`, `compaction` …"""
    pinned: tuple[str, ...] = ()
    """uids in the pinned block of this conversation."""
    is_pinned_new: bool = False
    """Whether that block was made for this request."""
    selected: tuple[Chosen, ...] = ()
    """What the recall block of this request carries."""
    rejected: tuple[Rival, ...] = ()
    cues: dict[str, int] = {}
    """Characters of cue text by source."""
    threshold: float = 0.0
    """Score that a candidate needs; 0.0 where the gate has none."""
    added_ms: dict[str, float] = {}
    """Time bead held the request back, by part: `read`, `recall`, `store`, and `all`."""
    input_tokens: int = 0
    """As the provider counts them, without those read from or written to its cache."""
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    inserted_tokens: int = 0
    """Estimate, of all blocks in the request, earlier ones included."""
    abstained: str = ""
    """Why no recall block was added: `nothing relevant`, `off`, `side request`, `cache` …"""
    failures: tuple[str, ...] = ()
    """What went wrong on the way, in plain words without content."""
    status: int = 0
    """HTTP status of the provider's answer; 0 when there was none."""

    def names(self) -> set[str]:
        """Every fact and chunk that it speaks of."""
        return {
            *self.pinned,
            *(chosen.id for chosen in self.selected),
            *(rival.id for rival in self.rejected),
        }

    def without(self, gone: Collection[str]) -> "TurnTrace":
        """The same, silent about `gone`."""
        return msgspec.structs.replace(
            self,
            pinned=tuple(id for id in self.pinned if id not in gone),
            selected=tuple(chosen for chosen in self.selected if chosen.id not in gone),
            rejected=tuple(rival for rival in self.rejected if rival.id not in gone),
        )


class KeptTrace(msgspec.Struct, frozen=True):
    """A trace in its place."""

    seq: int
    """Rises with every trace, also over restarts."""
    trace: TurnTrace


class TracePage(msgspec.Struct, frozen=True):
    """`GET /v1/traces?after=&limit=&wait_s=`, newest last; without `after` the newest `limit`.

    A reader goes on after the last `seq` it got. When `seq` is less than the one it asks after, everything was lost
    or forgotten, and it begins again.
    """

    seq: int
    """Of the newest trace there is; 0 when there never was one."""
    traces: tuple[KeptTrace, ...] = ()


class TraceKept(msgspec.Struct, frozen=True):
    """Answer of `POST /v1/traces`."""

    seq: int


class TurnId(NamedTuple):
    """The two halves of a trace's `turn`."""

    session: str
    step: str


def is_turn_id(text: str) -> bool:
    """Whether `text` names the turn of a trace."""
    return _TURN.match(text) is not None


def split_turn(text: str) -> TurnId:
    """`s1/turn-4` as `s1` and `turn-4`."""
    session, _, step = text.rpartition("/")
    return TurnId(session, step)
