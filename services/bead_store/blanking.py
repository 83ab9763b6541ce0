"""Takes a text out of a file where it lies, as many bytes for as many, so that what the file is stays what it is.

    [(start, data)] = in_json(b'{"text": "my PIN is 4711"}', holds)      # the string says [forgotten], padded

JSON and JSONL lose whole strings and stay valid; other text loses whole lines. Pure.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import PurePath

Holds = Callable[[str], bool]
Change = tuple[int, bytes]
"""Where, and what stands there instead."""

_FORGOTTEN = b"[forgotten]"
_STRING = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\.)*"')
_JSON = frozenset({".json", ".jsonl", ".ndjson"})
_TEXT = frozenset({".md", ".txt", ".log", ".csv"})


def changes(name: str, data: bytes, holds: Holds) -> list[Change] | None:
    """What to write over a file of this name; None where it is of a kind that cannot be changed in place."""
    suffix = PurePath(name).suffix.lower()
    if suffix in _JSON:
        return list(in_json(data, holds))
    return list(in_lines(data, holds)) if suffix in _TEXT else None


def in_json(data: bytes, holds: Holds) -> Iterator[Change]:
    """Every JSON string that holds it, also inside a string that is JSON itself."""
    for match in _STRING.finditer(data):
        inside = data[match.start() + 1 : match.end() - 1]
        if inside and inside != blank(len(inside)) and _string_holds(inside, holds):
            yield match.start() + 1, blank(len(inside))


def in_lines(data: bytes, holds: Holds) -> Iterator[Change]:
    """Every line that holds it; a text over several lines takes all of them."""
    at = 0
    lines = data.split(b"\n")
    found = [bool(line.strip()) and holds(line.decode("utf-8", "replace")) for line in lines]
    if not any(found) and holds(data.decode("utf-8", "replace")):
        found = [True] * len(lines)
    for line, is_found in zip(lines, found, strict=True):
        if is_found and line and line != blank(len(line)):
            yield at, blank(len(line))
        at += len(line) + 1


def blank(size: int) -> bytes:
    """What stands in the place of `size` bytes."""
    return _FORGOTTEN.ljust(size) if size >= len(_FORGOTTEN) else b" " * size


def _string_holds(inside: bytes, holds: Holds) -> bool:
    text = inside.decode("utf-8", "replace")
    if holds(text):
        return True
    if "\\" not in text:
        return False
    try:
        return holds(json.loads(f'"{text}"'))
    except ValueError:
        return False
