"""Long work in a thread leaves room for the event loop."""

import time

import pytest

from bead_index import pace
from bead_index.pace import unhurried


def test_everything_comes_in_order() -> None:
    assert list(unhurried(range(1_000))) == list(range(1_000))


def test_work_is_interrupted_by_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "WORK_S", 0.0)
    monkeypatch.setattr(pace, "PAUSE_S", 0.001)
    began = time.monotonic()

    for _ in unhurried(range(10)):
        pass

    assert time.monotonic() - began >= 0.009
