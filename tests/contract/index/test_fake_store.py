"""The fake store keeps the store's contract: every test of it that speaks of no file, no scan and no limit of size."""

import inspect
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import ModuleType

import pytest

from bead.bus.transport import InProcessTransport
from bead.clients.views import ViewClient
from bead.home import Home
from tests.contract.store import (
    test_changes,
    test_conversations,
    test_drafts,
    test_episodes,
    test_facts,
    test_forget,
    test_forget_selected,
    test_projects,
    test_rekey,
    test_traces,
    test_turns,
    test_use,
    test_vault,
    test_verdicts,
    test_views,
)
from tests.contract.store.opening import Open
from tests.fakes.store import FakeStore

# What only the real store does: it reads and writes files, scans for credentials, cuts private spans, bounds sizes.
_REAL_ONLY = (
    "home",
    "credential",
    "private",
    "opened(",
    "bytes_unchanged",
    "x" + '" *',
    "project_id",
    "a\\nb",
    "file(",
    "RawLog",
    "MOST_TURNS",
    "innocent",
    "views.sessions",
    "views.uses",
    "views.days",
    "views.audit",
    "views.report",
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Open]:
    fake = FakeStore()
    yield Open(Home(tmp_path), fake.client, InProcessTransport("store", fake.service.app), fake.service)


@pytest.fixture
def local(store: Open) -> Open:
    return store


@pytest.fixture
def views(store: Open) -> ViewClient:
    return ViewClient(store.bus)


def _tests_without_files(module: ModuleType) -> dict[str, Callable[..., object]]:
    return {
        f"{name}_in_{module.__name__.rpartition('_')[2]}": test
        for name, test in vars(module).items()
        if name.startswith("test_") and not any(word in _whole_source(test) for word in _REAL_ONLY)
    }


def _whole_source(test: Callable[..., object]) -> str:
    marks = getattr(test, "pytestmark", [])
    return inspect.getsource(test) + "".join(repr(mark.args) for mark in marks)


_MODULES = (
    test_changes,
    test_conversations,
    test_drafts,
    test_episodes,
    test_facts,
    test_forget,
    test_forget_selected,
    test_projects,
    test_rekey,
    test_traces,
    test_turns,
    test_use,
    test_vault,
    test_verdicts,
    test_views,
)
for _module in _MODULES:
    globals().update(_tests_without_files(_module))


def test_most_of_the_contract_is_asked_of_the_fake() -> None:
    """A word too many in the list of exceptions would silently leave nothing to test."""
    asked = [name for name in globals() if name.startswith("test_") and "_in_" in name]

    assert len(asked) > 40
