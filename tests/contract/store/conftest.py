"""A real store on an empty home, once in process and once over the bus."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bead.home import Home
from tests.contract.store.opening import WAYS, Open, opened


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture(params=WAYS)
async def store(home: Home, request: pytest.FixtureRequest) -> AsyncIterator[Open]:
    async with opened(home, request.param) as running:
        yield running


@pytest.fixture
async def local(home: Home) -> AsyncIterator[Open]:
    """In process only: for tables of inputs whose way over the bus is tested elsewhere."""
    async with opened(home) as running:
        yield running
