"""The README's table of how well bead chooses is the one that was measured."""

import json
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text()
MEASURED = {
    row["gate"]: row["scores"]["all"]
    for row in json.loads((REPOSITORY / "evals" / "results" / "recall.json").read_text())["rows"]
}


@pytest.mark.parametrize(
    ("label", "gate"),
    [
        ("strict: shared rare words (`index.gate: strict`)", "first design, strict default"),
        ("cards by rule alone", "cards by rule"),
        ("cards written by somebody who saw no turn", "blind cards"),
    ],
)
def test_a_row_of_the_readme_is_the_measured_one(label: str, gate: str) -> None:
    scores = MEASURED[gate]
    shown = f"{scores['recall']:.0%} | {scores['precision']:.0%} | {scores['false_turns']:.1%}".replace("%", " %")
    assert f"| {label} | {shown} |" in README


def test_the_number_of_turns_is_the_measured_one() -> None:
    assert f"Measured on {MEASURED['blind cards']['turns']} turns" in README
