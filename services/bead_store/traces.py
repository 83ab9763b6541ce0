"""Traces of model requests: `store/traces/<date>.jsonl`, newest last, ids and numbers only (D8, I15, I17).

The newest are in memory for those who watch; older ones are read from the files. Bounded by days and by size: the
oldest file goes first. What a trace says is `bead.wire.traces`'s.
"""

import asyncio
import contextlib
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

import msgspec
from fastapi import FastAPI, Query, Response

from bead.bus.service import HotRoute
from bead.errors import BadRequest, DamagedFile, NotFound
from bead.wire.traces import (
    MAX_PAGE,
    MAX_TRACE_BYTES,
    KeptTrace,
    TraceKept,
    TracePage,
    TurnTrace,
    is_turn_id,
)
from bead_store import files
from bead_store.disk import Disk
from bead_store.lanes import Lane

MAX_DAYS = 30
MAX_FILE_BYTES = 16 << 20
"""Of one day; what comes after that on a very busy day goes to a further file of it."""
MAX_BYTES = 64 << 20
"""Of all files."""
IN_MEMORY = 400
"""For those who watch; some 2 KB each."""
MAX_WAIT_S = 60.0

_NAME = re.compile(r"(\d{4}-\d\d-\d\d)(?:\.(\d+))?\.jsonl\Z")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(KeptTrace).decode
_trace = msgspec.json.Decoder(TurnTrace).decode


class Traces:
    """One home's. Files are touched in the `lane` of its own; the newest are kept for readers of the event loop."""

    def __init__(self, folder: Path, disk: Disk, now: Callable[[], datetime]) -> None:
        self.lane = Lane("traces")
        self._folder = folder
        self._disk = disk
        self._now = now
        self._newest: deque[KeptTrace] = deque(maxlen=IN_MEMORY)
        self._seq = 0
        self._path: Path | None = None
        self._forgotten: set[str] = set()
        """A trace of a request that was on its way when something was forgotten must not bring its id back."""
        self._waiting: set[asyncio.Event] = set()
        self._is_closed = False

    # -- in the lane -------------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read the newest of what there is, and drop what is too old."""
        for path in reversed(self._files()):
            older = list(_lines(path))
            self._newest.extendleft(reversed(older[-(IN_MEMORY - len(self._newest)) :]))
            if len(self._newest) == IN_MEMORY:
                break
        self._seq = self._newest[-1].seq if self._newest else 0
        self._drop_old()

    def append(self, trace: TurnTrace) -> KeptTrace:
        """Keep `trace`: it survives the death of this process, and may be lost with the power."""
        kept = KeptTrace(self._seq + 1, trace.without(self._forgotten))
        line = _encode(kept) + b"\n"
        if len(line) > MAX_TRACE_BYTES:
            raise BadRequest("the trace is too long")
        self._disk.append_loose(self._place(), line)
        self._seq = kept.seq
        self._newest.append(kept)
        return kept

    def drop(self, uids: Collection[str]) -> tuple[int, int]:
        """Take out every line that names one of `uids`; how many lines there were, and how many went.

        Safe to do again. Raises Unavailable when the disk refuses.
        """
        wanted = frozenset(uids)
        self._forgotten |= wanted
        looked_at = dropped = 0
        for path in self._files():
            lines = files.read(path, 2 * MAX_FILE_BYTES).splitlines(keepends=True)
            left = [line for line in lines if not _speaks_of(line, wanted)]
            looked_at += len(lines)
            dropped += len(lines) - len(left)
            if len(left) != len(lines):
                self._disk.replace_erasing(path, b"".join(left))
        kept = [kept for kept in self._newest if not kept.trace.names() & wanted]
        self._newest = deque(kept, maxlen=IN_MEMORY)
        return looked_at, dropped

    def after(self, seq: int, limit: int) -> tuple[KeptTrace, ...]:
        """The first `limit` after `seq`, newest last."""
        newest = list(self._newest)
        if newest and newest[0].seq <= seq + 1:
            return tuple(kept for kept in newest if kept.seq > seq)[:limit]
        found = (kept for path in self._files() for kept in _lines(path) if kept.seq > seq)
        return tuple(kept for kept, _ in zip(found, range(limit), strict=False))

    def find(self, turn: str) -> KeptTrace:
        """The newest trace of `turn`.

        Raises:
            NotFound: there is none, or none any more.
        """
        for kept in reversed(list(self._newest)):
            if kept.trace.turn == turn:
                return kept
        named = _encode(turn)
        for path in reversed(self._files()):
            for kept in reversed(list(_lines(path, named))):
                if kept.trace.turn == turn:
                    return kept
        raise NotFound("no trace of that turn is kept; traces are kept for 30 days")

    def of_session(self, session: str) -> list[TurnTrace]:
        """The newest of one session, newest first, as far as memory reaches."""
        return [kept.trace for kept in reversed(list(self._newest)) if kept.trace.session == session]

    # -- on the event loop -------------------------------------------------------------------------------------------

    async def keep(self, trace: TurnTrace) -> TraceKept:
        """Keep `trace` and tell those who watch.

        Raises:
            BadRequest: its `turn` is none.
        """
        if not is_turn_id(trace.turn):
            raise BadRequest("'turn' of a trace looks like <session>/turn-4")
        kept = await self.lane.run(self.append, trace)
        self._wake()
        return TraceKept(kept.seq)

    async def page(self, after: int | None, limit: int, wait_s: float) -> TracePage:
        """What came after `after`, waiting for the first; without it the newest."""
        if after is None:
            newest = list(self._newest)[-limit:]
            if len(newest) < limit and newest and newest[0].seq > 1:
                newest = list(await self.lane.run(self.after, max(newest[-1].seq - limit, 0), limit))
            return TracePage(self._seq, tuple(newest))
        if after == self._seq:
            await self._wait(wait_s)
        # More than there ever was: the reader knows another life of these files, and is told so by `seq`.
        traces = await self.lane.run(self.after, after, limit) if after < self._seq else ()
        return TracePage(self._seq, traces)

    def close(self) -> None:
        """Send waiting readers home."""
        self._is_closed = True
        self._wake()

    async def _wait(self, wait_s: float) -> None:
        if self._is_closed or wait_s <= 0:
            return
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            async with asyncio.timeout(min(wait_s, MAX_WAIT_S)):
                await event.wait()
        except TimeoutError:
            pass
        finally:
            self._waiting.discard(event)

    def _wake(self) -> None:
        for event in self._waiting:
            event.set()

    # -- files -------------------------------------------------------------------------------------------------------

    def _place(self) -> Path:
        """Where the next line goes."""
        day = f"{self._now():%Y-%m-%d}"
        path = self._path
        if path is None or not path.name.startswith(day):
            of_today = [path for path in self._files() if path.name.startswith(day)]
            path = of_today[-1] if of_today else self._folder / f"{day}.jsonl"
        if _size(path) >= MAX_FILE_BYTES:
            path = self._folder / f"{day}.{_number(path) + 1}.jsonl"
        if path != self._path:
            self._path = path
            self._drop_old()
        return path

    def _drop_old(self) -> None:
        oldest = f"{self._now() - timedelta(days=MAX_DAYS):%Y-%m-%d}"
        room = MAX_BYTES - MAX_FILE_BYTES
        for path in reversed(self._files()):
            room -= _size(path)
            if path.name[:10] < oldest or room < 0:
                self._disk.remove(path)

    def _files(self) -> list[Path]:
        """Oldest first; what else lies there is not ours."""
        names = [name for name in files.names_in(self._folder) if _NAME.match(name)]
        paths = (self._folder / name for name in names)
        return sorted(paths, key=lambda path: (path.name[:10], _number(path)))


