"""`bead bench recall` measures a real store and index, and refuses what it cannot measure."""

import json
from pathlib import Path

import pytest

from bead_evals.bench import recall


def test_a_run_saves_what_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "results" / "bench.json"

    assert recall.main(["--quick", "--facts", "100", "--json", "--save", str(saved)]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document == json.loads(saved.read_text())
    (size,) = document["sizes"]
    assert (size["facts"], size["visible"]) == (100, 20)
    assert 0 < size["floor"]["p50_ms"] < size["recall"]["p50_ms"] <= size["recall"]["p95_ms"]


def test_the_table_names_every_measurement(capsys: pytest.CaptureFixture[str]) -> None:
    assert recall.main(["--quick", "--facts", "50,60"]) == 0

    table = capsys.readouterr().out
    assert table.count("ORDER BY rank") == table.count("until it is searched") == 2
    assert table.count("floor") == 3


@pytest.mark.parametrize("facts", ["many", "5"])
def test_a_number_of_facts_that_cannot_be_measured_is_refused(facts: str) -> None:
    with pytest.raises(SystemExit) as refused:
        recall.main(["--facts", facts])

    assert refused.value.code == 2


def test_excerpts_are_timed_and_the_exact_best_five_are_candidates(tmp_path: Path) -> None:
    saved = tmp_path / "result.json"

    assert recall.main(["--quick", "--facts", "50", "--chunks", "300", "--json", "--save", str(saved)]) == 0

    (measured,) = json.loads(saved.read_text())["excerpts"]
    assert measured["chunks"] == 300
    assert 0 < measured["in_scope"] < 300
    assert measured["kept"] >= 0.95
    assert 0 < measured["floor_p50"] < measured["recall_p50"] <= measured["recall_p95"]
