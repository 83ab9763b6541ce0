"""`bead up` between a client and a provider: what was kept reaches the model, and a stop keeps what was said."""

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.e2e.bead_process import LIMIT_S, Machine, read_until
from tests.fakes.replies import Answer, Gate
from tests.fakes.upstream import FakeUpstream

pytestmark = pytest.mark.e2e

SHIP = "we ship with make ship-it and never on Fridays"
STOP_LIMIT_S = 2.0


@pytest.fixture
async def upstream() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream() as upstream:
        yield upstream


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    machine = Machine(tmp_path)
    try:
        yield machine
    finally:
        machine.end()


def url(machine: Machine) -> str:
    token = (machine.home / "tokens" / "proxy").read_text().strip()
    return f"http://127.0.0.1:{machine.ports['proxy']}/t/{token}/v1/messages"


def body(text: str, folder: Path) -> bytes:
    return json.dumps(
        {
            "model": "claude-opus-5-5",
            "max_tokens": 64,
            "stream": True,
            "system": [{"type": "text", "text": f"Primary working directory: {folder}"}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}],
        }
    ).encode()


def headers(session: str) -> dict[str, str]:
    return {"content-type": "application/json", "x-claude-code-session-id": session, "x-api-key": "dummy"}


async def test_what_was_remembered_reaches_the_model(machine: Machine, upstream: FakeUpstream) -> None:
    await asyncio.to_thread(machine.up, BEAD_PROXY__UPSTREAM__ANTHROPIC=upstream.url)
    await asyncio.to_thread(machine.json, "remember", SHIP, "--type", "feedback")
    await asyncio.to_thread(machine.json, "search", "ship")  # returns once the index has it
    upstream.enqueue(Answer("as you like"))

    async with asyncio.timeout(LIMIT_S), aiohttp.ClientSession() as client:
        asked = body("how do I ship this?", machine.root / "shop")
        async with client.post(url(machine), data=asked, headers=headers("one")) as response:
            assert b"message_stop" in await response.read()

    sent = json.loads(upstream.requests[0].body)
    assert [SHIP in json.dumps(block) for block in sent["system"]] == [False, True]


async def test_a_stop_in_the_middle_of_an_answer_takes_under_two_seconds_and_keeps_what_was_said(
    machine: Machine, upstream: FakeUpstream
) -> None:
    process = await asyncio.to_thread(machine.up, BEAD_PROXY__UPSTREAM__ANTHROPIC=upstream.url)
    gate = Gate()
    upstream.enqueue(Answer("half an answer about zebras", breaks={5: gate}))

    async with asyncio.timeout(LIMIT_S), aiohttp.ClientSession() as client:
        asked = body("tell me of giraffes", machine.root / "shop")
        async with client.post(url(machine), data=asked, headers=headers("two")) as response:
            await gate.reached.wait()
            while b"half" not in await response.content.readany():
                pass
            started = time.monotonic()
            process.send_signal(signal.SIGTERM)
            code = await asyncio.to_thread(process.wait, LIMIT_S)
            took_s = time.monotonic() - started

    assert code == 0
    assert took_s < STOP_LIMIT_S
    raw = "".join(path.read_text() for path in (machine.home / "store" / "raw").rglob("*.md"))
    assert "tell me of giraffes" in raw
    assert "half" in raw


async def ask(machine: Machine, session: str) -> bytes:
    async with asyncio.timeout(LIMIT_S), aiohttp.ClientSession() as client:
        asked = body("how do I ship this?", machine.root / "shop")
        async with client.post(url(machine), data=asked, headers=headers(session)) as response:
            return await response.read()


async def test_a_proxy_whose_store_is_not_there_forwards_and_has_memory_once_it_is(
    machine: Machine, upstream: FakeUpstream
) -> None:
    await asyncio.to_thread(machine.json, "remember", SHIP, "--type", "feedback")
    proxy = machine.start("serve", "proxy", BEAD_PROXY__UPSTREAM__ANTHROPIC=upstream.url)
    await asyncio.to_thread(read_until, proxy, b"proxy answers on port ")
    upstream.enqueue(Answer("as you like"))

    assert b"message_stop" in await ask(machine, "one")
    assert upstream.requests[0].body == body("how do I ship this?", machine.root / "shop")
    health = await asyncio.to_thread(machine.health, "proxy")
    assert (health["ready"], health["home_id"]) == (True, "")
    assert any("the store has not answered" in trouble for trouble in health["degraded"])

    for service in ("store", "index"):
        process = machine.start("serve", service)
        await asyncio.to_thread(read_until, process, f"{service} answers on port ".encode())
    async with asyncio.timeout(LIMIT_S):
        while not (await asyncio.to_thread(machine.health, "proxy"))["home_id"]:
            continue
    await asyncio.to_thread(lambda: wait_for_index(machine))
    # A slow machine's first look-up may miss the deadline of a request, which never waits for memory (I10).
    until, tries = time.monotonic() + LIMIT_S, 0
    while SHIP not in upstream.requests[-1].body.decode():
        assert time.monotonic() < until
        upstream.enqueue(Answer("as you like"))
        await ask(machine, f"later-{(tries := tries + 1)}")


def wait_for_index(machine: Machine) -> None:
    """Until the index is ready."""
    until = time.monotonic() + LIMIT_S
    while not machine.health("index")["ready"]:
        assert time.monotonic() < until
