"""The proxy as an aiohttp application: who may ask, which route it is, and what runs beside the requests.

Wires `access`, `memory` and `forward`; decides nothing about memory and touches no byte.
"""

import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from types import MappingProxyType

from aiohttp import web, web_protocol
from multidict import CIMultiDict

from bead import __version__
from bead.clients.index import IndexClient
from bead.clients.store import StoreClient
from bead.errors import BadRequest, BeadError, NotAllowed
from bead.projects import Identity
from bead.settings import ProxySettings
from bead.tasks import Tasks
from bead.wire.health import Health
from bead_proxy.access import HEALTH, Rules, admit, is_form
from bead_proxy.accounts import Accounts
from bead_proxy.answers import (
    drop_invented_headers,
    health_answer,
    metrics_answer,
    no_such_route,
    no_websocket,
    provider_error,
    refusal,
    usage_answer,
)
from bead_proxy.caller import read_caller
from bead_proxy.capture import Capture
from bead_proxy.codings import Damaged, TooLarge, UnknownCoding, Unpacker, codings_of
from bead_proxy.directories import Directories
from bead_proxy.failures import log_failure
from bead_proxy.forward import Upstream
from bead_proxy.memory import Explain, Memory, Prepared
from bead_proxy.metrics import Metrics
from bead_proxy.outbound import outbound_of
from bead_proxy.packed import Packed
from bead_proxy.peer import Peers
from bead_proxy.protocol import Reply, ReplyReader, Unreadable, Usage
from bead_proxy.protocols import Provider, Route, Spoken, route
from bead_proxy.rerank import Reranker
from bead_proxy.tracing import UNREADABLE, Notes, OnTrace, Tracer

METRICS = "/bead/metrics"
USAGE = "/bead/usage"
MOST_SHOWN = 200
"""Conversations in one answer of `/bead/usage`."""
RECALL_ENDED = "recall ended: what it added did not stay in the provider's cache"
NO_STORE_YET = "the store has not answered since this proxy started; requests go on without memory"
_LOCAL = "/bead"

_NO_VARIABLES: Mapping[str, str] = MappingProxyType({})
_CAPTURE_GRACE_S = 0.4
_REPLY_LIMIT_BYTES = 128 << 20
"""Most bytes that are unpacked from one answer."""


def create_app(
    settings: ProxySettings,
    *,
    owner: str,
    home_id: Callable[[], str],
    store: StoreClient,
    index: IndexClient,
    token: str,
    identify: Callable[[str], Identity | None] | None,
    project: str | None = None,
    hosts: Collection[str] = (),
    explain: Explain | None = None,
    on_trace: OnTrace | None = None,
    environ: Mapping[str, str] = _NO_VARIABLES,
) -> web.Application:
    """The proxy, ready to be served.

    `home_id` is empty until it is known which home this is: model requests do not wait for that (I10).
    `token` is the capability of this home. `identify` asks git about a directory; None where directories cannot be
    seen. `project` is for requests that name none. `hosts` are names of ours beside the loopback ones. `explain` is
    told every decision that was kept; `on_trace` every trace, in ids and numbers, when its answer has ended.
    `environ` says which proxy the way to a provider takes.

    Raises:
        BadRequest: the upstream address is not safe.
    """
    proxy = Proxy(settings, owner, home_id, store, index, token, identify, project, hosts, explain, on_trace, environ)
    app = web.Application(client_max_size=0)
    app.router.add_route("*", "/{path:.*}", proxy.handle)
    app.on_response_prepare.append(drop_invented_headers)
    app.cleanup_ctx.append(proxy.running)
    return app


