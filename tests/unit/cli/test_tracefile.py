"""The file of `--trace` and BEAD_TRACE: private, appended to, bounded."""

import json
import stat
from pathlib import Path

import pytest

from bead.errors import Unavailable
from bead.wire.traces import TurnTrace
from bead_cli.tracefile import TraceFile, asked


def trace(number: int) -> TurnTrace:
    return TurnTrace(turn=f"s/turn-{number}", at="2026-11-30T09:00:00Z", session="s")


def test_lines_are_added_to_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    TraceFile(str(path)).write(trace(1))
    TraceFile(str(path)).write(trace(2))

    assert [json.loads(line)["turn"] for line in path.read_text().splitlines()] == ["s/turn-1", "s/turn-2"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_full_file_is_set_aside_and_two_are_the_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bead_cli.tracefile.MAX_BYTES", 300)
    file = TraceFile(str(tmp_path / "trace.jsonl"))
    for number in range(40):
        file.write(trace(number))

    assert sorted(path.name for path in tmp_path.iterdir()) == ["trace.jsonl", "trace.jsonl.1"]
    assert all(path.stat().st_size <= 300 for path in tmp_path.iterdir())
    assert "s/turn-39" in (tmp_path / "trace.jsonl").read_text()


def test_the_argument_wins_over_the_variable_and_neither_means_no_file(tmp_path: Path) -> None:
    assert asked(None, {}) is None
    write = asked(str(tmp_path / "a"), {"BEAD_TRACE": str(tmp_path / "b")})
    assert write is not None and [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_file_that_cannot_be_written_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="name another file"):
        asked(None, {"BEAD_TRACE": str(tmp_path / "no" / "folder")})
