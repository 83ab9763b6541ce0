"""`bead serve SERVICE`: one service in this process, its bus clients over sockets, as containers run it."""

import asyncio
import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

import aiohttp
import uvloop

from bead import __version__
from bead.bus.guard import scoped_token
from bead.bus.serve import serving
from bead.bus.service import Access, Service
from bead.bus.transport import HttpTransport, Transport
from bead.clients.health import health
from bead.clients.index import IndexClient
from bead.clients.store import StoreClient
from bead.errors import Unavailable, WrongVersion
from bead.git import identify
from bead.settings import Listener, Settings
from bead.tasks import Tasks
from bead.wire.health import WIRE, Health
from bead.wire.traces import TurnTrace
from bead_cli import runtime
from bead_cli.context import Context, read_token
from bead_cli.handing import callers_of
from bead_cli.hosting import NAMES, bound, hosts_of, now, stop_on_signals, until
from bead_cli.telemetry import following

Scopes = Mapping[str, tuple[str, ...]]

_STORE_WAIT_S = 30.0
_FIRST_LOOK_S = 3.0
_RETRY_S = 0.2
_CURATE_CALLS = ("dream", "index", "store")
_SCHEDULER_CALLS = ("dream", "index", "store")


class _Node(NamedTuple):
    """What one process knows before it wires its service."""

    context: Context
    settings: Settings
    secret: str
    session: aiohttp.ClientSession
    callers: Mapping[str, str] | None = None
    """Fingerprints of callers' tokens; then `secret` is this service's own token and not the home's secret."""

    def bus(self, caller: str, service: str) -> Transport:
        """The way from `caller` to `service`, with the caller's own token."""
        token = scoped_token(self.secret, caller) if self.callers is None else self.secret
        return HttpTransport(self.session, url_of(self.settings, service), token)

    def token(self, name: str) -> str:
        return read_token(self.context.home, name, self.context.environ)


