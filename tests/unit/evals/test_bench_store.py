"""The bench of the store, small: every case is measured, and a missed limit is said, not hidden."""

from pathlib import Path

import msgspec
import pytest

from bead_evals.bench import store
from bead_evals.bench.results import machine as machine_now
from bead_evals.bench.store import Report, table
from bead_evals.bench.storecases import Pair, Times


def test_a_small_run_measures_every_case_and_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "result.json"
    argv = ["--rounds", "2", "--facts", "20", "--dir", str(tmp_path), "--save", str(saved), "--json"]

    assert store.main(argv) == 0

    report = msgspec.json.decode(capsys.readouterr().out, type=Report)
    assert saved.read_bytes().strip() == msgspec.json.format(msgspec.json.encode(report), indent=1)
    assert [pair.limit for pair in report.pairs] == [1.5, 1.5, None, 1.5, 1.5, 0.2, 0.2]
    assert all(pair.ours.p50_ms > 0 and pair.bare.p50_ms > 0 and pair.ratio > 0 for pair in report.pairs)
    assert [start.facts for start in report.starts] == [20]
    assert list(tmp_path.iterdir()) == [saved]


def test_a_missed_limit_is_said() -> None:
    slow = Pair("new fact", Times(3.0, 4.0, 10), Times(1.0, 2.0, 10), 3.0, 1.5, False)
    machine = machine_now(0.0)

    assert "1.5x MISSED" in table(Report("store", "", None, False, machine, 10, [slow], []))


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    assert store.main(["--dir", str(tmp_path / "absent")]) == 2
