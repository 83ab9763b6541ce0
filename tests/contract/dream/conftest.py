"""An empty home, and a scripted model."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bead.home import Home
from tests.fakes.models import FakeModel, serving_model


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
async def model() -> AsyncIterator[FakeModel]:
    async with serving_model() as fake:
        yield fake