def run(
    name: str,
    context: Context,
    *,
    project: str | None = None,
    on_trace: Callable[[TurnTrace], None] | None = None,
) -> None:
    """Serve `name` until a signal ends it. `project` and `on_trace` are the proxy's.

    Raises:
        Unavailable: its port is taken, a token is missing, the store did not answer in time.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(name, context, project, on_trace))


async def _serve(
    name: str, context: Context, project: str | None, on_trace: Callable[[TurnTrace], None] | None
) -> None:
    stop = stop_on_signals()
    if name == "store":
        from bead_cli.handing import hand_out
        from bead_store.home import prepare

        prepared = prepare(context.layout())
        if context.environ.get("BEAD_TOKENS_FOR"):
            hand_out(context.environ["BEAD_TOKENS_FOR"], prepared)
    settings = context.settings()
    with bound(settings, (name,), in_container=context.in_container()) as sockets:
        async with aiohttp.ClientSession(trust_env=False) as session:
            secret = read_token(context.home, "bus", context.environ)
            node = _Node(context, settings, secret, session, callers_of(context))
            if name == "proxy":
                await _serve_proxy(node, sockets[name], stop, project, on_trace)
            else:
                await _serve_service(name, node, sockets[name], stop)


async def _serve_service(name: str, node: _Node, listener: socket.socket, stop: asyncio.Event) -> None:
    service, scopes = await _service(name, node)
    port = int(listener.getsockname()[1])
    secret = node.token("admin") if name == "curate" else node.secret
    hosts = frozenset(NAMES) if node.context.in_container() else frozenset()
    guarded = service.guarded(Access(secret, port, scopes, hosts, None if name == "curate" else node.callers))
    async with service.running(), asyncio.TaskGroup() as group:
        group.create_task(until(stop, serving(guarded, listener, name)))
        _announce(node, name, port)
        await (_named_in_runtime(node, port, stop) if name == "store" else stop.wait())


async def _named_in_runtime(node: _Node, port: int, stop: asyncio.Event) -> None:
    """The process that holds the home says so to client commands, which find curate through it."""
    context = node.context
    ports = {name: getattr(node.settings, name).port for name in NAMES} | {"store": port}
    pid = None if context.in_container() else os.getpid()
    home_id = context.layout().home_id.read_text(encoding="ascii").strip()
    who = runtime.Runtime(
        home_id, __version__, now(), ports, pid, runtime.birth_of(pid) if pid else None, hosts_of(node.settings)
    )
    runtime.write(context.home, who)
    try:
        await stop.wait()
    finally:
        runtime.remove(context.home, who)


async def _serve_proxy(
    node: _Node,
    listener: socket.socket,
    stop: asyncio.Event,
    project: str | None,
    on_trace: Callable[[TurnTrace], None] | None,
) -> None:
    from bead_proxy.allocator import tune_allocator
    from bead_proxy.app import create_app
    from bead_proxy.listening import serving as serving_proxy

    tune_allocator()
    in_container = node.context.in_container()
    home = await _first_look(node)
    app = create_app(
        node.settings.proxy,
        owner=node.settings.owner,
        home_id=lambda: home.id,
        store=StoreClient(node.bus("proxy", "store")),
        index=IndexClient(node.bus("proxy", "index")),
        token=node.token("proxy"),
        # A container cannot look into the host's directories; the store's table knows them by path (D1).
        identify=None if in_container else identify,
        project=project,
        hosts=NAMES if in_container else (),
        on_trace=following(node.settings.telemetry, on_trace),
        environ=node.context.environ,
    )
    async with serving_proxy(app, listener), Tasks() as tasks:
        _announce(node, "proxy", int(listener.getsockname()[1]))
        if not home.id:
            tasks.start(_look_on(home, node), name="look for the store")
        await stop.wait()


class _Home:
    """Which home a proxy serves; empty until the store has said so."""

    id = ""


async def _first_look(node: _Node) -> _Home:
    """The home, when the store says which within a moment: requests to the model wait for it no longer (I10).

    Raises:
        WrongVersion: the store is there and speaks otherwise.
    """
    home = _Home()
    with suppress(TimeoutError):
        async with asyncio.timeout(_FIRST_LOOK_S):
            home.id = await _home_id("proxy", node)
    return home


async def _look_on(home: _Home, node: _Node) -> None:
    """Go on asking; a store of another version is said once, and there is no memory."""
    node.context.output.note("the store does not answer yet; requests go on without memory")
    while not home.id:
        try:
            home.id = await _home_id("proxy", node)
        except WrongVersion as error:
            node.context.output.note(error.message)
            return
        except Unavailable:
            continue


def _announce(node: _Node, name: str, port: int) -> None:
    """One line for a person, or one document: from now on the service answers."""
    node.context.output.note(f"{name} answers on port {port}")
    if node.context.output.as_json:
        listener: Listener = getattr(node.settings, name)
        who = {"name": name, "version": __version__, "pid": os.getpid(), "host": listener.host, "port": port}
        node.context.output.document(who)


async def _service(name: str, node: _Node) -> tuple[Service, Scopes]:
    """The service and what scoped tokens may call on it; each import is that of one service, as in its container."""
    settings, home = node.settings, node.context.layout()
    if name == "store":
        from bead_store.access import SCOPES as STORE_SCOPES
        from bead_store.app import create_service as create_store

        return create_store(settings.store, home, settings.owner, settings.scan, settings.backup), STORE_SCOPES
    home_id = await _home_id(name, node)
    if name == "index":
        from bead_index.access import SCOPES as INDEX_SCOPES
        from bead_index.app import create_service as create_index

        # Its own folder, when it does not share the store's: index.db lies there.
        home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        return create_index(settings.index, home, StoreClient(node.bus(name, "store")), home_id), INDEX_SCOPES
    if name == "curate":
        from bead.settings import effective
        from bead_curate.app import create_service as create_curate

        buses = {service: node.bus(name, service) for service in _CURATE_CALLS}
        shown = effective(home, node.context.environ, settings)
        return create_curate(settings.curate, home_id, buses, shown), {}
    if name == "dream":
        from bead_dream.access import SCOPES as DREAM_SCOPES
        from bead_dream.app import create_service as create_dream

        return create_dream(settings.dream, home_id, node.bus(name, "store"), node.context.environ), DREAM_SCOPES
    from bead_scheduler.app import create_service as create_scheduler

    calls = {service: node.bus(name, service) for service in _SCHEDULER_CALLS}
    return create_scheduler(settings.scheduler, home_id, calls), {}


async def _home_id(caller: str, node: _Node) -> str:
    """The home's id as the store tells it, waiting until it does.

    Raises:
        Unavailable: the store did not answer in time.
    """
    bus = node.bus(caller, "store")
    try:
        async with asyncio.timeout(_STORE_WAIT_S):
            while True:
                try:
                    return _understood(caller, await health(bus)).home_id
                except Unavailable:
                    await asyncio.sleep(_RETRY_S)
    except TimeoutError:
        url = url_of(node.settings, "store")
        raise Unavailable(
            f"the store did not answer on {url} within {_STORE_WAIT_S:g} s; set BEAD_STORE__URL"
        ) from None


def _understood(caller: str, store: Health) -> Health:
    """`store` itself, when this process speaks as it does.

    Raises:
        WrongVersion: one of the two is too old for the other.
    """
    if store.wire != WIRE:
        raise WrongVersion(
            f"the store is bead {store.version} and this {caller} is bead {__version__}, which do not understand each "
            "other; run the same version of both"
        )
    return store


def url_of(settings: Settings, name: str) -> str:
    """Where other processes find a service."""
    listener: Listener = getattr(settings, name)
    host = f"[{listener.host}]" if ":" in listener.host else listener.host
    return listener.url or f"http://{host}:{listener.port}"
