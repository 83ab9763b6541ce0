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
    assert table.count("ORDER BY rank") == table.count("floor") == table.count("until it is searched") == 2


@pytest.mark.parametrize("facts", ["many", "5"])
def test_a_number_of_facts_that_cannot_be_measured_is_refused(facts: str) -> None:
    with pytest.raises(SystemExit) as refused:
        recall.main(["--facts", facts])

    assert refused.value.code == 2
