"""`runtime.json`: who serves this home now. Written when everything is ready, removed at the end.

A process that was killed leaves the file behind; `is_running` tells that from a bead that is alive.
"""

import json
import os
from typing import Any, NamedTuple

from bead.errors import HomeUnusable

_NAME = "runtime.json"


LOOPBACK = "127.0.0.1"


class Place(NamedTuple):
    """Where one service listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"


class Runtime(NamedTuple):
    """`pid` is None when the services run in containers; `birth` tells the process from a later one with its pid.

    `hosts` names only those services that listen on another address than 127.0.0.1.
    """

    home_id: str
    version: str
    started: str
    ports: dict[str, int]
    pid: int | None
    birth: str | None
    hosts: dict[str, str] = {}  # noqa: RUF012 -- a tuple's default, never changed

    def place(self, service: str) -> Place:
        """Where a service of this bead listens."""
        return Place(self.hosts.get(service, LOOPBACK), self.ports[service])


def read(home: str) -> Runtime | None:
    """Who wrote the file last, or None.

    Raises:
        HomeUnusable: the file is there but says nothing.
    """
    path = os.path.join(home, _NAME)
    try:
        with open(path, encoding="utf-8") as file:
            return _runtime(json.load(file))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise HomeUnusable(
            f"{path} cannot be read ({type(error).__name__}); if no bead runs on this home, delete it"
        ) from None


def write(home: str, runtime: Runtime) -> None:
    """Replace the file in one step, mode 0600.

    Raises:
        HomeUnusable: the home cannot be written, or the disk is full.
    """
    path = os.path.join(home, _NAME)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with open(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(runtime._asdict(), indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise HomeUnusable(f"{path} cannot be written ({error.strerror})") from None


def remove(home: str, runtime: Runtime) -> None:
    """Remove the file if it still names this runtime."""
    try:
        if read(home) == runtime:
            os.unlink(os.path.join(home, _NAME))
    except (FileNotFoundError, HomeUnusable):
        return


def is_running(runtime: Runtime) -> bool:
    """Whether the process it names is alive; containers are taken at their word, only an answer can tell."""
    if runtime.pid is None:
        return True
    try:
        os.kill(runtime.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return runtime.birth is None or birth_of(runtime.pid) == runtime.birth


def birth_of(pid: int) -> str | None:
    """When the kernel started this process (Linux: boot id and ticks since boot); None where it does not say."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            # The command name, in parentheses, may hold anything; the 20th field after it is the start time.
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    # A zombie is dead: nobody has collected its exit code yet.
    return None if fields[0] in "ZX" else f"{boot}:{fields[19]}"


def _runtime(document: Any) -> Runtime:
    ports = {str(name): int(port) for name, port in document["ports"].items()}
    pid = document["pid"]
    return Runtime(
        str(document["home_id"]),
        str(document["version"]),
        str(document["started"]),
        ports,
        None if pid is None else int(pid),
        document["birth"],
        {str(name): str(host) for name, host in document.get("hosts", {}).items()},
    )
