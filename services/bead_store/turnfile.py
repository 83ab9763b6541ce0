"""How turns lie in a session's file: a marker line, the text, an end line. Pure.

    ## turn-3 user 2026-11-05T09:12:00Z req-17 project=shop
    the text, whole
    <!-- /turn-3 -->

A line of text that looks like one of ours gets one more backslash, which Markdown does not show and reading takes
away: no pasted text can forge a turn. A record without its end line at the end of a file was never acknowledged.
"""

import re
from typing import NamedTuple

_MARKER = re.compile(
    r"## turn-(?P<ordinal>[1-9][0-9]{0,8}) (?P<role>user|assistant) (?P<at>\S+) (?P<id>\S+)"
    r"(?: project=(?P<project>\S+))?(?: model=(?P<model>\S+))?(?P<cut> incomplete)?[ \t\r]*\Z"
)
_MARK = b"## turn-"
_FORGOTTEN = "[forgotten]"
_OURS = re.compile(r"^(\\*)(## turn-|<!-- /turn-)", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(\\*)(## turn-|<!-- /turn-)", re.MULTILINE)


class Record(NamedTuple):
    """One turn in a file."""

    ordinal: int
    role: str
    at: str
    turn_id: str
    project: str | None
    is_complete: bool
    text: str


class Scanned(NamedTuple):
    """The turns of a file, and where a torn one begins (the file's size when there is none)."""

    records: tuple[Record, ...]
    whole_bytes: int
    spans: tuple[tuple[int, int], ...] = ()
    """Where each record's text lies, from its first byte to behind its last."""
    loose: tuple[tuple[int, int], ...] = ()
    """Where a person has written between the turns."""


def render(record: Record, model: str | None = None) -> str:
    """The record as it is appended."""
    marks = "".join(
        [
            f" project={record.project}" if record.project else "",
            f" model={model}" if model else "",
            "" if record.is_complete else " incomplete",
        ]
    )
    head = f"## turn-{record.ordinal} {record.role} {record.at} {record.turn_id}{marks}"
    return f"{head}\n{escape(record.text)}\n{_end(record.ordinal)}\n\n"


def escape(text: str) -> str:
    """`text` in which no line is one of ours."""
    return _OURS.sub(r"\\\1\2", text)


def unescape(text: str) -> str:
    """What `escape` was given."""
    return _ESCAPED.sub(r"\1\2", text)


def scan(data: bytes) -> Scanned:
    """The turns in `data`, also when a person has edited it; only a last one without its end line is torn."""
    records: list[Record] = []
    spans: list[tuple[int, int]] = []
    loose: list[tuple[int, int]] = []
    marker: re.Match[str] | None = None
    lines: list[str] = []
    start = text_start = at = 0
    for raw in data.split(b"\n"):
        line = raw.decode("utf-8", "replace")
        found = _MARKER.match(line) if line.startswith("## turn-") else None
        if marker and (found or line.rstrip() == _end(int(marker["ordinal"]))):
            records.append(_record(marker, lines))
            spans.append((text_start, max(text_start, at - 1)))
            marker = None
            is_end = not found
        else:
            is_end = False
        if found:
            marker, lines, start, text_start = found, [], at, at + len(raw) + 1
        elif marker:
            lines.append(line)
        elif records and not is_end and raw.strip():
            loose.append((at, at + len(raw)))
        at += len(raw) + 1
    last = data[data.rfind(b"\n") + 1 :]
    is_torn_marker = bool(last) and last[: len(_MARK)] == _MARK[: len(last)]
    if is_torn_marker and not marker:
        start = len(data) - len(last)
    whole = start if marker or is_torn_marker else len(data)
    return Scanned(tuple(records), whole, tuple(spans), _joined(loose, whole))


def forgotten(size: int) -> bytes:
    """What says that a text of `size` bytes was forgotten, as long as it was unless it was shorter than that."""
    return _FORGOTTEN.ljust(size).encode()


def _joined(lines: list[tuple[int, int]], whole: int) -> tuple[tuple[int, int], ...]:
    """Lines that follow each other as one span; a torn end belongs to no person."""
    found: list[tuple[int, int]] = []
    for start, end in lines:
        if start >= whole:
            break
        if found and found[-1][1] + 1 == start:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return tuple(found)


def is_turn(data: bytes, ordinal: int) -> bool:
    """Whether `data` begins with that turn."""
    return data.startswith(b"%s%d " % (_MARK, ordinal))


def _record(marker: re.Match[str], lines: list[str]) -> Record:
    return Record(
        ordinal=int(marker["ordinal"]),
        role=marker["role"],
        at=marker["at"],
        turn_id=marker["id"],
        project=marker["project"],
        is_complete=not marker["cut"],
        text=_told("\n".join(lines)),
    )


def _told(text: str) -> str:
    is_forgotten = text.startswith(_FORGOTTEN) and not text[len(_FORGOTTEN) :].strip(" ")
    return _FORGOTTEN if is_forgotten else unescape(text)


def _end(ordinal: int) -> str:
    return f"<!-- /turn-{ordinal} -->"
