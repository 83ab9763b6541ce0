"""A marked block in a person's text file: added, renewed, found, taken out without a trace. Pure: bytes in and out."""

BEGIN, END = b"# >>> bead setup >>>", b"# <<< bead setup <<<"
_JOINED = b"# >>> bead setup, a line end before this is bead's >>>"
"""First line of the block in a file whose last line had no end."""


def with_block(data: bytes, lines: str, *, first: bool = False) -> bytes:
    """`data` with one block that holds `lines`, in its old place, else at the end, or at the beginning with `first`.

    Line ends of the block are plain ones also in a file with others: shells take no carriage return for a line end.
    """
    body = b"\n".join((BEGIN, lines.strip("\n").encode(), END)) + b"\n"
    span = _span(data)
    if span is not None:
        start, end = span
        joined = data[start : start + len(_JOINED)] == _JOINED
        return data[:start] + (body.replace(BEGIN, _JOINED, 1) if joined else body) + data[end:]
    if first:
        return body + data
    if data and not data.endswith(b"\n"):
        return data + b"\n" + body.replace(BEGIN, _JOINED, 1)
    return data + body


def without_block(data: bytes) -> bytes:
    """`data` without the block, and without the line end that it brought, unless something stands behind it now."""
    span = _span(data)
    if span is None:
        return data
    start, end = span
    if end == len(data) and data[start : start + len(_JOINED)] == _JOINED and data[start - 1 : start] == b"\n":
        start -= 1
    return data[:start] + data[end:]


def has_block(data: bytes) -> bool:
    """Whether the block is there."""
    return _span(data) is not None


def behind_block(data: bytes) -> bytes:
    """What stands after the block: a shell reads it later."""
    span = _span(data)
    return data[span[1] :] if span else b""


def _span(data: bytes) -> tuple[int, int] | None:
    starts = [at for at in (_line(data, BEGIN), _line(data, _JOINED)) if at >= 0]
    if not starts:
        return None
    start = min(starts)
    end = _line(data, END, start)
    if end < 0:
        return None
    stop = data.find(b"\n", end)
    return start, len(data) if stop < 0 else stop + 1


def _line(data: bytes, text: bytes, since: int = 0) -> int:
    """Where a line that is `text` begins; -1 without one. A carriage return behind it is some editor's."""
    at = data.find(text, since)
    while at >= 0:
        rest = data[at + len(text) : at + len(text) + 2]
        if (at == 0 or data[at - 1 : at] == b"\n") and (not rest or rest[:1] == b"\n" or rest == b"\r\n"):
            return at
        at = data.find(text, at + 1)
    return -1
