"""What hosting one service and hosting all have in common: names, the end by a signal, how long a listener stays."""

import asyncio
import signal
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

NAMES = ("store", "index", "dream", "curate", "scheduler", "proxy")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def stop_on_signals() -> asyncio.Event:
    """An event that the first signal sets; the second one kills, as if nobody listened."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def asked() -> None:
        stop.set()
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
            signal.signal(each, signal.SIG_DFL)

    for each in _SIGNALS:
        loop.add_signal_handler(each, asked)
    return stop


async def until(stop: asyncio.Event, serves: AbstractAsyncContextManager[None]) -> None:
    """Keep a listener open until `stop`."""
    async with serves:
        await stop.wait()


def now() -> str:
    """The time, RFC 3339 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
