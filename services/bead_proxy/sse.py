"""Server-sent events out of a byte stream that is cut anywhere.

Pure. Gives the data of each complete event; what it says is `anthropic.reply`'s. Follows the WHATWG rules for line
ends, comments, several data lines and a byte-order mark. Bounded: an event over the limit is skipped and counted.
"""

from collections.abc import Iterator

EVENT_LIMIT_BYTES = 8 * 1024 * 1024
"""Largest event that is assembled."""

_BOM = b"\xef\xbb\xbf"


class EventParser:
    """Feed bytes, get the data of complete events; the pieces' borders make no difference."""

    def __init__(self, limit_bytes: int = EVENT_LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._line: list[bytes] = []
        self._line_bytes = 0
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._too_long = False
        self._after_return = False
        self._at_start = True
        self.skipped = 0
        """Events over the limit so far."""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The data of every event that `chunk` completes."""
        if not chunk:
            return
        if self._after_return:
            chunk = chunk.removeprefix(b"\n")
        self._after_return = chunk.endswith(b"\r")
        for line in chunk.splitlines(keepends=True):
            content = line.rstrip(b"\r\n") if line[-1:] in (b"\r", b"\n") else line
            self._add(content)
            if content is not line and (event := self._end_line()) is not None:
                yield event

    def _add(self, content: bytes) -> None:
        self._line_bytes += len(content)
        if self._line_bytes + self._data_bytes > self._limit_bytes:
            self._too_long = True
            self._line.clear()
        else:
            self._line.append(content)

    def _end_line(self) -> bytes | None:
        line = b"".join(self._line)
        is_blank = self._line_bytes == 0
        self._line.clear()
        self._line_bytes = 0
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
            is_blank = is_blank or not line
        if is_blank:
            return self._end_event()
        if line.startswith(b"data:") or line == b"data":
            self._data.append(line[5:].removeprefix(b" "))
            self._data_bytes += len(line)
        return None

    def _end_event(self) -> bytes | None:
        data, too_long = self._data, self._too_long
        self._data, self._data_bytes, self._too_long = [], 0, False
        if too_long:
            self.skipped += 1
            return None
        return b"\n".join(data) if data else None
