"""The second opinion: used when it comes in time and is understood, else the gate's choice stands and is counted."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from bead.recall import Cue, CueSource, RecalledFact
from bead.settings import RerankSettings
from bead_proxy.rerank import Reranker

CUES = (Cue(CueSource.PERSON, "run the tests"),)
FACTS = tuple(RecalledFact(f"u{n}", f"user/k{n}", 1, "user", "user_stated", "2026-11-05", f"body {n}") for n in (1, 2))
KEY = "-".join(("key", "of", "this", "test"))

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def model(handler: Handler) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/v1/messages", handler)
    app.router.add_post("/v1/chat/completions", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def asked(handler: Handler, **fields: Any) -> tuple[list[str] | None, list[str]]:
    """What was chosen, and the failures that were counted."""
    failures: list[str] = []
    async with model(handler) as address:
        values = {"provider": "anthropic", "model": "m", "base_url": address, "timeout_ms": 2_000, **fields}
        reranker = Reranker(
            RerankSettings.model_validate(values), {"ANTHROPIC_API_KEY": KEY, "OTHER": KEY}, failures.append
        )
        try:
            chosen = await reranker.choose(CUES, FACTS)
        finally:
            await reranker.close()
    return None if chosen is None else [fact.key for fact in chosen], failures


def saying(text: str) -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        is_anthropic = request.path == "/v1/messages"
        sent = (
            request.headers["x-api-key"] if is_anthropic else request.headers["authorization"].removeprefix("Bearer ")
        )
        assert sent == KEY
        if is_anthropic:
            return web.json_response({"content": [{"type": "text", "text": text}]})
        return web.json_response({"choices": [{"message": {"content": text}}]})

    return answer


@pytest.mark.parametrize("fields", [{}, {"provider": "openai", "api_key_env": "OTHER"}], ids=["anthropic", "openai"])
async def test_model_chooses_among_the_candidates(fields: dict[str, str]) -> None:
    assert await asked(saying('{"use": ["f2"]}'), **fields) == (["user/k2"], [])


async def test_answer_that_is_not_understood_leaves_the_gates_choice() -> None:
    assert await asked(saying("I would use both.")) == (None, ["not understood"])


async def test_answer_after_the_timeout_leaves_the_gates_choice() -> None:
    gone = asyncio.Event()

    async def never(request: web.Request) -> web.StreamResponse:
        await gone.wait()
        return web.Response()

    async with asyncio.timeout(5):
        assert await asked(never, timeout_ms=50) == (None, ["too late"])


async def test_error_of_the_provider_leaves_the_gates_choice() -> None:
    async def error(request: web.Request) -> web.StreamResponse:
        return web.Response(status=529)

    assert await asked(error) == (None, ["no answer"])


async def test_without_a_key_nothing_is_sent() -> None:
    assert await asked(saying("{}"), api_key_env="NOT_SET") == (None, ["no key"])


async def test_off_nothing_is_asked_and_nothing_counted() -> None:
    assert await asked(saying("{}"), provider="none") == (None, [])
