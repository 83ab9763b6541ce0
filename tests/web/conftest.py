"""The page before a real store and index, empty or furnished, and a person who is in."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bead.home import Home
from tests.web.person import Person
from tests.web.running import Running, furnish, running


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(Home(tmp_path / "home")) as opened:
        yield opened


@pytest.fixture
async def furnished(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(Home(tmp_path / "home"), with_index=True) as opened:
        await furnish(opened)
        await opened.indexed()
        yield opened


@pytest.fixture
async def person(page: Running) -> Person:
    """Somebody who has come in by a launch link, with what a browser sends."""
    return await Person.come_in(page)
