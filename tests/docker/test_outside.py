"""The outside list on the containers; their rights, networks and secrets (its tenth line) are `test_compose`'s."""

import json
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.docker.conftest import CURATE_PORT, PROXY_PORT, REPOSITORY, Stack
from tests.outside.cases import Outside
from tests.outside.hostile import Hostile
from tests.outside.place import LIMIT_S, Place

pytestmark = pytest.mark.docker


class Containers(Place):
    """`docker compose up`."""

    ports: Mapping[str, int] = {"proxy": PROXY_PORT, "curate": CURATE_PORT}
    is_container = True

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._tokens: dict[str, str] = {}
        self._first: dict[str, str] = {}
        self.records, self.environ, self.folder = stack.records, stack.environ, REPOSITORY
        self.home = self._folder("home")
        self.kept = (self.home, self._folder("index"), self._folder("backup"))

    def _folder(self, volume: str) -> Path:
        shown = self._stack.shell(f"docker volume inspect {self.environ['COMPOSE_PROJECT_NAME']}_{volume}")
        return Path(json.loads(shown)[0]["Mountpoint"])

    def command(self, *argv: str, on_terminal: bool = False) -> list[str]:
        return ["docker", "compose", "exec", *([] if on_terminal else ["-T"]), "curate", "bead", *argv]

    def token(self, name: str) -> str:
        service = {"admin": "curate"}.get(name, name)
        if name not in self._tokens:
            self._tokens[name] = self._stack.inside(service, "cat", f"/tokens/{service}/{name}").strip()
        return self._tokens[name]

    def log(self) -> str:
        return self._stack.shell("docker compose logs --no-color 2>&1")

    def pids(self) -> Mapping[str, int]:
        return {name: self._pid(name) for name in ("store", "index")}

    def _pid(self, service: str) -> int:
        """The service itself; the container's first process only waits for it."""
        self._first[service] = first = self._first_process(service)
        return int(Path(f"/proc/{first}/task/{first}/children").read_text().split()[0])

    def _first_process(self, service: str) -> str:
        name = self._stack.services()[service]["Name"]
        return self._stack.shell(f"docker inspect -f '{{{{.State.Pid}}}}' {name}").strip()

    def revive(self) -> None:
        """Until another process is there: before the engine sees the death, it tells the dead one's health."""
        deadline = time.monotonic() + LIMIT_S
        while self._first_process("store") in (self._first["store"], "0"):
            assert time.monotonic() < deadline, "the store was not started again"
        self._stack.wait_until_healthy("store")


@pytest.fixture(scope="module")
def place(stack: Stack) -> Place:
    return Containers(stack)


class TestOutside(Outside):
    """The list."""


class TestHostile(Hostile):
    """Its ninth line."""


def test_agents_memories_are_on_the_host_and_no_container_drains_them(place: Place) -> None:
    done = place.run("drain")
    assert done.returncode == 1
    assert "lie on the host" in done.stderr
