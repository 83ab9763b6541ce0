"""A client command starts fast: what it must not load, against a bead that answers (D12)."""

import json
import subprocess
import sys

import pytest

from tests.unit.cli.desk import Desk

HEAVY = ("fastapi", "aiohttp", "uvicorn", "pydantic", "asyncio", "dataclasses", "http.client", "structlog", "inspect")
PROBE = """
import json, sys
from bead_cli.__main__ import run
code = run(sys.argv[1:], {}, sys.stderr, sys.stderr)
print(json.dumps([code, sorted(sys.modules)]))
"""


def loaded(*argv: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", PROBE, *argv], capture_output=True, text=True, timeout=60)
    code, modules = json.loads(done.stdout)
    assert code == 0, done.stderr
    return set(modules)


@pytest.mark.parametrize("command", ["--version", "version"])
def test_the_version_loads_nothing_heavy(command: str) -> None:
    assert not loaded(command) & {*HEAVY, "socket"}


@pytest.mark.parametrize(
    "argv",
    [("memories",), ("remember", "a sentence to keep"), ("recall", "user/editor"), ("pin", "user/editor"), ("queue",)],
)
def test_a_client_command_loads_nothing_heavy(desk: Desk, argv: tuple[str, ...]) -> None:
    desk.bead("write", "user/editor", "helix")
    assert not loaded(*argv, "--home", str(desk.home)) & set(HEAVY)
