"""Every page fits every screen and shuts nobody out: light and dark, narrow and wide, as axe-core judges it."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Page

from tests.e2e.web.axe import axe_script
from tests.e2e.web.conftest import Desk
from tests.e2e.web.test_browser import PAGES

pytestmark = pytest.mark.e2e

_SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_WIDTHS = (360, 1280)
_JUDGED = frozenset({("light", 1280), ("dark", 360)})
_OPEN_ALL = "for (const each of document.querySelectorAll('details')) each.open = true"
_RUN = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
    .filter((found) => ["serious", "critical", "moderate"].includes(found.impact))
    .map((found) => `${found.id} (${found.impact}): ${found.nodes.slice(0, 3).map((node) => node.html).join(" | ")}`)"""


async def test_every_page_fits_and_is_for_everybody(desk: Desk, tmp_path: Path) -> None:
    """The pictures are for a person to look at: pytest keeps the folder."""
    script = axe_script()
    trouble: dict[str, list[str]] = {}
    for scheme in _SCHEMES:
        for width in _WIDTHS:
            async with desk.person(width=width, scheme=scheme) as person:
                for number, path in enumerate(PAGES):
                    await person.tab.goto(desk.page.url + path)
                    await person.tab.screenshot(path=tmp_path / f"{number:02}-{width}-{scheme}.png", full_page=True)
                    found = await _judged(person.tab, script if (scheme, width) in _JUDGED else "")
                    if found:
                        trouble[f"{path} at {width}, {scheme}"] = found
                await person.tab.goto("about:blank")
    assert trouble == {}


async def _judged(tab: Page, script: str) -> list[str]:
    """What is wrong with a page, with everything on it unfolded."""
    await tab.evaluate(_OPEN_ALL)
    over: int = await tab.evaluate("document.documentElement.scrollWidth - innerWidth")
    found = [f"{over} px wider than the screen"] if over > 0 else []
    if script:
        await tab.evaluate(script)
        found += await tab.evaluate(_RUN)
    return found
