"""A network namespace with nothing but loopback, and processes inside it.

What runs inside and what it says is its caller's business. Linux and root only: `unshare`, `ip`, `nsenter`, `setpriv`.
"""

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Self

REPOSITORY = Path(__file__).resolve().parents[2]
_TOOLS = ("unshare", "nsenter", "setpriv", "ip", "sh", "cat")
# The holder ends when its input does, so a killed pytest leaves no namespace behind.
_HOLD = "ip link set lo up && echo ready && exec cat"


class NamespaceUnavailable(RuntimeError):
    """This machine cannot make a network namespace; the text says what is missing."""


class NotReady(RuntimeError):
    """A started process ended, or said nothing in time, before it was ready."""


class Started:
    """A process that keeps running in the namespace, as its own process group. Its output goes to `log`."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self.log = log

    @property
    def pid(self) -> int:
        return self.process.pid

    def stop(self, number: int = signal.SIGTERM, *, timeout_s: float = 10) -> int:
        """Send the signal to it alone and wait; after `timeout_s` its whole group is killed. Returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return _kill_group(self.process)


class LoopbackNamespace:
    """`with LoopbackNamespace() as namespace`: inside, 127.0.0.1 is its own and nothing else can be reached.

    On exit every process that is still in the namespace is killed, also those that what we started left behind.
    """

    def __enter__(self) -> Self:
        _require_tools()
        self._started: list[Started] = []
        self._holder = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", _HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._holder.stdout is not None
        if _read_line(self._holder.stdout, timeout_s=10) != b"ready\n":
            self._end_holder()
            raise NamespaceUnavailable("`unshare --net` or `ip link set lo up` failed; its message is above")
        self._network = _network_of(self._holder.pid)
        # On exit everything in that network is killed: it must never be the machine's own.
        assert self._network not in (None, _network_of(os.getpid())), "the holder has a network of its own"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for started in reversed(self._started):
            started.stop(timeout_s=3)
        for pid in self.pids():
            if pid != self._holder.pid:
                _kill(pid)
        self._end_holder()

    def run(
        self,
        command: Sequence[str | Path],
        *,
        environment: Mapping[str, str],
        folder: Path,
        timeout_s: float,
        stdin: str = "",
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end with exactly that environment; input is `stdin`, then closed.

        Raises:
            subprocess.TimeoutExpired: its whole process group has been killed.
        """
        # Files, not pipes: a daemon that the command leaves behind would keep a pipe open, and us waiting.
        with TemporaryFile("w+") as given, TemporaryFile("w+") as out, TemporaryFile("w+") as err:
            given.write(stdin)
            given.seek(0)
            process = subprocess.Popen(
                self._inside(command),
                env=dict(environment),
                cwd=folder,
                stdin=given,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            try:
                code = process.wait(timeout_s)
            except BaseException:
                _kill_group(process)
                raise
            return subprocess.CompletedProcess(list(command), code, _content(out), _content(err))

    def start(
        self,
        command: Sequence[str | Path],
        *,
        environment: Mapping[str, str],
        folder: Path,
        log: Path,
        ready: str,
        timeout_s: float = 20,
    ) -> Started:
        """Start a process that stays, and return once its output has a line that contains `ready`.

        Raises:
            NotReady: it ended or the time passed; `log` has what it said.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as output:
            process = subprocess.Popen(
                self._inside(command),
                env=dict(environment),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        started = Started(process, log)
        self._started.append(started)
        _wait_for_line(started, ready, timeout_s)
        return started

    def start_fake_upstream(self, out: Path, *, port: int = 8080) -> Started:
        """The fake provider on that port in here, recording into `out` (read it with `records.Records`)."""
        return self.start(
            [sys.executable, "-m", "tests.fakes.upstream", "--port", str(port), "--out", out],
            environment=clean_environment(out),
            folder=REPOSITORY,
            log=out.with_name(out.name + ".log"),
            ready="listening on",
        )

    def pids(self) -> list[int]:
        """All processes in the namespace, the holder too."""
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _network_of(pid) == self._network]

    def _inside(self, command: Sequence[str | Path]) -> list[str]:
        enter = ["nsenter", f"--net=/proc/{self._holder.pid}/ns/net", "--"]
        # Dies with pytest, however pytest ends.
        return [*enter, "setpriv", "--pdeathsig", "KILL", "--", *map(str, command)]

    def _end_holder(self) -> None:
        assert self._holder.stdin is not None and self._holder.stdout is not None
        self._holder.stdin.close()
        self._holder.wait(10)
        self._holder.stdout.close()


def clean_environment(home: Path, *, path: Sequence[Path] = (), **more: str) -> dict[str, str]:
    """An environment that has nothing of ours but the system's PATH, with `path` before it."""
    system_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {
        "PATH": ":".join([*map(str, path), system_path]),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "SHELL": "/bin/sh",
        **more,
    }


def _require_tools() -> None:
    if sys.platform != "linux":
        raise NamespaceUnavailable("network namespaces exist on Linux only: run these tests there, or in a container")
    if os.geteuid() != 0:
        raise NamespaceUnavailable("making a network namespace needs root: run these tests as root")
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing:
        raise NamespaceUnavailable(f"not installed: {', '.join(missing)} (packages util-linux and iproute2)")


def _read_line(stream: IO[bytes], *, timeout_s: float) -> bytes:
    """The first line, or b"" when there is none in that time."""
    readable, _, _ = select.select([stream], [], [], timeout_s)
    return stream.readline() if readable else b""


def _wait_for_line(started: Started, ready: str, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while ready.encode() not in started.log.read_bytes():
        if started.process.poll() is not None:
            raise NotReady(f"it ended with code {started.process.returncode} before it was ready: see {started.log}")
        if time.monotonic() > deadline:
            raise NotReady(f"no {ready!r} within {timeout_s} s: see {started.log}")
        time.sleep(0.02)  # A file has no event to wait for.


def _network_of(pid: int) -> str | None:
    """The name of a process's network namespace; None when the process is gone."""
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return None


def _content(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def _kill_group(process: subprocess.Popen[bytes]) -> int:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return process.wait(10)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
