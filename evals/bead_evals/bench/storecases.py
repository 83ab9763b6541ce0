"""What `bead bench store` measures: each case beside its bare counterpart, and a start. How it is shown is `store`."""

import asyncio
import os
import random
import resource
import statistics
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from bead.bus.transport import InProcessTransport
from bead.clients.store import StoreClient
from bead.facts import Trust
from bead.home import Home
from bead.settings import StoreSettings
from bead.turns import Role
from bead.wire.store import AppendTurn, Mark, WriteFact
from bead_evals.bench import bare
from bead_store import loading
from bead_store.app import create_service

MOST_RATIO = 1.5
"""A durable write takes at most this many times the bare sequence."""
MOST_READ_RATIO = 0.2
"""Reading all files takes at most this part of a pure YAML parse of each."""
_CALLERS = 16
_LOADS = 3
_PARSED = 500
"""Files that ruamel.yaml parses; its time for all of them is scaled from these."""
_AT = "2026-11-05T09:12:00Z"
_BODY = (
    "Deploys go out on Tuesday morning, never on Friday, and the release branch is cut the evening before. Number {}."
)
_TURN = "Please look at the failing deploy job and tell me which step times out before you change anything. " * 12

Say = Callable[[str], None]


class Work(NamedTuple):
    """Where a run keeps its files."""

    path: Path


class Times(msgspec.Struct, frozen=True):
    """One side of a pair, milliseconds."""

    p50_ms: float
    p95_ms: float
    samples: int


class Pair(msgspec.Struct, frozen=True):
    """bead beside the bare sequence."""

    name: str
    ours: Times
    bare: Times
    ratio: float
    """`ours` divided by `bare`, medians."""
    limit: float | None
    holds: bool


class Start(msgspec.Struct, frozen=True):
    """A store that was opened, from nothing to ready."""

    facts: int
    raw_bytes: int
    seconds: float
    own_cpu_s: float
    children_cpu_s: float
    longest_stall_ms: float
    """Longest time in which the event loop of the same process did not come to its turn."""
    idle_stall_ms: float
    """The same while nothing was done: what this machine's other load costs."""
    bytes_per_fact: float
    """Growth of the process's resident memory."""


async def write_pairs(work: Work, rounds: int, say: Say) -> list[Pair]:
    """Facts and turns through the store's routes in process, in turns with the bare calls."""
    home = Home(work.path / "writes")
    service = create_service(StoreSettings(watch="off"), home, "me")
    folder = work.path / "bare"
    folder.mkdir()
    async with service.running():
        client = StoreClient(InProcessTransport("store", service.app))
        await _write(client, "user/warm-up", "warm up")

        async def drained() -> None:
            """A mark that changes nothing stands in line behind the mark on an old version."""
            await client.mark(Mark(key="user/warm-up", pinned=False))

        data = (home.facts / "user/warm-up/v1.md").read_bytes()
        say("writing facts")
        new = await _in_turns(
            rounds,
            lambda number: _write(client, f"user/new-{number}", _statement(number)),
            lambda number: bare.new_file_in_new_folder(folder / f"new-{number}", "v1.md", data),
            drained,
        )
        versions = await _in_turns(
            rounds,
            lambda number: _write(client, "user/warm-up", _statement(rounds + number)),
            lambda number: bare.new_file(folder, f"v{number}.md", data),
            drained,
        )
        again = await _in_turns(
            rounds,
            lambda number: _write(client, "user/warm-up", _statement(2 * rounds - 1)),
            lambda number: bare.new_file(folder, f"again-{number}.md", data),
            drained,
        )
        say("appending turns")
        answered = await _in_turns(
            rounds,
            lambda number: _append(client, "one", number),
            lambda number: bare.append(folder / "one.md", _TURN.encode()),
            drained,
        )
        say("appending turns from many callers")
        durable: tuple[list[float], list[float]] = ([], [])
        for number in range(_LOADS):
            durable[0].append(await _under_load(client, number, rounds))
            durable[1].append(_timed(partial(_bare_load, folder, number, rounds)) / rounds / _CALLERS)
    return [
        _pair("new fact: durable", new, MOST_RATIO),
        _pair("new version, the old one marked: durable", versions, MOST_RATIO),
        _pair("the same value again: unchanged", again, None),
        _pair("turn: answered (fsync follows)", answered, MOST_RATIO),
        _pair(f"turn, {_CALLERS} callers, until the last is durable", durable, MOST_RATIO),
    ]


