"""Nothing of what was dropped stays in the file or its log; a reader in the way is waited for, but not for ever."""

import re
import sqlite3
from pathlib import Path

import pytest

import bead_index
from bead.errors import Unavailable
from bead_index import database
from bead_index.database import IndexFile
from tests.unit.index.made import fact

WORD = "quix" + "otic" + "zebu"
NEWER_THAN_3_40 = (
    "secure-delete", "contentless", "string_agg", "concat(", "concat_ws(", "octet_length(", "timediff(", "jsonb",
    "json_error_position", "json_pretty", "unistr", "subsec", "if(",
)  # fmt: skip
"""What SQLite gained in 3.41 to 3.50 and SQL text might use."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.db"


def logged(path: Path) -> bytes:
    return path.with_name("index.db-wal").read_bytes()


def dropped(path: Path) -> IndexFile:
    """A file that held `WORD`, dropped but not purged."""
    index = IndexFile(path, writing=True)
    with index.transaction():
        index.put_fact(fact("user/carrier", f"Parcels travel with {WORD}."))
    with index.transaction():
        index.drop_fact("user/carrier")
        index.demand_purge()
    return index


def test_a_reader_with_an_old_snapshot_keeps_a_purge_from_being_reported_done(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_BUSY_S", 0.05)
    index = IndexFile(path, writing=True)
    with index.transaction():
        index.put_fact(fact("user/carrier", f"Parcels travel with {WORD}."))
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM facts").fetchone() == (1,)
    with index.transaction():
        index.drop_fact("user/carrier")
        index.demand_purge()

    with pytest.raises(Unavailable, match="is being read"):
        index.purge()
    assert index.needs_purge()
    assert WORD.encode() in logged(path)

    reader.execute("ROLLBACK")
    index.purge()
    assert not index.needs_purge()
    assert WORD.encode() not in logged(path) + path.read_bytes()
    reader.close()
    index.close()


def test_the_log_is_zeroed_before_its_blocks_are_given_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []
    real = IndexFile._zero_log

    def zero(index: IndexFile) -> None:
        before = logged(path)
        real(index)
        seen.extend((before, logged(path)))

    monkeypatch.setattr(IndexFile, "_zero_log", zero)
    index = dropped(path)

    index.purge()

    before, after = seen
    assert WORD.encode() in before
    assert len(after) == len(before)
    assert not any(after[32:])
    index.close()


def test_no_sql_of_the_index_needs_more_than_sqlite_3_40() -> None:
    for source in sorted(Path(bead_index.__file__).parent.glob("*.py")):
        texts = re.findall(r'f?"(?:SELECT|INSERT|DELETE|UPDATE|CREATE|PRAGMA)[^"\n]*"', source.read_text())
        found = [word for text in texts for word in NEWER_THAN_3_40 if re.search(rf"(?<![a-z]){re.escape(word)}", text)]
        assert found == [], source.name
