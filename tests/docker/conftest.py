"""The real containers: one stack for the module, built from this tree, in a project of its own."""

import json
import os
import secrets
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
FILES = ["-f", str(REPOSITORY / "compose.yaml"), "-f", str(REPOSITORY / "tests/docker/upstream.yaml")]


@dataclass(frozen=True)
class Stack:
    """A running compose project with a fake provider behind its proxy."""

    project: str
    environ: dict[str, str]
    records: Path
    proxy_port: int
    curate_port: int

    def compose(self, *arguments: str, timeout_s: float = 120) -> str:
        """Standard output of one compose command; its diagnostics are in the error when it fails."""
        done = subprocess.run(
            ["docker", "compose", "-p", self.project, *FILES, *arguments],
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )
        assert done.returncode == 0, f"compose {arguments[0]} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def inside(self, service: str, *command: str) -> str:
        """Standard output of a command in a service's container."""
        return self.compose("exec", "-T", service, *command)

    def services(self) -> dict[str, dict[str, object]]:
        """`docker compose ps` by service name."""
        rows = [json.loads(line) for line in self.compose("ps", "--format", "json").splitlines()]
        return {row["Service"]: row for row in rows}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    records = tmp_path_factory.mktemp("records")
    environ = {
        **os.environ,
        "BEAD_PROXY__PORT": "17077",
        "BEAD_CURATE__PORT": "17078",
        "BEAD_PROXY__UPSTREAM__ANTHROPIC": "http://127.0.0.1:8080",
        "BEAD_TEST_REPOSITORY": str(REPOSITORY),
        "BEAD_TEST_RECORDS": str(records),
        "PIP_NO_INDEX": "1",
        "DOCKER_BUILDKIT": "1",
    }
    found = Stack(f"bead-test-{secrets.token_hex(4)}", environ, records, 17077, 17078)
    try:
        found.compose("build", "store", timeout_s=600)
        found.compose("up", "-d", "--wait", "--wait-timeout", "60")
        yield found
    finally:
        found.compose("down", "--volumes", "--timeout", "5")
