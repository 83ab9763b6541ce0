"""Ten thousand facts: the page of facts paints at once, and search keeps up with typing."""

import time
from pathlib import Path
from statistics import median

import pytest
from playwright.async_api import async_playwright

from bead_evals.bench.homes import build_home
from tests.e2e.web.conftest import CHROMIUM, FLAGS, Desk
from tests.web.person import Person
from tests.web.running import running

pytestmark = pytest.mark.e2e

FACTS = 10_000
PAINT_LIMIT_MS = 300.0
SEARCH_LIMIT_MS = 50.0
_TYPED = ("d", "de", "dep", "deploy", "deploy s", "deploy staging", "token cache", "never friday")
_PAINTED = """() => new Promise((done) => new PerformanceObserver((list) => done(list.getEntries()[0].startTime))
    .observe({ type: "paint", buffered: true }))"""


async def test_ten_thousand_facts_paint_at_once_and_are_searched_while_typing(tmp_path: Path) -> None:
    home = build_home(tmp_path / "home", FACTS)
    async with running(home, with_index=True) as page, async_playwright() as playwright:
        await page.indexed()
        person = await Person.come_in(page)
        assert f"{FACTS // 1000}\u202f000 facts" in (await person.see("/facts")).text
        searches = [await _searched_ms(person, text) for text in _TYPED]
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            async with Desk(page, browser).person() as watched:
                paints = []
                for _ in range(5):
                    await watched.tab.goto(f"{page.url}/facts", wait_until="load")
                    paints.append(float(await watched.tab.evaluate(_PAINTED)))
        finally:
            await browser.close()
    print(f"first paint {min(paints):.0f} ms, search {median(searches):.1f} ms, slowest {max(searches):.1f} ms")
    assert min(paints) < PAINT_LIMIT_MS
    assert median(searches) < SEARCH_LIMIT_MS


async def _searched_ms(person: Person, text: str) -> float:
    """Milliseconds of one processor for a question, its whole answer, and the client that asks; the best of three.

    Not by the clock: other tests run beside, and what the machine does for them says nothing about the service.
    """
    best_ms = float("inf")
    for _ in range(3):
        began = time.process_time()
        seen = await person.see(f"/facts?q={text.replace(' ', '+')}&part=list")
        best_ms = min(best_ms, (time.process_time() - began) * 1_000)
        assert seen.status == 200
    return best_ms
