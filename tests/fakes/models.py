"""A model behind each provider's wire format, whose replies are scripted for each purpose; the last one is said again.

    async with serving_model() as model:
        model.say("extract", '{"facts": []}')
        settings = model.settings("openai")

Answers `POST /v1/messages`, `/chat/completions` and `/api/chat`. What was asked is in `model.asked`.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from bead.settings import DreamSettings

Wrap = Callable[[str, bool], dict[str, Any]]
Reply = str | int | Callable[[str], str]
"""A text, an HTTP status, or what makes a text of the prompt."""
EMPTY = {"extract": '{"facts": []}', "keys": '{"keys": []}', "cards": '{"cards": []}', "judge": '{"turns": []}'}
KEY = "-".join(("made", "up", "model", "key"))
_ENDS = {False: ("end_turn", "stop", "stop"), True: ("max_tokens", "length", "length")}


class FakeModel:
    """See the module."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        """Purpose and body of each request, in order."""
        self.headers: list[dict[str, str]] = []
        self.is_cut = False
        self.knows_forms: tuple[str, ...] = ("json_schema", "json_object")
        """Types of `response_format` that it takes."""
        self.refusal = 400
        """Status of an answer to another one."""
        self.answers_in_pieces = False
        self.url = ""
        self.wait_before: tuple[int, asyncio.Event, asyncio.Event] | None = None
        """Number of a request, what is set when it has come, and what it waits for."""
        self._script: defaultdict[str, list[Reply]] = defaultdict(list)

    def say(self, purpose: str, *replies: Reply) -> None:
        """Answer questions of this purpose so from now on."""
        self._script[purpose] = list(replies)

    def settings(self, provider: str, **more: object) -> DreamSettings:
        """Settings under which this model is asked."""
        fields = {"provider": provider, "model": "small", "base_url": self.url, "timeout_s": 5, **more}
        return DreamSettings.model_validate(fields)

    def prompts(self, purpose: str) -> list[str]:
        """What was sent for a purpose."""
        return [_prompt(body) for asked, body in self.asked if asked == purpose]

    async def _answer(self, request: web.Request, wrap: Wrap) -> web.StreamResponse:
        body = await request.json()
        self.headers.append(dict(request.headers))
        if body.get("response_format", {}).get("type", "") not in ("", *self.knows_forms):
            return web.json_response({"error": "unknown field response_format"}, status=self.refusal)
        purpose = _purpose(json.dumps(body))
        self.asked.append((purpose, body))
        if self.wait_before and len(self.asked) == self.wait_before[0]:
            self.wait_before[1].set()
            await self.wait_before[2].wait()
        script = self._script[purpose] or [EMPTY[purpose]]
        reply = script.pop(0) if len(script) > 1 else script[0]
        if callable(reply):
            reply = reply(_prompt(body))
        if isinstance(reply, int):
            return web.json_response({"error": _prompt(body)}, status=reply)
        if self.answers_in_pieces:
            return await _in_pieces(request, json.dumps(wrap(reply, self.is_cut)).encode())
        return web.json_response(wrap(reply, self.is_cut))

    def _handler(self, wrap: Wrap) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handle(request: web.Request) -> web.StreamResponse:
            return await self._answer(request, wrap)

        return handle

    def app(self) -> web.Application:
        """The three routes."""
        app = web.Application(client_max_size=64 << 20)
        routes = {"/v1/messages": _anthropic, "/chat/completions": _openai, "/api/chat": _ollama}
        for path, wrap in routes.items():
            app.router.add_post(path, self._handler(wrap))
        return app


@asynccontextmanager
async def serving_model() -> AsyncIterator[FakeModel]:
    """A fake on a free port."""
    model = FakeModel()
    runner = web.AppRunner(model.app())
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        model.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield model
    finally:
        await runner.cleanup()


async def _in_pieces(request: web.Request, data: bytes) -> web.StreamResponse:
    """Byte by byte, and whoever reads comes by in between."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    for at in range(len(data)):
        await response.write(data[at : at + 1])
        for _ in range(3):
            await asyncio.sleep(0)
    await response.write_eof()
    return response


def _anthropic(text: str, is_cut: bool) -> dict[str, Any]:
    """JSON comes as a tool's input, everything else as text."""
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    block: dict[str, Any] = {"type": "text", "text": text}
    if isinstance(document, dict):
        block = {"type": "tool_use", "id": "t1", "name": "answer", "input": document}
    usage = {"input_tokens": 100, "output_tokens": 10}
    return {"type": "message", "content": [block], "stop_reason": _ENDS[is_cut][0], "usage": usage}


def _openai(text: str, is_cut: bool) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": _ENDS[is_cut][1]}
    return {"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}


def _ollama(text: str, is_cut: bool) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "message": message,
        "done": True,
        "done_reason": _ENDS[is_cut][2],
        "prompt_eval_count": 100,
        "eval_count": 10,
    }


def _purpose(body: str) -> str:
    if "memory service thought of" in body:
        return "judge"
    return "cards" if "needs it" in body else "keys" if "belong to one scope" in body else "extract"


def _prompt(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])
