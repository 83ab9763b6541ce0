"""`bead logs` finds what a bead in one process has logged, and says why where it cannot."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bead_cli import runtime
from bead_cli.containers import Container
from tests.unit.cli.desk import Desk


@pytest.fixture
def logging_to_a_file(desk: Desk, tmp_path: Path) -> Iterator[Path]:
    """Something that runs as bead on the desk's home and logs to a file."""
    log = tmp_path / "bead.log"
    log.write_text("".join(f'{{"event": "line {number}"}}\n' for number in range(300)))
    with log.open("a") as file:
        process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=file)
    who = runtime.read(str(desk.home))
    assert who is not None
    runtime.write(str(desk.home), who._replace(pid=process.pid, birth=runtime.birth_of(process.pid)))
    yield log
    process.kill()
    process.communicate()


def test_the_last_lines_of_the_file_are_shown(desk: Desk, logging_to_a_file: Path) -> None:
    lines = desk.json("logs", "--lines", "2")["lines"]
    assert lines == ['{"event": "line 298"}', '{"event": "line 299"}']
    assert len(desk.json("logs")["lines"]) == 100


def test_what_a_container_s_trouble_is() -> None:
    well = Container("store", "bead", "running", "healthy", 0)
    assert well.trouble == ""
    assert "bead logs --service store" in well._replace(state="restarting", restarts=7).trouble
    assert well._replace(restarts=9).trouble.startswith("started again 9 times")
    assert well._replace(health="unhealthy").trouble == "unhealthy"
    assert well._replace(state="exited").trouble == "exited"


def test_without_docker_it_says_so(tmp_path: Path) -> None:
    environ = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/none.sock"}
    command = [sys.executable, "-W", "ignore", "-m", "bead_cli", "status", "--containers"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=30)
    assert done.returncode == 3
    assert "Docker does not answer" in done.stderr
