"""The file is private, forgets to the last byte, and says when it cannot be trusted."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bead.text.terms import query_terms
from bead.turns import Role
from bead.wire.store import TurnView
from bead_index.database import Damaged, IndexFile, Position, throw_away
from bead_index.schema import FACT, TURN
from tests.unit.index.made import fact

# Made of parts, so that it is nowhere in one piece but in the index.
CANARY = "".join(("quix", "otic", "zebu", "farth"))
AT = datetime(2026, 11, 5, 9, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.db"


def turn(ordinal: int, text: str, project: str | None = "shop") -> TurnView:
    return TurnView(
        session="s1",
        ordinal=ordinal,
        role=Role.USER,
        at=AT,
        project=project,
        text=text,
        source=f"raw/2026/11/05/s1.md#turn-{ordinal}",
    )


def found(index: IndexFile, query: str) -> list[str]:
    return [piece.source for piece in index.match(query_terms(query, 32), 50)]


def bytes_of(path: Path) -> bytes:
    return b"".join(each.read_bytes() for each in sorted(path.parent.glob(path.name + "*")))


def holds(path: Path, text: str) -> bool:
    """Whether a stem of `text` is anywhere in the files: full-text pages keep terms, not words."""
    return text[:-1].encode() in bytes_of(path)


def test_the_files_are_private_from_the_start(path: Path) -> None:
    index = IndexFile(path, writing=True)
    with index.transaction():
        index.put_fact(fact("user/a", "heron"))

    modes = {each.name: oct(each.stat().st_mode & 0o777) for each in path.parent.iterdir()}

    assert modes == dict.fromkeys(("index.db", "index.db-wal", "index.db-shm"), "0o600")
    index.close()


def test_a_fact_is_found_by_text_and_key_and_only_in_its_newest_form(path: Path) -> None:
    index = IndexFile(path, writing=True)
    with index.transaction():
        index.put_fact(fact("project/shop/deploy-day", "Herons on Tuesday."))
        index.put_fact(fact("project/shop/deploy-day", "Storks on Friday.", version=2))

    assert found(index, "stork") == found(index, "deploy-day") == ["project/shop/deploy-day"]
    assert found(index, "heron") == []
    assert index.match(["stork"], 5)[0].version == 2
    index.close()


def test_a_transaction_that_fails_leaves_nothing(path: Path) -> None:
    index = IndexFile(path, writing=True)
    with pytest.raises(KeyError), index.transaction():
        index.put_fact(fact("user/a", "heron"))
        raise KeyError

    assert found(index, "heron") == []
    index.close()


def test_only_new_turns_are_added(path: Path) -> None:
    index = IndexFile(path, writing=True)
    with index.transaction():
        index.put_session("s1", [turn(1, "heron")])
    before = index.match(["heron"], 1)
    with index.transaction():
        went = index.put_session("s1", [turn(1, "heron"), turn(2, "stork " * 900)])

    assert not went
    assert index.match(["heron"], 1)[0].text == before[0].text
    assert set(found(index, "stork")) == {"raw/2026/11/05/s1.md#turn-2"}
    assert len(found(index, "stork")) > 1, "a long turn is kept in pieces"
    index.close()


@pytest.mark.parametrize("way", ["fact", "session", "redacted turn", "lost turn"])
def test_what_is_dropped_leaves_no_byte(path: Path, way: str) -> None:
    index = IndexFile(path, writing=True)
    with index.transaction():
        for number in range(50):
            index.put_fact(fact(f"user/f{number}", f"filler heron {number}"))
        index.put_fact(fact("user/canary", f"heron {CANARY} stork"))
        index.put_session("s1", [turn(1, "heron"), turn(2, f"stork {CANARY} heron")])
    assert holds(path, CANARY)

    with index.transaction():
        if way == "fact":
            assert index.drop_fact("user/canary")
            assert index.drop_session("s1")
        else:
            index.drop_fact("user/canary")
            assert {
                "session": lambda: index.drop_session("s1"),
                "redacted turn": lambda: index.put_session("s1", [turn(1, "heron"), turn(2, "[forgotten]")]),
                "lost turn": lambda: index.put_session("s1", [turn(1, "heron")]),
            }[way]()
        index.demand_purge()
    assert index.needs_purge()
    index.purge()

    assert not index.needs_purge()
    assert not holds(path, CANARY)
    index.close()
    assert not holds(path, CANARY)


def test_without_the_purge_the_scan_finds_the_value(path: Path) -> None:
    """The scan itself can fail: deleting the rows alone leaves bytes behind."""
    index = IndexFile(path, writing=True)
    with index.transaction():
        index.put_fact(fact("user/canary", f"heron {CANARY} stork"))
    with index.transaction():
        index.drop_fact("user/canary")

    assert holds(path, CANARY)
    index.close()


def test_a_demanded_purge_outlives_a_crash(path: Path) -> None:
    index = IndexFile(path, writing=True)
    with index.transaction():
        index.demand_purge()
    index.close()

    again = IndexFile(path, writing=True)

    assert again.needs_purge()
    again.close()


def test_deleted_text_is_overwritten_on_every_connection(path: Path) -> None:
    for writing in (True, False):
        index = IndexFile(path, writing=writing)
        assert index._db.execute("PRAGMA secure_delete").fetchone() == (1,)
        index.close()


def test_position_and_hashes_survive(path: Path) -> None:
    index = IndexFile(path, writing=True)
    assert index.position() == Position("", 0)
    with index.transaction():
        index.put_fact(fact("user/a", "heron"), "h1")
        index.put_fact(fact("user/b", "stork"))
        index.put_session("s1", [turn(1, "ibis")], "h2")
        index.set_position(Position("epoch-1", 7))
    index.close()

    again = IndexFile(path, writing=True)

    assert again.position() == Position("epoch-1", 7)
    assert again.hashes(FACT) == {"user/a": "h1", "user/b": None}
    assert again.hashes(TURN) == {"s1": "h2"}
    assert again.without_hash() == [(FACT, "user/b")]
    again.close()


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database, whatever its name says " * 200)


def other_schema(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 999")
    db.close()


def foreign_tables(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE something (x)")
    db.close()


def torn_pages(path: Path) -> None:
    index = IndexFile(path, writing=True)
    with index.transaction():
        for number in range(300):
            index.put_fact(fact(f"user/f{number}", f"filler heron {number} " * 9))
    index.close()
    whole = bytearray(path.read_bytes())
    whole[8192:-4096] = b"\xff" * (len(whole) - 8192 - 4096)
    path.write_bytes(whole)


@pytest.mark.parametrize("damage", [garbage, other_schema, foreign_tables, torn_pages])
def test_a_file_that_cannot_be_trusted_says_so_and_can_be_thrown_away(path: Path, damage: object) -> None:
    assert callable(damage)
    damage(path)

    with pytest.raises(Damaged):
        IndexFile(path, writing=True)

    throw_away(path)
    index = IndexFile(path, writing=True)
    assert index.position() == Position("", 0)
    index.close()
