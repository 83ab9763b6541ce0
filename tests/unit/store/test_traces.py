"""The files of traces: a bound in days and in bytes, and what is read when memory does not hold it any more."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bead.wire.traces import TurnTrace
from bead_store.disk import Disk
from bead_store.traces import MAX_DAYS, Traces


def trace(turn: str = "s1/turn-1") -> TurnTrace:
    return TurnTrace(turn=turn, at="2026-11-30T09:00:00+00:00", session="s1")


class Days:
    """A clock that a test turns on."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def days() -> Days:
    return Days()


def test_files_of_more_than_the_most_days_go(tmp_path: Path, days: Days) -> None:
    kept = Traces(tmp_path / "traces", Disk(), days)
    for _ in range(MAX_DAYS + 4):
        kept.append(trace())
        days.now += timedelta(days=1)

    names = sorted(path.name for path in (tmp_path / "traces").iterdir())
    assert len(names) == MAX_DAYS + 1 and names[0] == "2026-11-04.jsonl"


def test_full_file_is_followed_by_another_and_the_oldest_goes(
    tmp_path: Path, days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bead_store.traces.MAX_FILE_BYTES", 400)
    monkeypatch.setattr("bead_store.traces.MAX_BYTES", 2_000)
    kept = Traces(tmp_path / "traces", Disk(), days)
    for number in range(60):
        kept.append(trace(f"s1/turn-{number}"))

    sizes = [path.stat().st_size for path in (tmp_path / "traces").iterdir()]
    assert max(sizes) < 600 and sum(sizes) <= 2_400
    assert kept.find("s1/turn-59").seq == 60
    again = Traces(tmp_path / "traces", Disk(), days)
    again.load()
    assert again.append(trace()).seq == 61


def test_older_traces_than_those_in_memory_are_read_from_the_files(
    tmp_path: Path, days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bead_store.traces.IN_MEMORY", 3)
    kept = Traces(tmp_path / "traces", Disk(), days)
    for number in range(10):
        kept.append(trace(f"s1/turn-{number}"))

    assert [each.seq for each in kept.after(2, 4)] == [3, 4, 5, 6]
    assert kept.find("s1/turn-0").seq == 1


def test_line_holds_no_field_that_says_nothing(tmp_path: Path, days: Days) -> None:
    kept = Traces(tmp_path / "traces", Disk(), days)
    kept.append(trace())

    (path,) = (tmp_path / "traces").iterdir()
    assert set(json.loads(path.read_text())["trace"]) == {"turn", "at", "session"}


def test_trace_costs_no_fsync_and_its_file_is_private(
    tmp_path: Path, days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk()
    kept = Traces(tmp_path / "traces", disk, days)
    kept.append(trace())
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", synced.append)

    kept.append(trace())
    disk.sync_appended()

    (path,) = (tmp_path / "traces").iterdir()
    assert synced == [] and path.stat().st_mode & 0o777 == 0o600
