"""Tombstones tell nothing, survive a crash, and go only when the person says so."""

import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bead.errors import HomeUnusable
from bead.home import Home
from bead_store.disk import Disk
from bead_store.home import prepare
from bead_store.tombstones import Tombstones


def opened(path: Path, key: bytes = b"k" * 32) -> Tombstones:
    found = Tombstones(path / "tombstones.log", key, disk=Disk(), now=lambda: datetime(2026, 11, 30, tzinfo=UTC))
    found.load()
    return found


def test_value_is_refused_in_the_next_life_too(tmp_path: Path) -> None:
    assert opened(tmp_path).bury(["My PIN is 4711."], "uid-1") == 1

    again = opened(tmp_path)

    assert again.refuses("user/any", "my pin  is 4711")
    assert not again.refuses("user/any", "my pin is 4712")
    assert again.bury(["my pin is 4711"], "uid-1") == 0, "a crash in between adds no second line"


def test_log_holds_neither_the_value_nor_a_hash_that_can_be_searched(tmp_path: Path) -> None:
    from hashlib import sha256

    opened(tmp_path).bury(["4711"], "uid-1")
    log = (tmp_path / "tombstones.log").read_bytes()

    assert b"4711" not in log
    assert sha256(b"4711").hexdigest().encode() not in log
    assert not opened(tmp_path, b"x" * 32).refuses("user/any", "4711"), "only this home's key knows it"


def test_rejected_proposal_is_refused_under_its_key_only(tmp_path: Path) -> None:
    opened(tmp_path).bury_proposal("user/a", "Tuesday", "item")

    assert opened(tmp_path).refuses("user/a", "tuesday.")
    assert not opened(tmp_path).refuses("user/b", "Tuesday")


def test_lifted_value_stays_lifted_and_can_be_forgotten_again(tmp_path: Path) -> None:
    stones = opened(tmp_path)
    stones.bury(["Tuesday"], "uid-1")

    assert stones.lift("user/a", "tuesday", "uid-2")
    assert not stones.lift("user/a", "tuesday", "uid-2")
    assert not opened(tmp_path).refuses("user/a", "Tuesday")

    stones.bury(["Tuesday"], "uid-2")
    assert opened(tmp_path).refuses("user/a", "Tuesday")


def test_torn_line_at_any_byte_is_cut_and_the_lines_before_hold(tmp_path: Path) -> None:
    log = tmp_path / "tombstones.log"
    opened(tmp_path).bury(["one"], "uid-1")
    whole = log.read_bytes()
    opened(tmp_path).bury(["two"], "uid-1")
    both = log.read_bytes()
    for size in range(len(whole), len(both)):
        log.write_bytes(both[:size])

        stones = opened(tmp_path)

        assert (stones.refuses("user/a", "one"), stones.refuses("user/a", "two")) == (True, False)
        assert stones.damage is None
        stones.bury(["three"], "uid-1")
        assert opened(tmp_path).refuses("user/a", "three")


def test_damaged_line_is_named_and_the_others_hold(tmp_path: Path) -> None:
    log = tmp_path / "tombstones.log"
    opened(tmp_path).bury(["one"], "uid-1")
    opened(tmp_path).bury(["two"], "uid-1")
    log.write_bytes(b"garbage\n" + log.read_bytes())

    stones = opened(tmp_path)

    assert stones.damage is not None and stones.damage.facts["line"] == 1
    assert stones.refuses("user/a", "one") and stones.refuses("user/a", "two")


def test_key_is_thirty_two_private_random_bytes_and_stays(tmp_path: Path) -> None:
    first, second = Home(tmp_path / "a"), Home(tmp_path / "b")

    key = prepare(first).tombstone_key

    assert len(key) == 32
    assert key != prepare(second).tombstone_key
    assert key == prepare(first).tombstone_key == first.tombstone_key.read_bytes()
    assert stat.S_IMODE(first.tombstone_key.stat().st_mode) == 0o600


@pytest.mark.parametrize("data", [None, b"", b"short"])
def test_lost_key_beside_a_log_stops_the_start(tmp_path: Path, data: bytes | None) -> None:
    """A new key would know nothing that was forgotten."""
    home = Home(tmp_path / "home")
    prepare(home)
    opened(home.root).bury(["one"], "uid-1")
    home.tombstone_key.unlink()
    if data is not None:
        home.tombstone_key.write_bytes(data)

    with pytest.raises(HomeUnusable):
        prepare(home)
