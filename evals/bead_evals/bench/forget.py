"""`bead bench forget`: one key of a large home, previewed and forgotten, and how late the event loop was meanwhile.

The loop is the one that would answer model requests in `bead up`; its longest lateness bounds what a request through
the proxy could be delayed by. The index is not part of it: it follows behind, and says itself when it is done.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

import msgspec

from bead.bus.transport import InProcessTransport
from bead.clients.store import StoreClient
from bead.facts import Trust
from bead.settings import StoreSettings
from bead.turns import Role
from bead.wire.store import AppendTurn, ConfirmForget, ForgetKeys, WriteFact
from bead_evals.bench import results, storecases
from bead_evals.bench.homes import build_home
from bead_store.app import create_service

RESULT_FILE = Path("evals/results/bench-forget.json")
LIMIT_S = 2.0
LIMIT_STALL_MS = 50.0
_KEY = "user/bench-canary"
_VALUE = "The xylophonquartz lantern 7741 stands behind the third door."
_AT = "2026-11-05T09:12:00Z"


class Report(msgspec.Struct, frozen=True):
    """What was measured."""

    facts: int
    raw_bytes: int
    preview_s: float
    forget_s: float
    preview_stall_ms: float
    forget_stall_ms: float
    idle_stall_ms: float
    """While nothing was done: what this machine's other load costs."""
    append_us: float
    """Mean time of capturing a turn before anything was forgotten."""
    append_after_us: float
    """The same afterwards, when each turn is looked at for forgotten words."""
    date: str
    commit: str | None
    is_dirty: bool
    machine: results.Machine
    holds: bool


def main(argv: list[str]) -> int:
    """Measure, print, save. 0 done, also when a limit is missed."""
    parser = argparse.ArgumentParser(prog="bead bench forget", description=__doc__)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--raw-mb", type=int, default=1_024)
    parser.add_argument("--json", action="store_true", help="print the document")
    parser.add_argument("--save", nargs="?", const=RESULT_FILE, type=Path, metavar="FILE")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="bead-bench-") as folder:
        report = asyncio.run(_measure(Path(folder) / "home", args.facts, args.raw_mb << 20))
    document = msgspec.json.format(msgspec.json.encode(report), indent=2)
    if args.save:
        args.save.parent.mkdir(parents=True, exist_ok=True)
        args.save.write_bytes(document + b"\n")
    print(document.decode() if args.json else _table(report))
    return 0


async def _measure(path: Path, facts: int, raw_bytes: int) -> Report:
    home = await asyncio.to_thread(build_home, path, facts, raw_bytes)
    load = results.load_average()
    service = create_service(StoreSettings(watch="off"), home, "me")
    async with service.running():
        client = StoreClient(InProcessTransport("store", service.app))
        append_us = await _append(client, "before")
        await client.write_fact(WriteFact(body=_VALUE, key=_KEY, trust=Trust.USER_STATED))
        await client.append_turn(
            AppendTurn(session="canary", turn_id="t", role=Role.USER, text=f"note: {_VALUE}", at=_AT)
        )
        idle_ms = await storecases.longest_stall(asyncio.sleep(1.0))
        began = time.perf_counter()
        looking = asyncio.ensure_future(client.preview_forget(ForgetKeys(keys=(_KEY,))))
        preview_ms = await storecases.longest_stall(looking)
        preview_s = time.perf_counter() - began
        confirmed = ConfirmForget(keys=(_KEY,), confirm=looking.result().confirm or "")
        began = time.perf_counter()
        forget_ms = await storecases.longest_stall(client.forget(confirmed))
        forget_s = time.perf_counter() - began
        append_after_us = await _append(client, "after")
    commit, is_dirty = results.commit()
    return Report(
        facts=facts,
        raw_bytes=raw_bytes,
        preview_s=preview_s,
        forget_s=forget_s,
        preview_stall_ms=preview_ms,
        forget_stall_ms=forget_ms,
        idle_stall_ms=idle_ms,
        append_us=append_us,
        append_after_us=append_after_us,
        date=results.now(),
        commit=commit,
        is_dirty=is_dirty,
        machine=results.machine(load),
        holds=forget_s <= LIMIT_S and max(preview_ms, forget_ms) <= LIMIT_STALL_MS,
    )


async def _append(client: StoreClient, session: str, count: int = 200) -> float:
    text = "Please look at the failing deploy job and tell me which step times out before you change anything. " * 12
    began = time.perf_counter()
    for number in range(count):
        await client.append_turn(AppendTurn(session=session, turn_id=f"t{number}", role=Role.USER, text=text, at=_AT))
    return (time.perf_counter() - began) / count * 1e6


def _table(report: Report) -> str:
    return "\n".join(
        (
            f"{report.facts:,} facts, {report.raw_bytes >> 20:,} MB of turns",
            f"preview {report.preview_s:.2f} s, loop at most {report.preview_stall_ms:.0f} ms late",
            f"forget  {report.forget_s:.2f} s, loop at most {report.forget_stall_ms:.0f} ms late"
            f" (idle {report.idle_stall_ms:.0f} ms)",
            f"a turn is captured in {report.append_us:.0f} us before, {report.append_after_us:.0f} us after",
            "within the limits" if report.holds else f"NOT within {LIMIT_S:g} s and {LIMIT_STALL_MS:g} ms",
        )
    )
