"""The stack in trouble: each container killed under load, a full disk, a wrong uid, another bead's home."""

import json
import subprocess
import sys
import threading
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any

import pytest

from tests.docker.conftest import PROXY_PORT, Stack, call

pytestmark = pytest.mark.docker

LIMIT_S = 60
BROKEN_OFF = (OSError, HTTPException)
"""How a request ends whose server is killed: before an answer, or in the middle of one."""


@dataclass
class Load:
    """What was asked while something died: acknowledged writes, and model requests with the time they ended."""

    written: dict[str, str] = field(default_factory=dict)
    failed: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)


@contextmanager
def load(stack: Stack) -> Iterator[Load]:
    """Model requests and writes, one after the other, for as long as the block runs."""
    found, stop = Load(), threading.Event()
    token = stack.inside("proxy", "cat", "/tokens/proxy/proxy").strip()
    stack.curate("GET", "/health")

    def ask_models() -> None:
        body = {"model": "m", "max_tokens": 8, "messages": [{"role": "user", "content": "hello"}]}
        while not stop.is_set():
            headers = {"content-type": "application/json", "x-claude-code-session-id": str(uuid.uuid4())}
            try:
                status, _ = call(f"http://127.0.0.1:{PROXY_PORT}/t/{token}/v1/messages", "POST", body, headers)
            except BROKEN_OFF:
                status = 0
            (found.answered if status == 200 else found.failed).append(time.monotonic())
            stop.wait(0.02)

    def write_facts() -> None:
        while not stop.is_set():
            key, value = f"user/load-{uuid.uuid4().hex[:12]}", uuid.uuid4().hex
            try:
                status, answer = stack.curate(
                    "POST", "/api/store/v1/facts", {"key": key, "body": value, "trust": "user_stated"}
                )
            except BROKEN_OFF:
                continue
            if status in (200, 201) and isinstance(answer, dict):
                found.written[key] = value
            stop.wait(0.02)

    threads = [threading.Thread(target=each) for each in (ask_models, write_facts)]
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        stop.set()
        for thread in threads:
            thread.join(LIMIT_S)


def kill(stack: Stack, service: str) -> None:
    """SIGKILL from the host, as the kernel does when memory ends; `docker kill` would not start it again."""
    name = stack.services()[service]["Name"]
    state = stack.shell(f"docker inspect -f '{{{{.State.Pid}}}} {{{{.RestartCount}}}}' {name}").split()
    stack.shell(f"kill -9 {int(state[0])}")
    deadline = time.monotonic() + LIMIT_S
    while stack.shell(f"docker inspect -f '{{{{.RestartCount}}}}' {name}").strip() == state[1]:
        assert time.monotonic() < deadline, f"{service} was not started again"


@pytest.mark.parametrize("service", ["store", "index", "dream", "scheduler", "curate"])
def test_killed_container_loses_no_acknowledged_write_and_fails_no_model_request(stack: Stack, service: str) -> None:
    with load(stack) as found:
        kill(stack, service)
        stack.wait_until_healthy(service)
        before = len(found.written)
        deadline = time.monotonic() + LIMIT_S
        while len(found.written) < before + 3:
            assert time.monotonic() < deadline, "nothing is written any more"

    assert found.answered
    assert found.failed == []
    assert lost(stack, found) == []


def test_killed_proxy_fails_requests_only_while_it_starts(stack: Stack) -> None:
    with load(stack) as found:
        died = time.monotonic()
        kill(stack, "proxy")
        stack.shell("docker compose restart -t 0 upstream")  # it lives in the proxy's network
        stack.wait_until_healthy("proxy")
        back = time.monotonic()
        deadline = back + LIMIT_S
        while not [each for each in found.answered if each > back]:
            assert time.monotonic() < deadline, "no model request is answered any more"

    assert [each for each in found.failed if not died <= each <= back + 2] == []
    assert lost(stack, found) == []


def lost(stack: Stack, found: Load) -> list[str]:
    """Acknowledged writes that are not there."""
    assert found.written
    return [key for key, value in found.written.items() if body_of(stack, key) != value]


def body_of(stack: Stack, key: str) -> Any:
    status, fact = stack.curate("GET", f"/api/store/v1/facts/{key.replace('/', '%2F')}")
    return fact["body"] if status == 200 else None


def docker(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, timeout=LIMIT_S)