def add_trace_routes(api: FastAPI, traces: Callable[[], Traces]) -> None:
    """Reading; a trace is kept by a hot route."""

    @api.get("/v1/traces", response_model=None)
    async def page(
        after: Annotated[int | None, Query(ge=0)] = None,
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100,
        wait_s: Annotated[float, Query(ge=0)] = 0.0,
    ) -> Response:
        return Response(_encode(await traces().page(after, limit, wait_s)), media_type="application/json")

    @api.get("/v1/traces/{turn:path}", response_model=None)
    async def find(turn: str) -> Response:
        kept = await traces().lane.run(traces().find, turn)
        return Response(_encode(kept), media_type="application/json")


def keep_route(traces: Callable[[], Traces]) -> HotRoute:
    """`POST /v1/traces`."""

    async def keep(body: bytes) -> bytes:
        try:
            trace = _trace(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise BadRequest("the trace is not well formed") from None
        return _encode(await traces().keep(trace))

    return keep


def _lines(path: Path, holding: bytes = b"") -> Iterator[KeptTrace]:
    """The lines that can be read; a crash may have torn one, and a person may have changed one."""
    try:
        data = files.read(path, 2 * MAX_FILE_BYTES)
    except (FileNotFoundError, DamagedFile):
        return
    for raw in data.splitlines():
        if holding in raw:
            with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
                yield _decode(raw)


def _speaks_of(line: bytes, uids: frozenset[str]) -> bool:
    """Whether a line names one of `uids`; of one that cannot be read, whether it holds its letters."""
    if not any(uid.encode() in line for uid in uids):
        return False
    try:
        return bool(_decode(line).trace.names() & uids)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return True


def _number(path: Path) -> int:
    match = _NAME.match(path.name)
    return int(match[2] or 1) if match else 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
