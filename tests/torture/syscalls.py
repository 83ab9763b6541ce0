"""strace around a child: which calls it makes on its home, and one of them made to fail or to be its last."""

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

MUTATING = (
    "openat,open,creat,write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync,sync_file_range,syncfs,"
    "rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,mkdir,mkdirat,"
    "ftruncate,truncate,fallocate,copy_file_range,sendfile,chmod,fchmod,fchmodat,close"
)
SYNCS = frozenset({"fsync", "fdatasync"})
"""Not syncfs: it tells of anybody's files, so that one which fails is followed by an fsync of each of the home's."""
_LINE = re.compile(r"(?:\d+ +)?(?P<name>\w+)\((?P<arguments>.*?)(?:\) += |\) *$| <unfinished|$)")
_PIPE = re.compile(r"^\d+<pipe:")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_DESCRIPTOR = re.compile(r"^\d+<([^>]*)>")
_OPENED = re.compile(r"\) += (\d+)<")
_RANDOM = re.compile(r"[0-9a-f]{16,}")


class Call(NamedTuple):
    """One system call of a traced run."""

    name: str
    number: int
    """The how-manieth of this name it is, from 1; what strace calls `when`."""
    target: str
    """The file, relative to the home, without what is random in its name; empty for one outside of it."""
    writes: bool
    """The file may be made or written through this call's descriptor; true of every call that has none."""
    length: int
    """Of a write, in bytes."""
    is_told: bool
    """It writes to the pipe that acknowledgements go through."""
    at: str
    """The event that was told last before it: `begin 3` for what the step 3 did."""
    failed: bool

    @property
    def is_mutating(self) -> bool:
        """It changes the home, or lets go of a file that was written there."""
        return bool(self.target) and self.writes


class Fault(NamedTuple):
    """What happens to the call `name` number `number`."""

    name: str
    number: int
    kind: str
    """`KILL`, or the name of an errno."""
    path: str = ""
    """Only calls on this very file count, when it is given."""

    @property
    def options(self) -> list[str]:
        """For strace."""
        effect = "signal=KILL" if self.kind == "KILL" else f"error={self.kind}"
        only = ["-P", self.path] if self.path else []
        return ["-e", f"inject={self.name}:{effect}:when={self.number}", *only]


def require_strace() -> None:
    """Raise RuntimeError, with what to install, when there is no strace."""
    if shutil.which("strace") is None:
        raise RuntimeError("the crash tests need strace: apt-get install strace")


def attach(pid: int, log: Path, fault: Fault | None, *, follow: bool = True) -> "subprocess.Popen[str]":
    """strace on `pid`, and on its threads when they are to be followed, in place when this returns.

    Raises:
        RuntimeError: it could not attach; the text says why.
    """
    command = ["strace", "-y", "-s", "48", "-o", str(log), "-e", f"trace={MUTATING}", "-p", str(pid)]
    command += ["-f"] if follow else []
    command += fault.options if fault else []
    strace = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert strace.stderr is not None, "it was asked for"
    said = strace.stderr.readline()
    if "attached" not in said:
        strace.kill()
        raise RuntimeError(f"strace cannot attach (root, or ptrace_scope 0, is needed): {said.strip()}")
    return strace


def read_calls(log: Path, home: Path) -> list[Call]:
    """The calls of a traced run, in order."""
    found: list[Call] = []
    counts: Counter[str] = Counter()
    readers: set[str] = set()
    at = "start"
    for line in log.read_text(errors="replace").splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        name, arguments = match["name"], match["arguments"]
        counts[name] += 1
        writes = _writes(name, arguments, readers, line)
        is_told = name == "write" and bool(_PIPE.match(arguments)) and "kind" in arguments
        found.append(
            Call(
                name,
                counts[name],
                _target(arguments, str(home)),
                writes,
                _length(arguments) if "write" in name else 0,
                is_told,
                at,
                " = -1 " in line,
            )
        )
        if is_told:
            at = _told(arguments) or at
    return found


def _writes(name: str, arguments: str, readers: set[str], line: str) -> bool:
    """Whether the call may change a file; keeps in `readers` the descriptors that were opened for reading only."""
    if name in ("open", "openat"):
        is_reader = "O_RDONLY" in arguments
        opened = _OPENED.search(line)
        if opened:
            (readers.add if is_reader else readers.discard)(opened[1])
        return not is_reader
    return name != "close" or arguments.partition("<")[0] not in readers


def was_injected(log: Path) -> bool:
    """Whether the fault met its call."""
    text = log.read_text(errors="replace")
    return "(INJECTED)" in text or "+++ killed by SIGKILL +++" in text


def _target(arguments: str, home: str) -> str:
    names = [*_DESCRIPTOR.findall(arguments), *_QUOTED.findall(arguments)]
    inside = [name for name in names if name == home or name.startswith(f"{home}/")]
    if not inside:
        return ""
    short = inside[-1].removeprefix(home).removesuffix(" (deleted)").lstrip("/") or "."
    return _RANDOM.sub("*", short)


def _length(arguments: str) -> int:
    last = arguments.rpartition(", ")[2]
    return int(last) if last.isdigit() else 0


def _told(arguments: str) -> str:
    """`kind step` of the event in a write to the pipe."""
    quoted = _QUOTED.search(arguments)
    if quoted is None:
        return ""
    text = quoted[1].replace('\\"', '"').replace("\\n", "")
    kind = re.search(r'"kind":"(\w+)"', text)
    step = re.search(r'"step":(\d+)', text)
    return f"{kind[1]} {step[1]}" if kind and step else kind[1] if kind else ""