def test_wrong_uid_is_told_in_one_line(stack: Stack) -> None:
    volume = f"{stack.environ['COMPOSE_PROJECT_NAME']}_home"
    done = docker("run", "--rm", "--user", "12345:12345", "-v", f"{volume}:/data", "bead:local", "serve", "store")
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1
    assert "BEAD_UID=10001" in done.stderr


@pytest.fixture
def small(stack: Stack) -> Iterator[str]:
    """A bead whose home is a disk of four megabytes."""
    disk = "/data:rw,size=4m,uid=10001,gid=10001,mode=700"
    made = docker("run", "-d", "--read-only", "--tmpfs", "/tmp", "--tmpfs", disk, "bead:local", "serve", "store")
    name = made.stdout.strip()
    assert made.returncode == 0, made.stderr
    try:
        deadline = time.monotonic() + LIMIT_S
        while docker("exec", name, "bead", "serve", "store", "--check").returncode != 0:
            assert time.monotonic() < deadline, docker("logs", name).stderr
        yield name
    finally:
        docker("rm", "-f", name)


WRITE = """
import json, sys, urllib.error, urllib.request
from bead.bus.guard import scoped_token
secret = open("/data/tokens/bus").read().strip()
key, body = sys.argv[1:3]
headers = {"authorization": "Bearer " + secret, "content-type": "application/json"}
def ask(method, path, document=None):
    data = None if document is None else json.dumps(document).encode()
    request = urllib.request.Request("http://127.0.0.1:7071" + path, data, headers, method=method)
    try:
        return json.load(urllib.request.urlopen(request, timeout=20))
    except urllib.error.HTTPError as error:
        return json.load(error)
if body:
    print(json.dumps(ask("POST", "/v1/facts", {"key": key, "body": body, "trust": "user_stated"})))
else:
    print(json.dumps([ask("GET", "/v1/facts/" + key.replace("/", "%2F")), ask("GET", "/health")]))
"""


def test_full_disk_refuses_plainly_keeps_what_was_there_and_works_again(small: str) -> None:
    def bead(key: str, body: str = "") -> Any:
        done = docker("exec", small, "python3", "-c", WRITE, key, body)
        return json.loads(done.stdout)

    bead("user/first", "there before")
    docker("exec", small, "sh", "-c", "cat /dev/zero > /data/filler")

    refused = bead("user/second", "x" * 20_000)
    kept, health = bead("user/first")

    assert refused["type"] == "urn:bead:error:unavailable"
    assert "the disk is full" in refused["detail"]
    assert kept["body"] == "there before"
    assert any("full" in words for words in health["degraded"])

    docker("exec", small, "rm", "/data/filler")
    bead("user/second", "there now")
    again, health = bead("user/second")
    assert (again["body"], health["degraded"]) == ("there now", [])


def test_the_admin_port_shows_metrics_to_its_token_only(stack: Stack) -> None:
    assert stack.curate("GET", "/metrics")[0] == 200
    assert stack.curate("GET", "/metrics", authorization="Bearer wrong")[0] == 401
    with urllib.request.urlopen(f"http://127.0.0.1:{PROXY_PORT}/bead/health", timeout=10) as answer:
        assert answer.status == 200


def test_status_and_logs_tell_of_containers_and_of_a_loop_of_restarts(stack: Stack) -> None:
    project = stack.environ["COMPOSE_PROJECT_NAME"]
    command = f"{sys.executable} -m bead_cli"
    found = json.loads(stack.shell(f"{command} status --containers --project {project} --json || true"))

    by_name = {each["service"]: each for each in found["containers"]}
    assert {"store", "index", "dream", "scheduler", "proxy", "curate"} <= set(by_name)
    assert {each["state"] for each in by_name.values()} == {"running"}
    assert "store answers on port 7071" in stack.shell(f"{command} logs --project {project} --service store")

    wrong = ["-l", f"com.docker.compose.project={project}x", "-l", "com.docker.compose.service=store"]
    loop = docker("run", "-d", "--restart", "always", *wrong, "--user", "1:1", "bead:local", "serve", "store")
    try:
        deadline = time.monotonic() + LIMIT_S
        trouble = ""
        while "started again" not in trouble:
            assert time.monotonic() < deadline, trouble
            told = json.loads(stack.shell(f"{command} status --containers --project {project}x --json || true"))
            trouble = told["containers"][0]["trouble"]
    finally:
        docker("rm", "-f", loop.stdout.strip())
