"""Fixtures for tests with a real harness. A test folder takes them by importing them into its conftest.py."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.claude_code import ClaudeCode
from tests.harness.claude_code import claude_code as installed
from tests.harness.namespace import LoopbackNamespace
from tests.harness.records import Records


@pytest.fixture(scope="session")
def claude_code() -> ClaudeCode:
    """The real Claude Code; installed by the first test that asks."""
    return installed()


@pytest.fixture
def namespace() -> Iterator[LoopbackNamespace]:
    """A loopback-only network of this test's own."""
    with LoopbackNamespace() as namespace:
        yield namespace


@pytest.fixture
def provider(namespace: LoopbackNamespace, tmp_path: Path) -> Records:
    """The fake provider on port 8080 in the namespace, as its records."""
    out = tmp_path / "provider"
    namespace.start_fake_upstream(out)
    return Records(out)
