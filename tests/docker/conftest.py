"""The real containers: one stack for all tests, built from this tree, started by the README's own command."""

import json
import os
import re
import secrets
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
PROXY_PORT, CURATE_PORT = 17077, 17078
HEALTHY_WITHIN_S = 20.0


@dataclass
class Stack:
    """A running compose project with a fake provider behind its proxy."""

    environ: dict[str, str]
    records: Path
    took_s: float = 0.0
    """From `docker compose up` to healthy."""
    _admin: str = ""

    def shell(self, command: str, *, timeout_s: float = 120) -> str:
        """Standard output of a command line, typed in the folder of the project."""
        done = subprocess.run(
            ["bash", "-c", command],
            env=self.environ,
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )
        assert done.returncode == 0, f"{command} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def inside(self, service: str, *command: str) -> str:
        """Standard output of a command in a service's container."""
        done = subprocess.run(
            ["docker", "compose", "exec", "-T", service, *command],
            env=self.environ,
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, f"{command[0]} in {service} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def services(self) -> dict[str, dict[str, Any]]:
        """`docker compose ps` by service name."""
        rows = [json.loads(line) for line in self.shell("docker compose ps --format json").splitlines()]
        return {row["Service"]: row for row in rows}

    def network(self, name: str) -> dict[str, Any]:
        """One of the project's networks as Docker shows it."""
        shown = self.shell(f"docker network inspect {self.environ['COMPOSE_PROJECT_NAME']}_{name}")
        found: dict[str, Any] = json.loads(shown)[0]
        return found

    def wait_until_healthy(self, service: str, within_s: float = 40.0) -> None:
        """Returns when the container's health check has passed since its last start."""
        name = self.services()[service]["Name"]
        deadline = time.monotonic() + within_s
        command = ["docker", "inspect", "-f", "{{.State.Running}} {{.State.Health.Status}}", name]
        while subprocess.run(command, capture_output=True, text=True).stdout.strip() != "true healthy":
            assert time.monotonic() < deadline, f"{service} is not healthy again within {within_s:g} s"

    def curate(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        """A call through the published admin port with the admin token."""
        self._admin = self._admin or self.inside("curate", "cat", "/tokens/curate/admin").strip()
        told = {"authorization": f"Bearer {self._admin}", "content-type": "application/json", **headers}
        return call(f"http://127.0.0.1:{CURATE_PORT}{path}", method, body, told)


def call(url: str, method: str, body: object, headers: dict[str, str]) -> tuple[int, Any]:
    """Status and document of one HTTP request; raises OSError when nobody answers."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            text = response.read()
            return response.status, json.loads(text) if text[:1] in (b"{", b"[") else text
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def readme_commands() -> list[str]:
    """The command lines of the README's section about Docker, in order."""
    section = (REPOSITORY / "README.md").read_text().split("## With Docker\n")[1].split("\n## ")[0]
    return re.findall(r"^ {4}(\S.*)$", section, re.MULTILINE)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    records = tmp_path_factory.mktemp("records")
    environ = {
        **os.environ,
        "COMPOSE_PROJECT_NAME": f"bead-test-{secrets.token_hex(4)}",
        "COMPOSE_FILE": f"{REPOSITORY / 'compose.yaml'}:{REPOSITORY / 'tests/docker/upstream.yaml'}",
        "BEAD_PROXY__PORT": str(PROXY_PORT),
        "BEAD_CURATE__PORT": str(CURATE_PORT),
        "BEAD_PROXY__UPSTREAM__ANTHROPIC": "http://127.0.0.1:8080",
        "BEAD_TEST_REPOSITORY": str(REPOSITORY),
        "BEAD_TEST_RECORDS": str(records),
        "PIP_NO_INDEX": "1",
        "DOCKER_BUILDKIT": "1",
    }
    found = Stack(environ, records)
    try:
        found.shell("docker compose build store", timeout_s=600)
        started = time.monotonic()
        found.shell(readme_commands()[0])
        found.took_s = time.monotonic() - started
        yield found
    finally:
        found.shell("docker compose down --volumes --timeout 5")
