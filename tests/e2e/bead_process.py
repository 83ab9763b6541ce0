"""`bead` as processes: a home of its own, free ports, waiting for the line that says it is ready."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from typing import Any

SERVICES = ("store", "index", "dream", "curate", "scheduler", "proxy")
READY_LINE = b"or: bead wrap claude\n"
LIMIT_S = 60.0


@dataclass
class Machine:
    """One person's machine: HOME, ports, and the bead processes that a test started on it."""

    root: Path
    ports: dict[str, int] = field(default_factory=lambda: dict(zip(SERVICES, free_ports(len(SERVICES)), strict=True)))
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def home(self) -> Path:
        """bead's home."""
        return self.root / ".bead"

    @property
    def environ(self) -> dict[str, str]:
        """No agent, no settings but our ports."""
        ports = {f"BEAD_{name.upper()}__PORT": str(port) for name, port in self.ports.items()}
        return {"PATH": os.environ["PATH"], "HOME": str(self.root), **ports}

    def start(self, *argv: str, **environ: str) -> subprocess.Popen[bytes]:
        """`bead ARGV` in the background; the caller waits for what it needs."""
        process = subprocess.Popen(
            [sys.executable, "-m", "bead_cli", *argv],
            env=self.environ | environ,
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.started.append(process)
        return process

    def up(self, **environ: str) -> subprocess.Popen[bytes]:
        """`bead up`, ready."""
        process = self.start("up", **environ)
        read_until(process, READY_LINE)
        return process

    def run(self, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Any `bead` command, to its end."""
        return self.run_in(self.root, *argv, **environ)

    def run_in(self, folder: Path, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """The same, typed in another folder than the person's home."""
        return subprocess.run(
            [sys.executable, "-m", "bead_cli", *argv],
            env=self.environ | environ,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )

    def json(self, *argv: str) -> Any:
        """The document of a command that succeeds."""
        done = self.run(*argv, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def health(self, service: str) -> Any:
        """The health document of a service's own port."""
        path = "/bead/health" if service == "proxy" else "/health"
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[service]}{path}", timeout=5) as answer:
            return json.load(answer)

    def end(self) -> None:
        """End what was started, by pid."""
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.communicate()


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that were free a moment ago."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()


def read_until(process: subprocess.Popen[bytes], line: bytes) -> bytes:
    """What the process has printed up to `line`; fails with all of it when it ends or says nothing for too long."""
    assert process.stdout is not None
    until, seen = time.monotonic() + LIMIT_S, b""
    while line not in seen:
        ready, _, _ = select([process.stdout], [], [], max(0.0, until - time.monotonic()))
        part = os.read(process.stdout.fileno(), 65_536) if ready else b""
        assert part, f"no {line!r} in what it printed:\n{seen.decode()}"
        seen += part
    return seen
