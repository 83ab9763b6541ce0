"""The audit log: what was done to which fact, in lines chained by hashes. Ids, verbs and numbers, never key or text.

Each line is JSON and ends with `prev`, the hash of the line before it, so that a removed or changed line shows. A full
`audit.log` becomes `audit.<n>.log`, and the chain goes on in a new one; of those the newest are kept (I17).
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from bead.wire.store import AuditReport
from bead_store import files
from bead_store.disk import Disk
from bead_store.header import moment_text

GENESIS = "0" * 64
MAX_BYTES = 8 << 20
"""Of one file; some forty thousand lines."""
MAX_FULL = 24
"""Full files that are kept."""
_FULL = re.compile(r"audit\.([1-9][0-9]{0,8})\.log\Z")
_TAIL_BYTES = 64 << 10


class Audit:
    """Appends to one log; its owner calls it from one lane."""

    def __init__(self, path: Path, disk: Disk, now: Callable[[], datetime], max_bytes: int = MAX_BYTES) -> None:
        self._path = path
        self._disk = disk
        self._now = now
        self._max_bytes = max_bytes
        self._last: str | None = None
        self._size = 0

    def record(self, verb: str, uid: str, **numbers: int | str) -> None:
        """Add a line; it survives the death of the process, and is synced with the next group."""
        if self._last is None:
            self._last = self._open()
        if self._size >= self._max_bytes:
            self._begin_another()
        line = json.dumps(
            {"at": str(moment_text(self._now())), "verb": verb, "what": uid, **numbers, "prev": self._last},
            ensure_ascii=True,
        )
        self._last = None  # after a failure the file's end is looked at again
        self._disk.append(self._path, f"{line}\n".encode())
        self._last = line_hash(line)
        self._size += len(line) + 1

    def verify(self) -> AuditReport:
        """Read the whole log; usable from any thread."""
        full = full_files(self._path)
        # Of what was dropped nothing is left that the first line could follow.
        begins_anywhere = bool(full) and _number(full[0]) > 1
        lines, bad = checked(lines_of(self._path), None if begins_anywhere else GENESIS)
        return AuditReport(lines=lines, first_bad_line=bad)

    def _begin_another(self) -> None:
        """The full file gets a number; the chain goes on behind it."""
        full = full_files(self._path)
        self._disk.sync_appended()
        self._disk.move(self._path, self._path.with_name(f"audit.{_number(full[-1]) + 1 if full else 1}.log"))
        for path in full[: len(full) + 1 - MAX_FULL]:
            self._disk.remove(path)
        self._size = 0

    def _open(self) -> str:
        """Hash of the last whole line; a torn one behind it was never acknowledged and is cut."""
        whole, torn = _tail(self._path)
        self._size = self._path.stat().st_size - torn if self._path.exists() else 0
        if torn:
            self._disk.truncate(self._path, self._size)
        full = full_files(self._path)
        if whole is None and full:
            whole, _ = _tail(full[-1])
        return GENESIS if whole is None else line_hash(whole)


def full_files(path: Path) -> list[Path]:
    """The full files beside the log at `path`, oldest first."""
    found = [path.with_name(name) for name in files.names_in(path.parent) if _FULL.match(name)]
    return sorted(found, key=_number)


def lines_of(path: Path) -> Iterator[str]:
    """Every whole line of the log at `path`, oldest first, full files included."""
    for each in (*full_files(path), path):
        try:
            with each.open(encoding="ascii", errors="replace", newline="\n") as log:
                yield from (line for line in log if line.endswith("\n"))
        except FileNotFoundError:
            continue


def line_hash(line: str) -> str:
    """What the next line's `prev` says about this one."""
    return sha256(line.encode("ascii", "replace")).hexdigest()


def first_broken_line(text: str) -> int | None:
    """Number of the first line whose `prev` is not the hash of the line before it; None when the chain holds."""
    return checked(text.splitlines())[1]


def checked(lines: Iterable[str], start: str | None = GENESIS) -> tuple[int, int | None]:
    """How many lines there are, and the first that does not follow the one before it.

    `start` is what the first line follows; None when that is not known any more.

    What was cut off at the end cannot be seen: nothing follows it that could tell.
    """
    expected = start
    count = 0
    bad: int | None = None
    for count, line in enumerate(lines, 1):
        text = line.removesuffix("\n")
        if bad is None and (expected is not None or count > 1) and _previous(text) != expected:
            bad = count
        expected = line_hash(text)
    return count, bad


def _tail(path: Path) -> tuple[str | None, int]:
    """The last whole line (None when there is none), and the bytes of a torn one behind it."""
    try:
        size = path.stat().st_size
        with path.open("rb") as log:
            log.seek(max(0, size - _TAIL_BYTES))
            tail = log.read()
    except FileNotFoundError:
        return None, 0
    whole, newline, torn = tail.rpartition(b"\n")
    return whole.rpartition(b"\n")[2].decode("ascii", "replace") if newline else None, len(torn)


def _number(path: Path) -> int:
    match = _FULL.match(path.name)
    return int(match[1]) if match else 0


def _previous(line: str) -> str | None:
    try:
        found = json.loads(line)["prev"]
    except (ValueError, TypeError, KeyError):
        return None
    return str(found)
