"""A model provider on loopback that does as it is told and remembers what it was sent.

    async with FakeUpstream() as upstream:
        upstream.enqueue(Answer("hello"), Failure(529))
        ...                                     # send requests to upstream.url
        assert upstream.requests[0].messages() == [...]

A reply comes from the handler if there is one and it returns something, else from the queue, else from the prompt (see
`script`). Ids and times in answers depend on the request's number only, so two equal runs get equal answers.

As a program, for harnesses in a network namespace: `python -m tests.fakes.upstream --port 8080 --out DIR`.
"""

import argparse
import asyncio
import inspect
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web
from multidict import CIMultiDict

from tests.fakes import chat, gemini, messages, responses
from tests.fakes.recording import Recorded, next_number
from tests.fakes.replies import Disconnect, Failure, Gate, Held, Pause, Raw, Reply
from tests.fakes.script import PromptScript
from tests.fakes.wire import Wire, json_reply

Handler = Callable[[Recorded], Reply | Awaitable[Reply | None] | None]

MODELS = ("claude-opus-5-5", "claude-sonnet-4-5", "gpt-5.5", "gemini-2.5-pro", "fake-model")
_NO_ROUTE = Failure(404, "the fake provider has no such route")


class FakeUpstream:
    """See the module. Listens on 127.0.0.1 only, from `async with` on; `port` 0 takes a free one."""

    def __init__(self, port: int = 0, *, out: Path | None = None, handler: Handler | None = None) -> None:
        self.requests: list[Recorded] = []
        """Everything that came in, of any method and path, in order."""
        self._port = port
        self._out = out
        self._handler = handler
        self._queue: deque[Reply] = deque()
        self._script = PromptScript()
        self._connections: dict[object, int] = {}
        self._first_number = 1
        self._arrived = asyncio.Condition()
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Where it listens, without a slash at the end."""
        return f"http://127.0.0.1:{self._port}"

    def enqueue(self, *replies: Reply) -> None:
        """Replies for the next requests to a model, first come first served."""
        self._queue.extend(replies)

    def answer_with(self, handler: Handler | None) -> None:
        """Ask `handler` first from now on, for requests of every kind."""
        self._handler = handler

    def model_requests(self) -> list[Recorded]:
        """Those of `requests` that asked a model for an answer."""
        return [request for request in self.requests if request.method == "POST" and wire_of(request.path)]

    async def wait_for(self, count: int, *, timeout_s: float = 5) -> list[Recorded]:
        """The first `count` requests, as soon as they are here.

        Raises:
            TimeoutError: fewer came in that time.
        """
        async with asyncio.timeout(timeout_s), self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)
        return self.requests[:count]

    async def __aenter__(self) -> Self:
        if self._out is not None:
            self._out.mkdir(parents=True, exist_ok=True)
            self._first_number = next_number(self._out)
        application = web.Application(client_max_size=1 << 30)
        application.router.add_route("*", "/{anything:.*}", self._serve)
        # Bodies stay as they were sent: no decompression. A client that goes away cancels its handler.
        self._runner = web.AppRunner(
            application, auto_decompress=False, handler_cancellation=True, access_log=None, shutdown_timeout=0.2
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        recorded = await self._record(request)
        try:
            raw = await self._reply(recorded)
            response = web.StreamResponse(status=raw.status, headers=CIMultiDict(raw.headers))
            recorded.outcome = await _send(request, response, raw)
            return response
        except asyncio.CancelledError:
            recorded.outcome = "client gone"
            raise
        finally:
            self._save(recorded)
            recorded.closed.set()

    async def _record(self, request: web.Request) -> Recorded:
        body = await request.read()
        recorded = Recorded(
            number=self._first_number + len(self.requests),
            connection=self._connections.setdefault(request.protocol, len(self._connections) + 1),
            method=request.method,
            target=request.raw_path,
            headers=[(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.raw_headers],
            body=body,
        )
        self.requests.append(recorded)
        self._save(recorded)
        async with self._arrived:
            self._arrived.notify_all()
        return recorded

    def _save(self, recorded: Recorded) -> None:
        if self._out is not None:
            recorded.write(self._out)

    async def _reply(self, request: Recorded) -> Raw:
        reply = await self._choose(request)
        while isinstance(reply, Held):
            await reply.gate.wait()
            reply = reply.then
        if isinstance(reply, Raw):
            return reply
        wire = wire_of(request.path) or messages
        return wire.render_failure(reply) if isinstance(reply, Failure) else wire.render(request, reply)

    async def _choose(self, request: Recorded) -> Reply:
        if self._handler is not None:
            chosen = self._handler(request)
            if inspect.isawaitable(chosen):
                chosen = await chosen
            if chosen is not None:
                return chosen
        if (request.header("upgrade") or "").lower() == "websocket":
            return Failure(426, "the fake provider speaks no WebSocket")
        if request.method != "POST":
            return _side_reply(request)
        if request.path.endswith("/messages/count_tokens"):
            return messages.token_count(request)
        if request.path.endswith(":countTokens"):
            return gemini.token_count(request)
        wire = wire_of(request.path)
        if wire is None:
            return _NO_ROUTE
        return self._queue.popleft() if self._queue else self._script.reply(wire.conversation(request))


async def _send(request: web.Request, response: web.StreamResponse, raw: Raw) -> str:
    """Send headers and pieces; returns how it ended, in the words of `Recorded.outcome`."""
    try:
        await response.prepare(request)
        for piece in raw.pieces:
            match piece:
                case bytes():
                    await response.write(piece)
                case Pause():
                    await asyncio.sleep(piece.seconds)
                case Gate():
                    await piece.wait()
                case Disconnect():
                    assert request.transport is not None
                    request.transport.close()
                    return "disconnected"
        await response.write_eof()
    except ConnectionError:
        return "client gone"
    return "answered"


def wire_of(path: str) -> Wire | None:
    """The wire format that a path belongs to, by its end, so that any prefix may stand before it."""
    if path.endswith("/messages"):
        return messages
    if path.endswith("/chat/completions"):
        return chat
    if path.endswith("/responses"):
        return responses
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return gemini
    return None


def _side_reply(request: Recorded) -> Reply:
    if request.method == "HEAD":
        return Raw(200, (("Content-Length", "0"),))
    if request.method == "GET" and request.path.endswith("/models"):
        return json_reply(_model_list())
    return _NO_ROUTE


def _model_list() -> dict[str, object]:
    """One document that clients of all providers can read."""
    listed = [{"id": name, "object": "model", "type": "model", "display_name": name} for name in MODELS]
    return {
        "object": "list",
        "data": listed,
        "has_more": False,
        "first_id": MODELS[0],
        "last_id": MODELS[-1],
        "models": [{"name": f"models/{name}"} for name in MODELS],
    }


async def _serve_forever(port: int, out: Path) -> None:
    async with FakeUpstream(port, out=out) as upstream:
        print(f"listening on {upstream.url}", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="A model provider on 127.0.0.1 that prompts script; see tests/fakes.")
    parser.add_argument("--port", type=int, default=8080, help="0 takes a free one and prints it")
    parser.add_argument("--out", type=Path, required=True, help="folder for NNNN.json and NNNN.body of each request")
    arguments = parser.parse_args()
    try:
        asyncio.run(_serve_forever(arguments.port, arguments.out))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
