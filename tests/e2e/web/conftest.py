"""Debian's Chromium, headless, on the page: nothing from outside is asked for, and the console stays clean."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from bead.home import Home
from tests.web.running import Running, furnish, running

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LIMIT_MS = 10_000


@dataclass
class Watched:
    """One browser profile; what it asked for and complained about."""

    context: BrowserContext
    tab: Page
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@dataclass
class Desk:
    """A browser and the page it is for."""

    page: Running
    browser: Browser

    @asynccontextmanager
    async def person(
        self, *, width: int = 1280, scheme: Literal["light", "dark"] = "light", has_script: bool = True
    ) -> AsyncIterator[Watched]:
        """Somebody who has come in by a launch link, and whose browser had nothing to complain about at the end."""
        context = await self.browser.new_context(
            viewport={"width": width, "height": 860}, color_scheme=scheme, java_script_enabled=has_script
        )
        context.set_default_timeout(LIMIT_MS)
        watched = Watched(context, await context.new_page())
        context.on("request", lambda request: watched.asked.append(request.url))
        context.on("console", lambda said: watched.complaints.append(said.text) if said.type == "error" else None)
        context.on("weberror", lambda error: watched.complaints.append(str(error.error)))
        try:
            await watched.tab.goto(await self.page.link())
            await watched.tab.wait_for_url(f"{self.page.url}/")
            yield watched
            assert watched.complaints == []
            assert [url for url in watched.asked if not url.startswith(self.page.url)] == []
        finally:
            await context.close()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with running(Home(tmp_path / "home"), with_index=True) as page, async_playwright() as playwright:
        await furnish(page)
        await page.indexed()
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield Desk(page, browser)
        finally:
            await browser.close()
