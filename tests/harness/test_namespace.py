"""The namespace lets nothing out, lets its own processes meet, and leaves none of them behind."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.namespace import LoopbackNamespace, NotReady, clean_environment
from tests.harness.records import Records

pytestmark = pytest.mark.e2e

CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=3)"


def python_in(
    namespace: LoopbackNamespace, folder: Path, code: str, *arguments: str, timeout_s: float = 20
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return namespace.run(command, environment=clean_environment(folder), folder=folder, timeout_s=timeout_s)


def test_a_listener_of_the_machine_cannot_be_reached_from_inside(namespace: LoopbackNamespace, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        subprocess.run([sys.executable, "-c", CONNECT, "127.0.0.1", str(port)], check=True)

        inside = python_in(namespace, tmp_path, CONNECT, "127.0.0.1", str(port))

    assert "ConnectionRefusedError" in inside.stderr


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1"])
def test_no_address_but_loopback_has_a_route(namespace: LoopbackNamespace, tmp_path: Path, address: str) -> None:
    """Addresses that are reserved for documentation: nothing could be reached even with a network."""
    assert "Network is unreachable" in python_in(namespace, tmp_path, CONNECT, address, "80").stderr


def test_there_is_no_interface_but_loopback(namespace: LoopbackNamespace, tmp_path: Path) -> None:
    listed = python_in(namespace, tmp_path, "import socket; print([name for _, name in socket.if_nameindex()])")

    assert listed.stdout == "['lo']\n"


def test_processes_in_the_namespace_meet_and_the_test_sees_their_requests(
    namespace: LoopbackNamespace, provider: Records, tmp_path: Path
) -> None:
    ask = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1], sys.argv[2].encode()).read())"

    answer = python_in(namespace, tmp_path, ask, "http://127.0.0.1:8080/v1/messages", '{"messages": []}')

    assert "FAKE-ANSWER" in answer.stdout
    assert [record.body for record in provider.wait_for(1)] == [b'{"messages": []}']


def test_the_environment_inside_is_only_what_was_given(
    namespace: LoopbackNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of the machine")

    names = python_in(namespace, tmp_path, "import os; print(*os.environ)").stdout.split()

    assert set(names) - {"LC_CTYPE"} == set(clean_environment(tmp_path))


def test_a_process_that_takes_too_long_is_killed_with_its_children(
    namespace: LoopbackNamespace, tmp_path: Path
) -> None:
    linger = "import subprocess; subprocess.run(['sleep', '60'])"

    with pytest.raises(subprocess.TimeoutExpired):
        python_in(namespace, tmp_path, linger, timeout_s=0.5)

    wait_until(lambda: len(namespace.pids()) == 1)


def test_nothing_is_left_when_the_namespace_ends_not_even_a_daemon(tmp_path: Path) -> None:
    detach = "import subprocess; print(subprocess.Popen(['sleep', '60'], start_new_session=True).pid)"
    with LoopbackNamespace() as namespace:
        namespace.start_fake_upstream(tmp_path / "provider")
        daemon = int(python_in(namespace, tmp_path, detach).stdout)
        pids = namespace.pids()

    assert daemon in pids
    assert len(pids) == 3
    assert not [pid for pid in pids if is_running(pid)]


def test_a_started_process_that_ends_early_is_an_error_at_once(namespace: LoopbackNamespace, tmp_path: Path) -> None:
    with pytest.raises(NotReady, match="code 3"):
        namespace.start(
            [sys.executable, "-c", "raise SystemExit(3)"],
            environment=clean_environment(tmp_path),
            folder=tmp_path,
            log=tmp_path / "log",
            ready="never",
        )


def test_a_started_process_can_be_killed_and_tells_how_it_ended(namespace: LoopbackNamespace, tmp_path: Path) -> None:
    started = namespace.start_fake_upstream(tmp_path / "provider")

    assert started.stop(signal.SIGKILL) == -signal.SIGKILL


def wait_until(holds: Callable[[], bool], *, timeout_s: float = 5) -> None:
    deadline = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < deadline, f"did not hold within {timeout_s} s"
        time.sleep(0.01)  # A process dies a moment after its signal, and tells only its parent.


def is_running(pid: int) -> bool:
    """Not gone, and not just waiting to be reaped by somebody else."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # before it was opened, or before it was read
        return False
    return state != "Z" and os.path.exists(f"/proc/{pid}")
