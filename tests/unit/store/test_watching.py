"""The watching process ends with the store and with nothing else."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def watching(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "bead_store.watching", "--way", "sweep", "--sweep-s", "0.05", "--since-ns", "0"]
    process = subprocess.Popen(
        [*command, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(timeout=10)
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_whole_group_does_not_end_it(
    watching: "subprocess.Popen[str]", number: signal.Signals, tmp_path: Path
) -> None:
    assert watching.stdout is not None
    assert '"sweep"' in watching.stdout.readline()

    watching.send_signal(number)
    (tmp_path / "later.md").write_text("x")

    assert any("later.md" in line for line in watching.stdout)


def test_it_ends_when_its_input_does(watching: "subprocess.Popen[str]") -> None:
    assert watching.stdin is not None and watching.stdout is not None
    watching.stdout.readline()

    watching.stdin.close()

    assert watching.wait(timeout=10) == 0
