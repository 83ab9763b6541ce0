"""Long work in a thread leaves room for the event loop."""

import gc
import time
import weakref

import pytest

from bead_index import pace
from bead_index.cards import CardGate
from bead_index.facts import FactTable
from bead_index.pace import long_lived, unhurried
from bead_index.selection import recall
from tests.unit.index.made import fact, request


def test_everything_comes_in_order() -> None:
    assert list(unhurried(range(1_000))) == list(range(1_000))


def test_work_is_interrupted_by_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "WORK_S", 0.0)
    monkeypatch.setattr(pace, "PAUSE_S", 0.001)
    began = time.monotonic()

    for _ in unhurried(range(10)):
        pass

    assert time.monotonic() - began >= 0.009


def test_a_table_that_was_let_go_needs_no_collector() -> None:
    with long_lived():
        table = FactTable([fact(f"user/n{number}", f"flamingo number {number}") for number in range(20)])
    gc.disable()
    try:
        recall(request("flamingo number 7"), table, CardGate())
        gone = weakref.ref(table)
        table.let_go()
        del table
        assert gone() is None
    finally:
        gc.enable()
        gc.unfreeze()


def test_the_collector_is_on_after_something_long_lived_was_made() -> None:
    with long_lived():
        assert not gc.isenabled()
    try:
        assert gc.isenabled()
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
