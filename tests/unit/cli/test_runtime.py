"""runtime.json tells who serves a home, and a stale one does not fool anybody."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bead.errors import HomeUnusable
from bead_cli import runtime
from tests.unit.cli.desk import write_runtime

PORTS = {"proxy": 18600, "curate": 18601}


def test_what_was_written_is_read_again_and_only_ours_to_read(tmp_path: Path) -> None:
    who = write_runtime(tmp_path, PORTS)
    assert runtime.read(str(tmp_path)) == who
    assert (tmp_path / "runtime.json").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["runtime.json"]


def test_no_file_means_nobody(tmp_path: Path) -> None:
    assert runtime.read(str(tmp_path)) is None
    assert runtime.read(str(tmp_path / "no" / "home")) is None


def test_this_process_runs_and_one_that_ended_does_not(tmp_path: Path) -> None:
    assert runtime.is_running(write_runtime(tmp_path, PORTS))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        who = write_runtime(tmp_path, PORTS, pid=child.pid)
        assert runtime.is_running(who)
    assert not runtime.is_running(who)


def test_a_process_that_was_killed_but_not_collected_does_not_run(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    who = write_runtime(tmp_path, PORTS, pid=child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not runtime.is_running(who)
    child.communicate()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells when a process was born")
def test_another_process_with_the_same_pid_is_not_bead(tmp_path: Path) -> None:
    who = write_runtime(tmp_path, PORTS)._replace(birth="another-boot:1")
    assert not runtime.is_running(who)


def test_the_file_of_a_later_bead_is_not_removed(tmp_path: Path) -> None:
    earlier = write_runtime(tmp_path, PORTS)
    later = write_runtime(tmp_path, {**PORTS, "proxy": 18602})
    runtime.remove(str(tmp_path), earlier)
    assert runtime.read(str(tmp_path)) == later
    runtime.remove(str(tmp_path), later)
    assert runtime.read(str(tmp_path)) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"home_id": 1, "ports": 3}'])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "runtime.json").write_text(text)
    with pytest.raises(HomeUnusable, match=r"runtime\.json"):
        runtime.read(str(tmp_path))
