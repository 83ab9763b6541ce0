"""One desk for each test, in a directory that is no repository."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.desk import Desk, running_desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with running_desk(tmp_path) as desk:
        yield desk
