"""Services inside this process, for one command, when no bead runs: the same services, the same lock.

They live on an event loop of their own thread, so that commands stay plain functions.
"""

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager
from threading import Thread

from bead.bus.transport import InProcessTransport, Transport
from bead.clients.store import StoreClient
from bead.logs import configure
from bead_cli.context import Context
from bead_cli.loopback import Answer
from bead_curate.app import create_service as create_curate
from bead_store.app import create_service as create_store
from bead_store.home import prepare

_START_LIMIT_S = 60.0
_STOP_LIMIT_S = 10.0
# Only what a person must know is said beside a command's answer.
_LOG_LEVEL = "ERROR"


class _Own:
    """Brings requests to the curate app on the loop of the other thread."""

    def __init__(self, bus: Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._bus, self._loop = bus, loop

    def send(self, method: str, path: str, body: bytes, timeout_s: float) -> Answer:
        """See `bead_cli.door.Sender`."""
        call = self._bus.send(method, path, body, timeout_s=timeout_s)
        status, answer = asyncio.run_coroutine_threadsafe(call, self._loop).result()
        return Answer(status, answer)


@contextmanager
def services(context: Context, names: Sequence[str]) -> Iterator[_Own]:
    """Run the store, index and dream when `names` holds them, and curate, until the block ends.

    Raises:
        StoreLocked: another process holds the home.
        HomeUnusable: it cannot be written.
    """
    configure(_LOG_LEVEL)
    started: Future[tuple[_Own, asyncio.Event]] = Future()
    thread = Thread(target=lambda: asyncio.run(_live(context, names, started)), name="own services", daemon=True)
    thread.start()
    own, stop = started.result(_START_LIMIT_S)
    try:
        yield own
    finally:
        own._loop.call_soon_threadsafe(stop.set)
        thread.join(_STOP_LIMIT_S)


async def _live(context: Context, names: Sequence[str], started: "Future[tuple[_Own, asyncio.Event]]") -> None:
    stop = asyncio.Event()
    async with AsyncExitStack() as stack:
        try:
            bus = await _start(context, names, stack)
        except BaseException as error:  # whatever it is, the waiting thread must hear of it
            started.set_exception(error)
            return
        started.set_result((_Own(bus, asyncio.get_running_loop()), stop))
        await stop.wait()


async def _start(context: Context, names: Sequence[str], stack: AsyncExitStack) -> Transport:
    home = context.layout()
    ready = prepare(home)
    settings = context.settings()
    # One command is over before anything could be edited.
    store = create_store(
        settings.store.model_copy(update={"watch": "off"}), home, settings.owner, settings.scan, settings.backup
    )
    await stack.enter_async_context(store.running())
    buses: dict[str, Transport] = {"store": InProcessTransport("store", store.app)}
    if "index" in names:
        from bead_index.app import create_service as create_index

        index = create_index(settings.index, home, StoreClient(buses["store"]), ready.home_id)
        await stack.enter_async_context(index.running())
        buses["index"] = InProcessTransport("index", index.app)
    if "dream" in names:
        from bead_dream.app import create_service as create_dream

        dream = create_dream(settings.dream, ready.home_id, buses["store"], context.environ)
        await stack.enter_async_context(dream.running())
        buses["dream"] = InProcessTransport("dream", dream.app)
    curate = create_curate(settings.curate, ready.home_id, buses)
    await stack.enter_async_context(curate.running())
    return InProcessTransport("curate", curate.app)
