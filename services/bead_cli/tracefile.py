"""A file to which traces are appended, one JSON line each: `--trace FILE` and BEAD_TRACE.

Ids, scores and numbers; what a trace is, is `bead.wire.traces`'s. The file is the person's: only they may read it, and
it is bounded: when it is full it becomes FILE.1, and the one before goes.
"""

import os
from collections.abc import Callable, Mapping

import msgspec

from bead.errors import Unavailable
from bead.wire.traces import TurnTrace

MAX_BYTES = 32 << 20
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC

_encode = msgspec.json.Encoder().encode


def asked(argument: str | None, environ: Mapping[str, str]) -> Callable[[TurnTrace], None] | None:
    """What writes to the file that the argument, else BEAD_TRACE, names; None where neither does.

    Raises:
        Unavailable: the file cannot be written.
    """
    path = argument or environ.get("BEAD_TRACE")
    return TraceFile(path).write if path else None


class TraceFile:
    """One file, open for as long as the process lives."""

    def __init__(self, path: str) -> None:
        """Raises:
        Unavailable: it cannot be written.
        """
        self._path = path
        try:
            self._descriptor = os.open(path, _FLAGS, 0o600)
        except OSError as error:
            raise Unavailable(f"the trace {path} cannot be written ({error.strerror}); name another file") from None
        self._size = os.fstat(self._descriptor).st_size

    def write(self, trace: TurnTrace) -> None:
        """Append one line. Raises OSError when the disk refuses."""
        line = _encode(trace) + b"\n"
        if self._size and self._size + len(line) > MAX_BYTES:
            self._begin_anew()
        self._size += os.write(self._descriptor, line)

    def _begin_anew(self) -> None:
        os.replace(self._path, f"{self._path}.1")
        os.close(self._descriptor)
        self._descriptor = os.open(self._path, _FLAGS, 0o600)
        self._size = 0