class Proxy:
    """One listener's request handling."""

    def __init__(
        self,
        settings: ProxySettings,
        owner: str,
        home_id: Callable[[], str],
        store: StoreClient,
        index: IndexClient,
        token: str,
        identify: Callable[[str], Identity | None] | None,
        project: str | None,
        hosts: Collection[str],
        explain: Explain | None,
        on_trace: OnTrace | None,
        environ: Mapping[str, str],
    ) -> None:
        self._home_id = home_id
        self._bare_url = settings.bare_url
        self._most_read_bytes = settings.inject_body_limit_mb << 20
        self._token = token
        self._hosts = frozenset(hosts)
        self._peers = Peers()
        self._metrics = Metrics(time.monotonic)
        self._tasks = Tasks()
        outbound = outbound_of(settings, environ)
        self._upstreams = {provider: Upstream(getattr(settings.upstream, provider), outbound) for provider in Provider}
        self._accounts = Accounts(time.monotonic)
        self._rerank = Reranker(settings.rerank, environ, self._metrics.unranked)
        self._tracer = Tracer(store, self._metrics, on_trace)
        self._memory = Memory(
            settings,
            owner,
            store,
            index,
            Directories(store, identify, self._tasks, project),
            Capture(store, self._tasks, self._metrics),
            self._metrics,
            explain,
            self._accounts,
            self._rerank,
        )

    async def running(self, app: web.Application) -> AsyncIterator[None]:
        """What lives as long as the listener."""
        async with self._tasks:
            self._tracer.start(self._tasks)
            for upstream in self._upstreams.values():
                await upstream.open()
            yield
            await self._rerank.close()
            for upstream in self._upstreams.values():
                await upstream.close()
            await self._tracer.drain(_CAPTURE_GRACE_S)
            await self._tasks.drain(_CAPTURE_GRACE_S)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request of any method and path."""
        try:
            target = self._admit(request)
        except BeadError as error:
            self._count("refused")
            return refusal(error)
        try:
            return await self._route(request, target)
        except web_protocol.RequestPayloadError:
            self._count("malformed")
            return refusal(BadRequest("the request body is not well formed"))
        except Exception as error:
            # The outermost boundary of a request, for an error in this program: say who failed, and nothing else.
            log_failure("a request failed", error)
            if request.writer.output_size and request.transport is not None:
                # An answer has begun: cut it, so that nobody takes it for whole.
                request.transport.close()
            return provider_error(502, "api_error", "an error in the proxy; X-Bead-Off: 1 forwards without memory")

    async def _route(self, request: web.Request, target: str) -> web.StreamResponse:
        path = target.partition("?")[0]
        if path == _LOCAL or path.startswith(f"{_LOCAL}/"):
            return self._local(request, path)
        if request.headers.get("Upgrade", "").lower() == "websocket":
            self._count("websocket")
            return no_websocket()
        towards = route(request.method, target, request.headers)
        if towards.spoken is None:
            self._count("other")
            upstream = self._upstreams[towards.provider]
            return await upstream.relay(request, towards.target, (await _read(request),))
        if target == request.raw_path and is_form(request.headers.get("Content-Type", "")):
            # Not every browser says that it is one; what a page may post without being asked first has such a type.
            self._count("refused")
            return refusal(NotAllowed("a model request without the capability must be of type application/json"))
        self._count(towards.spoken.name)
        return await self._ask_model(request, towards, towards.spoken)

    def _admit(self, request: web.Request) -> str:
        transport = request.transport
        port = transport.get_extra_info("sockname")[1] if transport else 0
        rules = Rules(self._token, port, self._bare_url, self._hosts)
        # The raw target: the library's own view of it is decoded.
        return admit(request.raw_path, request.raw_headers, rules, lambda: self._peers.is_same_user(transport))

    def _local(self, request: web.Request, path: str) -> web.Response:
        self._count("local")
        if path == HEALTH and request.method in ("GET", "HEAD"):
            home_id = self._home_id()
            strange = () if home_id else (NO_STORE_YET,)
            degraded = (*strange, *self._metrics.degraded(), *self._accounts_words())
            return health_answer(
                Health(name="proxy", version=__version__, ready=True, home_id=home_id, degraded=degraded)
            )
        if path == USAGE and request.method == "GET":
            return usage_answer(self._accounts.newest(MOST_SHOWN))
        if path == METRICS and request.method == "GET":
            return metrics_answer(self._metrics.registry)
        return no_such_route()

    def _accounts_words(self) -> tuple[str, ...]:
        count = self._accounts.stopped
        return (f"{RECALL_ENDED} ({count} conversation{'' if count == 1 else 's'})",) if count else ()

    async def _ask_model(self, request: web.Request, towards: Route, spoken: Spoken) -> web.StreamResponse:
        prepared = await self._prepare(request, spoken, towards.model)
        upstream, on_reply = self._upstreams[towards.provider], prepared.on_reply
        if on_reply is None:
            if prepared.notes is not None:
                self._tracer.tell(prepared.notes, Usage(), 0)
            return await upstream.relay(request, towards.target, prepared.take_body())
        seen = _Seen(spoken)
        try:
            return await upstream.relay(request, towards.target, prepared.take_body(), seen.watch)
        finally:
            # Also when the caller leaves in the middle: what was said until then is a turn.
            reply = seen.tell(on_reply)
            self._tell(prepared.notes, reply.usage if reply else Usage(), seen.status)

    def _tell(self, notes: Notes | None, usage: Usage, status: int) -> None:
        """The answer has ended: book its numbers and tell its trace."""
        if notes is None or notes.place is None:
            return
        place, inserted = notes.place, notes.inserted_tokens
        if self._accounts.book(place.session, place.thread, usage, notes.model, inserted, notes.added_block):
            self._metrics.recall_ended.inc()
            notes.failures.append(RECALL_ENDED)
        self._tracer.tell(notes, usage, status)

    async def _prepare(self, request: web.Request, spoken: Spoken, model: str) -> Prepared:
        body = await _read(request)
        started = time.perf_counter()
        prepared = await self._with_memory(request, body, spoken, model)
        self._metrics.added_ms.observe((time.perf_counter() - started) * 1_000)
        return prepared

    async def _with_memory(self, request: web.Request, body: bytes, spoken: Spoken, model: str) -> Prepared:
        packed = Packed(body, request.headers.getall("Content-Encoding", ()))
        caller = read_caller(request.headers)
        closed = Notes(spoken.name, caller.harness or "", caller.session or "", abstained=UNREADABLE)
        try:
            opened = await packed.opened(self._most_read_bytes)
        except Unreadable as error:
            self._metrics.unread.labels(str(error)).inc()
            return Prepared((body,), notes=closed)
        except Exception as error:
            self._failed_open("a packed request could not be opened; it goes on as it came", error)
            return Prepared((body,), notes=closed)
        prepared = await self._memory.prepare(opened, caller, spoken.module.read_on, spoken.name, model)
        try:
            prepared.body = await packed.closed(opened, prepared.body)
        except Exception as error:
            self._failed_open("a request could not be packed again; it goes on as it came", error)
            prepared.body = (body,)
        return prepared

    def _failed_open(self, what: str, error: Exception) -> None:
        """Trouble with memory never breaks a request (I10)."""
        log_failure(what, error)
        self._metrics.trouble(f"an error in the proxy ({type(error).__name__})")

    def _count(self, kind: str) -> None:
        self._metrics.requests.labels(kind).inc()


class _Seen:
    """Reads a model's answer as it goes by; trouble with reading ends the reading, never the answer."""

    def __init__(self, spoken: Spoken) -> None:
        self._spoken = spoken
        self._reader: ReplyReader | None = None
        self._unpacker: Unpacker | None = None
        self._is_over = False
        self.status = 0

    def watch(self, status: int, headers: CIMultiDict[str]) -> Callable[[bytes], None] | None:
        """See `bead_proxy.forward.Watch`: an error is no answer."""
        self.status = status
        if status != 200:
            return None
        encoding = ",".join(headers.getall("Content-Encoding", ()))
        try:
            if codings := codings_of(encoding):
                self._unpacker = Unpacker(codings, _REPLY_LIMIT_BYTES)
            encoding = ""
        except UnknownCoding:
            pass  # the reader says so in place of the text
        self._reader = self._spoken.module.reply_reader(headers.get("Content-Type", ""), encoding)
        return self._feed

    def tell(self, on_reply: Callable[[Reply], None]) -> Reply | None:
        """Hand on what the model said, as far as it came; None when that is not known."""
        if self._reader is None:
            return None
        try:
            reply = self._reader.close()
            on_reply(reply)
        except Exception as error:
            log_failure("a reply could not be kept", error)
            return None
        return reply

    def _feed(self, chunk: bytes) -> None:
        if self._reader is None or self._is_over:
            return
        try:
            for piece in self._unpacker.feed(chunk) if self._unpacker else (chunk,):
                self._reader.feed(piece)
        except (Damaged, TooLarge):
            self._is_over = True  # what came until then is what was said
        except Exception as error:
            log_failure("a reply could not be read", error)
            self._reader = None


async def _read(request: web.Request) -> bytes:
    """The whole body with one copy fewer than `request.read()`."""
    chunks = [chunk async for chunk in request.content.iter_any()]
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
