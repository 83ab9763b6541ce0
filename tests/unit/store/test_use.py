"""The list of injected facts has a bound, loses nothing before it is folded, and troubles nobody."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bead.conversations import Block, BlockKind
from bead_store import use
from bead_store.disk import Disk
from bead_store.use import Use

NINE = datetime(2026, 11, 30, 9, 0, 0, 5, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NINE

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


@pytest.fixture
def one(tmp_path: Path) -> Use:
    return Use(tmp_path / "use.jsonl", Disk(), Clock())


def block(*uids: str) -> Block:
    return Block("p", BlockKind.RECALL, "text", uids)


def test_newest_time_of_each_fact_is_taken(one: Use) -> None:
    one.note("s-t", [block("a", "b")])
    one.note("s-t", [block("b")])

    taken = one.take()

    first, second = (NINE.replace(microsecond=0) + timedelta(minutes=minutes) for minutes in (1, 2))
    assert taken is not None and (taken.lines, taken.last_injected) == (2, {"a": first, "b": second})


def test_lines_stay_until_they_are_dropped_and_newer_ones_after_that(one: Use) -> None:
    one.note("s-t", [block("a")])
    taken = one.take()
    one.note("s-t", [block("b")])

    assert taken is not None and one.take() == taken
    one.drop(taken)

    newer = one.take()
    assert newer is not None and set(newer.last_injected) == {"b"}
    one.drop(newer)
    assert one.take() is None


def test_block_without_facts_makes_no_file(one: Use, tmp_path: Path) -> None:
    one.note("s-t", [block()])

    assert one.take() is None and list(tmp_path.iterdir()) == []


def test_two_full_files_are_the_most(one: Use, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(use, "MAX_BYTES", 1_000)
    for number in range(100):
        one.note("s-t", [block(f"fact-{number}")])

    assert 1_000 < sum(path.stat().st_size for path in tmp_path.iterdir()) < 2_400
    assert "fact-99" in (tmp_path / "use.jsonl").read_text()


def test_file_that_filled_up_during_a_fold_is_not_dropped_with_it(
    one: Use, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(use, "MAX_BYTES", 60)
    one.note("s-t", [block("a")])
    taken = one.take()
    one.note("s-t", [block("b")])
    one.note("s-t", [block("c")])

    assert taken is not None
    one.drop(taken)

    newer = one.take()
    assert newer is not None and set(newer.last_injected) == {"b"}


def test_damaged_lines_are_passed_over(one: Use, tmp_path: Path) -> None:
    (tmp_path / "use.jsonl").write_bytes(
        b'{"at":"2026-11-30T09:00:00","session/conversation":"s","facts":["no zone"],"kind":"recall"}\n\xff\n\0\0\n'
        b'{"at":"2026-11-30T09:00:00Z","session/conversation":"s","facts":["a@2"],"kind":"recall"}\n{"at":'
    )

    taken = one.take()

    assert taken is not None and (taken.lines, list(taken.last_injected)) == (1, ["a"])
