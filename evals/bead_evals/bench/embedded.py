"""bead as a bench target: `bead up` in a throw-away home, with facts in its store.

Speaks to bead only through its public doors: command line, environment, health route, the store's write route.
"""

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import aiohttp

from bead_evals.bench.failures import BenchFailed
from bead_evals.bench.targets import MESSAGES_PATH, Target, environment_without, stop
from bead_evals.bench.topics import TOPICS

SERVICES = ("STORE", "INDEX", "PROXY", "DREAM", "CURATE", "SCHEDULER")
READY_LIMIT_S = 60.0
SEED_LIMIT_S = 600.0
INJECTION_LIMIT_S = 20.0
_POLL_S = 0.05
_WRITERS = 8
_LOG_LINES = 20


@contextmanager
def bead(
    upstream: str, facts: int, say: Callable[[str], None], command: Sequence[str] = (sys.executable, "-m", "bead_cli")
) -> Iterator[Target]:
    """Run bead before `upstream` with `facts` facts; yields it ready to serve and removes every trace afterwards.

    `command` is the `bead` command; tests name a stand-in.

    Raises BenchFailed (exit code 3) when it does not get ready, with the end of its log.
    """
    with tempfile.TemporaryDirectory(prefix="bead-bench-") as folder:
        home, log = Path(folder) / "home", Path(folder) / "bead.log"
        ports = dict(zip(SERVICES, free_ports(len(SERVICES)), strict=True))
        say("starting bead")
        with log.open("wb") as log_file:
            process = subprocess.Popen(
                [*command, "up", "--home", str(home)],
                stdin=subprocess.DEVNULL,
                stdout=log_file,
                stderr=subprocess.STDOUT,
                env=bead_environment(Path(folder), ports, upstream),
                start_new_session=True,
            )
        try:
            _wait_ready(process, ports["PROXY"], log)
            say(f"storing {facts} facts")
            asyncio.run(seed(f"http://127.0.0.1:{ports['STORE']}", _token(home, "bus"), facts))
            url = f"http://127.0.0.1:{ports['PROXY']}/t/{_token(home, 'proxy')}{MESSAGES_PATH}"
            yield Target("bead", url, process.pid, injects_memory=True)
        finally:
            process.send_signal(signal.SIGTERM)
            stop(process)
            _end_left_overs(process.pid)


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that were free a moment ago."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()


async def seed(store: str, token: str, count: int) -> None:
    """Write `count` facts through the store's own route. Raises BenchFailed when one is refused."""
    waiting = iter(seed_facts(count))
    timeout = aiohttp.ClientTimeout(total=SEED_LIMIT_S)
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}, timeout=timeout) as session:

        async def write() -> None:
            for fact in waiting:
                async with session.post(f"{store}/v1/facts", json=fact) as answer:
                    if answer.status >= 300:
                        raise BenchFailed(f"the store answered {answer.status} to the seeded fact {fact['key']}")

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(_WRITERS):
                    group.create_task(write())
        except* (BenchFailed, aiohttp.ClientError, TimeoutError) as trouble:
            raise BenchFailed(f"seeding the store failed: {trouble.exceptions[0]}", exit_code=3) from trouble


def seed_facts(count: int) -> Iterator[dict[str, object]]:
    """The topics that prompts ask about, then made-up reference facts up to `count`."""
    for topic in TOPICS[:count]:
        fact: dict[str, object] = {"key": topic.key, "body": topic.fact, "type": topic.type, "trust": "user_stated"}
        yield {**fact, "when": {"say": list(topic.say)}}
    rng = random.Random(42)
    for number in range(len(TOPICS), count):
        service, team = f"svc-{number:05d}", rng.choice(("amber", "cobalt", "jade", "slate"))
        port, cluster = rng.randint(1024, 65535), rng.randint(1, 99)
        body = f"Service {service} listens on port {port}; team {team} runs it on cluster {cluster}."
        yield {"key": f"global/{service}", "body": body, "type": "reference", "trust": "agent_observed"}


def bead_environment(folder: Path, ports: dict[str, int], upstream: str) -> dict[str, str]:
    """Ours without settings of another bead, of an agent around us, and of malloc: bead must tune itself."""
    person = folder / "person"
    person.mkdir()
    return {
        **environment_without("BEAD_", "MALLOC_", "CLAUDE", "CODEX_", "GEMINI_", "XDG_"),
        **{f"BEAD_{service}__PORT": str(port) for service, port in ports.items()},
        "BEAD_PROXY__UPSTREAM__ANTHROPIC": upstream,
        "HOME": str(person),
    }


def _wait_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + READY_LIMIT_S
    while time.monotonic() < until:
        if process.poll() is not None:
            raise BenchFailed(
                f"bead ended with exit code {process.returncode} at its start\n{_end_of(log)}", exit_code=3
            )
        if _is_ready(port):
            return
        time.sleep(_POLL_S)
    raise BenchFailed(f"bead was not ready within {READY_LIMIT_S:.0f} s\n{_end_of(log)}", exit_code=3)


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/bead/health", timeout=2) as answer:
            return json.load(answer).get("ready") is True
    except (urllib.error.URLError, OSError, ValueError):
        return False


def _token(home: Path, name: str) -> str:
    return (home / "tokens" / name).read_text().strip()


def _end_of(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-_LOG_LINES:])


def _end_left_overs(group: int) -> None:
    """End what bead left running in the session that we made for it."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
