"""`bead up`: every service in this process, wired in process, each behind a guarded listener on loopback.

Resources open in dependency order (store, index, dream, curate, scheduler, then the listeners and the proxy) and close
the other way round. All listeners stop at the same moment, so that open streams cost one grace period, not six.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from os import getpid
from typing import NamedTuple

import uvloop
from aiohttp import web

from bead import __version__
from bead.bus.serve import serving
from bead.bus.service import Access, Service
from bead.bus.transport import InProcessTransport, Transport
from bead.clients.health import health
from bead.clients.index import IndexClient
from bead.clients.store import StoreClient
from bead.git import identify
from bead.home import Home
from bead.settings import Effective, Settings
from bead.wire.jobs import JobName
from bead.wire.traces import TurnTrace
from bead_cli import runtime
from bead_cli.drain.automatic import Automatic
from bead_cli.hosting import hosts_of, now, settle_collector, stop_on_signals, until
from bead_cli.probe import proxy_health
from bead_cli.telemetry import following
from bead_curate.app import create_service as create_curate
from bead_dream.access import SCOPES as DREAM_SCOPES
from bead_dream.app import create_service as create_dream
from bead_index.access import SCOPES as INDEX_SCOPES
from bead_index.app import create_service as create_index
from bead_proxy.allocator import tune_allocator
from bead_proxy.app import create_app as create_proxy
from bead_proxy.listening import serving as serving_proxy
from bead_scheduler.app import create_service as create_scheduler
from bead_store.access import SCOPES as STORE_SCOPES
from bead_store.app import create_service as create_store
from bead_store.home import Prepared

Announce = Callable[[runtime.Runtime, Mapping[str, str]], None]
"""Told once, when everything is ready, or has not become so in time: who runs, and what is not ready and why."""
_READY_LIMIT_S = 15.0
_READY_POLL_S = 0.05


class Way(NamedTuple):
    """What a person asks of the proxy beside its settings."""

    project: str | None = None
    """Of requests that name none."""
    on_trace: Callable[[TurnTrace], None] | None = None
    environ: Mapping[str, str] = {}
    """Says which proxy leads to a provider."""


class Stack(NamedTuple):
    """All services, wired; nothing is open yet."""

    services: tuple[Service, ...]
    proxy: web.Application
    drain: Automatic | None = None
    """What drains by itself; None in a container, where nobody's memories lie."""


def run(
    home: Home,
    settings: Settings,
    ready: Prepared,
    sockets: Mapping[str, socket.socket],
    announce: Announce,
    shown: Sequence[Effective] = (),
    way: "Way | None" = None,
) -> None:
    """Serve on the bound `sockets` until a signal ends it.

    Raises:
        Unavailable: another process holds the home, or it cannot be used.
    """
    tune_allocator()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(wire(home, settings, ready, shown, way), home, settings, ready, sockets, announce))


async def _serve(
    stack: Stack,
    home: Home,
    settings: Settings,
    ready: Prepared,
    sockets: Mapping[str, socket.socket],
    announce: Announce,
) -> None:
    stop = stop_on_signals()
    ports = {name: int(each.getsockname()[1]) for name, each in sockets.items()}
    access = _accesses(ready, ports)
    who = runtime.Runtime(
        ready.home_id, __version__, now(), ports, getpid(), runtime.birth_of(getpid()), hosts_of(settings)
    )
    async with AsyncExitStack() as resources:
        for service in stack.services:
            await resources.enter_async_context(service.running())
        async with asyncio.TaskGroup() as listeners:
            for service in stack.services:
                app = service.guarded(access[service.name])
                listeners.create_task(until(stop, serving(app, sockets[service.name], service.name)))
            listeners.create_task(until(stop, serving_proxy(stack.proxy, sockets["proxy"])))
            if stack.drain is not None:
                listeners.create_task(stack.drain.watch(stop))
            runtime.write(str(home.root), who)
            try:
                unready = await _unready(stack, who, stop)
                settle_collector()
                if not stop.is_set():
                    announce(who, unready)
                await stop.wait()
            finally:
                runtime.remove(str(home.root), who)
                stop.set()


async def _unready(stack: Stack, who: runtime.Runtime, stop: asyncio.Event) -> dict[str, str]:
    """Wait until every service is ready; what is not within the limit, and why."""
    until_s = asyncio.get_running_loop().time() + _READY_LIMIT_S
    while True:
        found = {
            service.name: await health(InProcessTransport(service.name, service.app)) for service in stack.services
        }
        reasons = {name: "; ".join(each.degraded) or "is starting" for name, each in found.items() if not each.ready}
        proxy = await asyncio.to_thread(proxy_health, who.place("proxy"))
        if not proxy or not proxy.get("ready"):
            reasons["proxy"] = "; ".join(proxy.get("degraded", ())) if proxy else "it does not answer"
        if not reasons or stop.is_set() or asyncio.get_running_loop().time() > until_s:
            return reasons
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), _READY_POLL_S)


def wire(
    home: Home,
    settings: Settings,
    ready: Prepared,
    shown: Sequence[Effective] = (),
    way: "Way | None" = None,
) -> Stack:
    """Every service of this home, calling each other in process along the arrows of the design.

    `shown` is what the admin page tells about the settings.
    """
    store = create_store(settings.store, home, settings.owner, settings.scan, settings.backup)
    store_bus = InProcessTransport("store", store.app)
    index = create_index(settings.index, home, StoreClient(store_bus), ready.home_id)
    index_bus = InProcessTransport("index", index.app)
    way = way or Way()
    dream = create_dream(settings.dream, ready.home_id, store_bus, way.environ)
    buses: dict[str, Transport] = {
        "store": store_bus,
        "index": index_bus,
        "dream": InProcessTransport("dream", dream.app),
    }
    curate = create_curate(settings.curate, ready.home_id, buses, shown)
    drain = None
    if way.environ.get("BEAD_IN_CONTAINER") != "1":
        drain = Automatic(settings.drain, str(home.root), store_bus, way.environ)
    host_works = {JobName.DRAIN: drain.work} if drain else {}
    scheduler = create_scheduler(settings.scheduler, ready.home_id, buses, host_works)
    proxy = create_proxy(
        settings.proxy,
        owner=settings.owner,
        home_id=lambda: ready.home_id,
        store=StoreClient(store_bus),
        index=IndexClient(index_bus),
        token=ready.proxy_token,
        identify=identify,
        project=way.project,
        on_trace=following(settings.telemetry, way.on_trace),
        environ=way.environ,
    )
    return Stack((store, index, dream, curate, scheduler), proxy, drain)


def _accesses(ready: Prepared, ports: Mapping[str, int]) -> dict[str, Access]:
    """Who may call which service over its socket: curate answers to the admin token, the others to the bus."""
    scopes = {"store": STORE_SCOPES, "index": INDEX_SCOPES, "dream": DREAM_SCOPES}
    secrets = {name: ready.admin_token if name == "curate" else ready.bus_secret for name in ports}
    return {name: Access(secrets[name], port, scopes.get(name, {})) for name, port in ports.items()}
