"""`bead up` with its page: the link of the command opens it, and a request that passes is seen live and replayed."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from playwright.async_api import async_playwright, expect

from tests.e2e.bead_process import LIMIT_S, Machine
from tests.e2e.web.conftest import CHROMIUM, FLAGS
from tests.fakes.replies import Answer
from tests.fakes.upstream import FakeUpstream

pytestmark = pytest.mark.e2e

SHIP = "we ship with make ship-it and never on Fridays"
SESSION = "5d0f1a8e-7c7f-4f5b-9c0a-3a8f6b7c1d2e"


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    machine = Machine(tmp_path)
    try:
        yield machine
    finally:
        machine.end()


async def ask(machine: Machine) -> None:
    """One model request through the proxy, to its end."""
    token = (machine.home / "tokens" / "proxy").read_text().strip()
    body = {
        "model": "claude-opus-5-5",
        "max_tokens": 64,
        "stream": True,
        "system": [{"type": "text", "text": f"Primary working directory: {machine.root / 'shop'}"}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "how do I ship this?"}]}],
    }
    headers = {"x-claude-code-session-id": SESSION, "x-api-key": "dummy"}
    url = f"http://127.0.0.1:{machine.ports['proxy']}/t/{token}/v1/messages"
    async with aiohttp.ClientSession() as client, client.post(url, json=body, headers=headers) as answer:
        assert b"message_stop" in await answer.read()


async def test_a_request_through_the_proxy_is_seen_live_and_replayed(machine: Machine) -> None:
    async with asyncio.timeout(LIMIT_S), FakeUpstream() as upstream, async_playwright() as playwright:
        await asyncio.to_thread(machine.up, BEAD_PROXY__UPSTREAM__ANTHROPIC=upstream.url)
        await asyncio.to_thread(machine.json, "remember", SHIP, "--type", "feedback")
        await asyncio.to_thread(machine.json, "search", "ship")  # returns once the index has it
        upstream.enqueue(Answer("as you like"))
        link = (await asyncio.to_thread(machine.json, "curate", "--web"))["url"]
        page = f"http://127.0.0.1:{machine.ports['curate']}"
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            tab = await browser.new_page()
            await tab.goto(link)
            await tab.wait_for_url(f"{page}/")
            await tab.goto(f"{page}/live")
            await expect(tab.locator("#live-state")).to_have_text("Listening")
            await ask(machine)
            await expect(tab.locator(".step")).to_have_count(1)
            await expect(tab.locator(".step")).to_contain_text("pinned block, new")
            await tab.goto(f"{page}/sessions/{SESSION}")
            await tab.get_by_text("Replay: memory in this request").click()
            shown = await tab.locator("#turn-1 .block").first.inner_text()
        finally:
            await browser.close()
    sent = json.loads(upstream.model_requests()[0].body)["system"]
    assert [block["text"].strip() for block in sent if SHIP in block["text"]] == [shown.strip()]
