"""The outside list on `bead up`; what only a person's own machine has (its bus, its files) is `test_outside`'s."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.e2e.bead_process import Machine, read_until
from tests.outside.cases import Outside
from tests.outside.hostile import Hostile
from tests.outside.place import Place

pytestmark = pytest.mark.e2e


class OwnMachine(Place):
    """`bead up` of one person."""

    def __init__(self, machine: Machine, records: Path, upstream: str) -> None:
        self.machine, self.records, self._upstream = machine, records, upstream
        self.environ, self.folder = machine.environ, machine.root
        self.ports = machine.ports
        self.home, self.kept = machine.home, (machine.home,)
        self.revive()

    def command(self, *argv: str, on_terminal: bool = False) -> list[str]:
        return [sys.executable, "-m", "bead_cli", *argv]

    def token(self, name: str) -> str:
        return (self.home / "tokens" / name).read_text().strip()

    def log(self) -> str:
        return self.run("logs").stdout

    def pids(self) -> Mapping[str, int]:
        return {"store": self.machine.started[-1].pid}

    def keepers(self) -> Mapping[str, int]:
        return {}  # one process is everything

    def revive(self) -> None:
        self.machine.end()
        self.machine.started.clear()
        self.machine.up(BEAD_PROXY__UPSTREAM__ANTHROPIC=self._upstream)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    root = tmp_path_factory.mktemp("machine")
    records = root / "records"
    command = [sys.executable, "-m", "tests.fakes.upstream", "--port", "0", "--out", str(records)]
    provider = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    machine = Machine(root)
    try:
        upstream = read_until(provider, b"\n").decode().split()[-1]
        yield OwnMachine(machine, records, upstream)
    finally:
        machine.end()
        provider.kill()
        provider.communicate()


class TestOutside(Outside):
    """The list."""


class TestHostile(Hostile):
    """Its ninth line."""