def read_pairs(home: Home, facts: int) -> list[Pair]:
    """Every current fact read into memory, in this process and in several, beside a pure YAML parse of each file."""
    place = loading.Place(str(home.facts), "me", "home")
    paths = sorted(home.facts.rglob("v*.md"))[:_PARSED]
    ours, pooled, parsed = [], [], []
    for _ in range(3):
        ours.append(_timed(lambda: loading.load(place, small=1 << 30)))
        pooled.append(_timed(lambda: loading.load(place)))
        parsed.append(_timed(lambda: [bare.parse(path) for path in paths]) * facts / len(paths))
    return [
        _pair(f"{facts:,} facts read, beside ruamel.yaml pure", (ours, parsed), MOST_READ_RATIO),
        _pair("the same as a start does it", (pooled, parsed), MOST_READ_RATIO),
    ]


async def start(home: Home, facts: int, raw_bytes: int) -> Start:
    """Open the store of `home` once."""
    idle_ms = await longest_stall(asyncio.sleep(1.0))
    service = create_service(StoreSettings(watch="off"), home, "me")
    memory, cpu, children = _resident(), time.process_time(), _children_cpu()
    opened = asyncio.Event()
    done = asyncio.Event()

    async def live() -> float:
        started = time.perf_counter()
        async with service.running():
            took_s = time.perf_counter() - started
            opened.set()
            await done.wait()
        return took_s

    async with asyncio.TaskGroup() as group:
        living = group.create_task(live())
        stall_ms = await longest_stall(opened.wait())
        grown = _resident() - memory
        own, below = time.process_time() - cpu, _children_cpu() - children
        done.set()
    return Start(facts, raw_bytes, living.result(), own, below, stall_ms, idle_ms, grown / facts)


def _statement(number: int) -> str:
    """A sentence's length of words that no other statement shares: near-duplicates would be queued for review."""
    dice = random.Random(number)
    return " ".join("".join(dice.choices("abcdefghijklmnop", k=7)) for _ in range(16))


async def _write(client: StoreClient, key: str, body: str) -> None:
    await client.write_fact(WriteFact(key=key, body=body, trust=Trust.USER_STATED))


async def _append(client: StoreClient, session: str, number: int) -> None:
    turn = AppendTurn(session=session, turn_id=f"t{number}", role=Role.USER, text=_TURN, at=_AT)
    await client.append_turn(turn)


async def _under_load(client: StoreClient, load: int, turns: int) -> float:
    """Seconds a turn when callers append one after the other, the wait for the last group's fsync included."""

    async def caller(name: str) -> None:
        for number in range(turns):
            await _append(client, name, number)

    started = time.perf_counter()
    await asyncio.gather(*(caller(f"load-{load}-{each}") for each in range(_CALLERS)))
    await asyncio.sleep(StoreSettings().group_fsync_ms / 1000)
    return (time.perf_counter() - started) / turns / _CALLERS


def _bare_load(folder: Path, load: int, turns: int) -> None:
    for _ in range(turns):
        for caller in range(_CALLERS):
            bare.append(folder / f"load-{load}-{caller}.md", _TURN.encode())


async def _in_turns(
    rounds: int,
    ours: Callable[[int], Awaitable[None]],
    theirs: Callable[[int], None],
    drained: Callable[[], Awaitable[object]],
) -> tuple[list[float], list[float]]:
    """Seconds of both sides, one after the other in each round, the first one alternating.

    `drained` waits until bead's own later work has ended, or it would hold up what comes next.
    """
    mine: list[float] = []
    others: list[float] = []
    for number in range(rounds):
        if number % 2:
            others.append(_timed(partial(theirs, number)))
        started = time.perf_counter()
        await ours(number)
        mine.append(time.perf_counter() - started)
        await drained()
        if not number % 2:
            others.append(_timed(partial(theirs, number)))
    return mine, others


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _pair(name: str, sides: tuple[list[float], list[float]], limit: float | None) -> Pair:
    ours, theirs = (_times(side) for side in sides)
    ratio = ours.p50_ms / theirs.p50_ms
    return Pair(name, ours, theirs, ratio, limit, limit is None or ratio <= limit)


def _times(seconds: list[float]) -> Times:
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    return Times(statistics.median(ordered) * 1e3, p95 * 1e3, len(ordered))


async def longest_stall(until: Awaitable[object]) -> float:
    """Longest time, in milliseconds, that this loop was late, until `until` is done."""
    longest = 0.0
    waiting = asyncio.ensure_future(until)
    last = time.perf_counter()
    while not waiting.done():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    await waiting
    return longest * 1e3


def _resident() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux: the most there ever was, in kilobytes or bytes
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
