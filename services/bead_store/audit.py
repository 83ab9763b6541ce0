"""The audit log: what was done to which fact, in lines chained by hashes. Ids, verbs and numbers, never key or text.

Each line is JSON and ends with `prev`, the hash of the line before it, so that a removed or changed line shows.
"""

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from bead.wire.store import AuditReport
from bead_store import files
from bead_store.header import moment_text

GENESIS = "0" * 64
_TAIL_BYTES = 64 << 10


class Audit:
    """Appends to one log; its owner calls it from one lane."""

    def __init__(self, path: Path, disk: files.Disk, now: Callable[[], datetime]) -> None:
        self._path = path
        self._disk = disk
        self._now = now
        self._last: str | None = None

    def record(self, verb: str, uid: str, **numbers: int | str) -> None:
        """Add a line; it survives the death of the process, and is synced with the next group."""
        if self._last is None:
            self._last = self._open()
        line = json.dumps(
            {"at": str(moment_text(self._now())), "verb": verb, "what": uid, **numbers, "prev": self._last},
            ensure_ascii=True,
        )
        self._last = None  # after a failure the file's end is looked at again
        self._disk.append(self._path, f"{line}\n".encode())
        self._last = line_hash(line)

    def verify(self) -> AuditReport:
        """Read the whole log; usable from any thread."""
        try:
            with self._path.open(encoding="ascii", errors="replace", newline="\n") as log:
                lines, bad = checked(line for line in log if line.endswith("\n"))
        except FileNotFoundError:
            lines, bad = 0, None
        return AuditReport(lines=lines, first_bad_line=bad)

    def _open(self) -> str:
        """Hash of the last whole line; a torn one behind it was never acknowledged and is cut."""
        try:
            size = self._path.stat().st_size
        except FileNotFoundError:
            return GENESIS
        with self._path.open("rb") as log:
            log.seek(max(0, size - _TAIL_BYTES))
            tail = log.read()
        whole, newline, torn = tail.rpartition(b"\n")
        if torn:
            self._disk.truncate(self._path, size - len(torn))
        return line_hash(whole.rpartition(b"\n")[2].decode("ascii", "replace")) if newline else GENESIS


def line_hash(line: str) -> str:
    """What the next line's `prev` says about this one."""
    return sha256(line.encode("ascii", "replace")).hexdigest()


def first_broken_line(text: str) -> int | None:
    """Number of the first line whose `prev` is not the hash of the line before it; None when the chain holds."""
    return checked(text.splitlines())[1]


def checked(lines: Iterable[str]) -> tuple[int, int | None]:
    """How many lines there are, and the first that does not follow the one before it.

    What was cut off at the end cannot be seen: nothing follows it that could tell.
    """
    expected = GENESIS
    count = 0
    bad: int | None = None
    for count, line in enumerate(lines, 1):
        text = line.removesuffix("\n")
        if bad is None and _previous(text) != expected:
            bad = count
        expected = line_hash(text)
    return count, bad


def _previous(line: str) -> str | None:
    try:
        found = json.loads(line)["prev"]
    except (ValueError, TypeError, KeyError):
        return None
    return str(found)
