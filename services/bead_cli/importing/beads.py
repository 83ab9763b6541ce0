"""Memories of beads: JSON lines with `_type: memory`; other lines are its issues and no concern of ours."""

import json
from collections.abc import Iterator

from bead_cli.importing.files import lines_of
from bead_cli.importing.records import Kept, Record, Wrong

_TYPE = "memory"


def read_beads(path: str) -> Iterator[Record]:
    """Each memory under its own key."""
    for number, line in lines_of(path):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            yield Wrong(place, "it is not JSON; it may have been cut off")
            continue
        if not isinstance(said, dict) or said.get("_type") != _TYPE:
            continue
        key, value = said.get("key"), said.get("value")
        if isinstance(key, str) and key.strip() and isinstance(value, str) and value.strip():
            yield Kept(value, place, name=key)
        else:
            yield Wrong(place, "'key' and 'value' must be texts that are not empty")
