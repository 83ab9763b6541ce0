"""A person with no bead running, in a folder that is no repository."""

from pathlib import Path

import pytest

from tests.unit.cli.desk import Desk


class Alone(Desk):
    """Each command starts what it needs and stops it again."""

    def __init__(self, home: Path) -> None:
        self.home = home


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Alone:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return Alone(tmp_path / "home")
