"""Memories of claude-mem: its SQLite file, opened read-only; observations and what sessions learnt.

Columns have come one by one over its versions, so what a row has is asked of the table.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from bead.errors import BadRequest
from bead.projects import scope_name
from bead_cli.importing.files import opened
from bead_cli.importing.records import Kept, Record, Wrong

_MAX_BYTES = 8 << 30
_TABLES = {
    "observations": ("title", "narrative", "text"),
    "session_summaries": ("learned", "completed"),
}
"""What of a row says something, in the order in which it is told."""


def read_claude_mem(path: str) -> Iterator[Record]:
    """Each observation, and what each session learnt and completed."""
    os.close(opened(path, _MAX_BYTES))  # no link, no device
    # Immutable where nothing waits in its journal: this program then leaves no file beside the other's.
    waits = os.path.exists(f"{path}-wal") and os.path.getsize(f"{path}-wal") > 0
    try:
        database = sqlite3.connect(f"file:{quote(path)}?mode=ro{'' if waits else '&immutable=1'}", uri=True)
    except sqlite3.Error as error:
        raise BadRequest(f"{path} cannot be opened ({type(error).__name__})") from None
    database.row_factory = sqlite3.Row
    try:
        tables = {row["name"] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables & set(_TABLES):
            raise BadRequest(f"{path} holds neither observations nor session_summaries: it is not claude-mem's")
        for table in sorted(tables & set(_TABLES)):
            yield from _rows(database, table)
    except sqlite3.DatabaseError as error:
        raise BadRequest(f"{path} is damaged or no SQLite file ({type(error).__name__})") from None
    finally:
        database.close()


def _rows(database: sqlite3.Connection, table: str) -> Iterator[Record]:
    number = 0
    try:
        for row in database.execute(f"SELECT * FROM {table} ORDER BY id"):
            number += 1
            said = dict(row)
            place = f"{table} {said.get('id', number)}"
            text = _text(said, _TABLES[table])
            if text:
                project = said.get("merged_into_project") or said.get("project")
                yield Kept(text, place, project=_scope(project))
            else:
                yield Wrong(place, "it says nothing")
    except sqlite3.DatabaseError as error:
        # What was read before stays read.
        yield Wrong(f"{table} after row {number}", f"the file is damaged here ({type(error).__name__})")


def _text(said: Mapping[str, Any], columns: tuple[str, ...]) -> str:
    parts = [str(said[name]).strip() for name in columns if isinstance(said.get(name), str) and str(said[name]).strip()]
    return "\n".join(dict.fromkeys(parts))


def _scope(project: object) -> str | None:
    return scope_name(project) if isinstance(project, str) and project.strip() else None
