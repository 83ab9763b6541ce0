"""What hosting one service and hosting all have in common: names, the end by a signal, how long a listener stays."""

import asyncio
import gc
import signal
import socket
from collections.abc import Iterable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager
from datetime import UTC, datetime

from bead.bus.serve import listen
from bead.settings import Listener, Settings
from bead_cli.runtime import LOOPBACK

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


def settle_collector() -> None:
    """Take what a start has made out of the garbage collector's sight, and have it look less often.

    A pass over a loaded home holds the event loop, and so every model request, for up to 160 ms; this way it is 20 ms.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@contextmanager
def bound(settings: Settings, names: Iterable[str], *, in_container: bool) -> Iterator[dict[str, socket.socket]]:
    """Listening sockets of the services, by name. From here on callers wait for an answer instead of being refused.

    Raises:
        Unavailable: a port is taken.
        Refused: an address is not loopback, and this is no container.
    """
    with ExitStack() as opened:
        sockets = {}
        for name in names:
            listener: Listener = getattr(settings, name)
            sockets[name] = opened.enter_context(listen(listener.host, listener.port, in_container=in_container))
        yield sockets


def hosts_of(settings: Settings) -> dict[str, str]:
    """The services that do not listen on 127.0.0.1, as `runtime.json` names them (all addresses include it)."""
    hosts: dict[str, str] = {name: getattr(settings, name).host for name in NAMES}
    return {name: host for name, host in hosts.items() if host not in (LOOPBACK, "localhost", "0.0.0.0")}
