"""`bead up` from outside: other names, pages, people and tokens; what tests/docker asks of containers."""

import asyncio
import http.client
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bead.bus.guard import scoped_token
from tests.e2e.bead_process import SERVICES, Machine
from tests.fakes.upstream import FakeUpstream

pytestmark = pytest.mark.e2e

NOBODY = 65_534
READS = ("/", "/v1/facts", "/v1/messages", "/api/store/v1/facts", "/v1/vault/identity", "/metrics")
VERBS = ("GET", "POST", "PUT", "DELETE", "OPTIONS")
REFUSED = {400, 401, 403, 404, 405, 421}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    machine = Machine(tmp_path_factory.mktemp("machine"))
    machine.up()
    machine.json("write", "user/editor", "helix, by Quetzalcoatlus")
    yield machine
    machine.end()


def status(port: int, method: str, path: str, headers: dict[str, str]) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path, body=b"{}" if method in ("POST", "PUT") else None, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("service", SERVICES)
def test_what_only_a_page_or_a_rebound_name_sends_gets_nothing(running: Machine, service: str) -> None:
    port = running.ports[service]
    own = f"127.0.0.1:{port}"
    for headers in (
        {"Host": f"rebind.example:{port}"},
        {"Host": f"127.0.0.1.nip.example:{port}"},
        {"Host": own, "Origin": "https://evil.example"},
        {"Host": own, "Origin": "null"},
        {"Host": own, "Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"},
    ):
        for path in READS:
            for method in VERBS:
                code, body = status(port, method, path, headers)
                assert code in REFUSED, (service, method, path, headers)
                assert b"Quetzalcoatlus" not in body


@pytest.mark.parametrize("service", sorted({*SERVICES} - {"proxy", "curate"}))
def test_no_token_a_wrong_one_and_another_service_s_open_nothing_of_theirs(running: Machine, service: str) -> None:
    secret = (running.home / "tokens" / "bus").read_text().strip()
    port = running.ports[service]
    for token in (
        "",
        "wrong",
        secret[:-1],
        scoped_token(secret, "stranger"),
        (running.home / "tokens/admin").read_text(),
    ):
        code, _ = status(port, "GET", "/v1/facts", {"Authorization": f"Bearer {token.strip()}"})
        assert code == 401
    code, _ = status(port, "POST", "/v1/forget", {"Authorization": f"Bearer {scoped_token(secret, 'proxy')}"})
    assert code in (401, 403)


def test_everything_below_the_home_is_the_person_s_alone(running: Machine) -> None:
    found = [mode for path in (running.home, *running.home.rglob("*")) if (mode := mode_of(path)) is not None]
    assert len(found) > 10
    assert {stat.S_IMODE(mode) & 0o077 for mode in found if not stat.S_ISLNK(mode)} == {0}


def mode_of(path: Path) -> int | None:
    """None when the running bead removed it since it was listed."""
    try:
        return path.lstat().st_mode
    except FileNotFoundError:
        return None


def target_of(descriptor: Path) -> str:
    """Where a descriptor leads; empty when it was closed since it was listed, which no listening socket is."""
    try:
        return os.readlink(descriptor)
    except FileNotFoundError:
        return ""


def test_it_listens_on_loopback_and_nowhere_else(running: Machine) -> None:
    [process] = running.started
    inodes = {
        target.removeprefix("socket:[").removesuffix("]")
        for path in Path(f"/proc/{process.pid}/fd").iterdir()
        if (target := target_of(path)).startswith("socket:[")
    }
    listening: dict[int, str] = {}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{process.pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                address, port = fields[1].split(":")
                listening[int(port, 16)] = address
    assert set(listening) == set(running.ports.values())
    assert set(listening.values()) == {socket.inet_aton("127.0.0.1")[::-1].hex().upper()}


ANOTHER = """
import encodings.idna, http.client, os, sys
home, other, *ports = sys.argv[1:]
os.setgroups([])
os.setgid(int(other))
os.setuid(int(other))
try:
    os.listdir(home)
    print("read")
except PermissionError:
    print("denied")
for port in ports:
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=10)
    connection.request("POST", "/v1/messages", body=b"{}", headers={"content-type": "application/json"})
    print(connection.getresponse().status)
"""


def test_another_person_on_this_machine_reads_nothing_and_is_answered_by_nobody(running: Machine) -> None:
    ports = [str(port) for port in running.ports.values()]
    command = [sys.executable, "-c", ANOTHER, str(running.home), str(NOBODY), *ports]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    first, *codes = done.stdout.split()
    assert first == "denied"
    assert len(codes) == len(ports)
    assert {int(code) for code in codes} <= REFUSED


async def test_the_login_reaches_the_provider_and_is_nowhere_else(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    key = "-".join(("sk", "ant", "Quetzalcoatlus0123456789abcdef"))
    async with FakeUpstream() as upstream:
        try:
            machine.up(BEAD_PROXY__UPSTREAM__ANTHROPIC=upstream.url)
            token = (machine.home / "tokens" / "proxy").read_text().strip()
            send = (
                "import http.client, sys\n"
                "c = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]), timeout=20)\n"
                "c.request('POST', sys.argv[2], body=sys.argv[4].encode(), headers={'x-api-key': sys.argv[3], "
                "'content-type': 'application/json'})\n"
                "print(c.getresponse().status)\n"
            )
            body = '{"model": "m", "max_tokens": 8, "messages": [{"role": "user", "content": "hello"}]}'
            arguments = [str(machine.ports["proxy"]), f"/t/{token}/v1/messages", key, body]
            asked = await asyncio.create_subprocess_exec(sys.executable, "-c", send, *arguments, stdout=subprocess.PIPE)
            out, _ = await asked.communicate()
            assert out.strip() == b"200"
            [request] = await upstream.wait_for(1)
            assert ("x-api-key", key) in [(name.lower(), value) for name, value in request.headers]
        finally:
            machine.end()
    assert [path for path in machine.home.rglob("*") if path.is_file() and b"Quetzalcoatlus" in path.read_bytes()] == []
