"""`bead eval recall`: suites, folds, scores and the table."""

import json
import sys
from pathlib import Path

import pytest

from bead.recall import CueSource
from bead_cli.__main__ import run
from bead_evals.recall import __main__ as command
from bead_evals.recall import folds, gates, latency, shipping
from bead_evals.recall.report import table
from bead_evals.recall.scoring import Score, score
from bead_evals.recall.suites import HELD_OUT, Suite, Turn, load, read
from bead_evals.recall.training import Rows, fit
from bead_index.gate.weights import MODEL

SUITE = """
project: tiny
facts:
- {key: user/tests, type: feedback, body: 'Run `just ci`, not `cargo test`.'}
- {key: project/palette, type: project, body: Charts use the palette in theme/ink.toml.}
turns:
- {id: a, user: run the tests, assistant: '', tool_calls: [], tool_results: [], needs: [user/tests]}
- id: b
  user: ''
  assistant: Now.
  tool_calls: [{name: Bash, input: {command: cargo test, options: [1, {x: y}]}}]
  tool_results: [ok]
  needs: []
  may: [user/tests]
"""


@pytest.fixture(scope="module")
def suites() -> tuple[Suite, ...]:
    return load()


def turn(needs: set[str], may: set[str] | None = None) -> Turn:
    return Turn("t", (), frozenset(needs), frozenset(may or ()))


def test_facts_that_a_turn_may_have_count_as_neither() -> None:
    counted = score([turn({"a"}, {"b"}), turn(set())], [["a", "b"], ["c"]])
    assert counted == Score(needed=1, found=1, false=1, turns=2, false_turns=1)
    assert (counted.recall, counted.precision, counted.false_share) == (1.0, 0.5, 0.5)


def test_nothing_injected_is_no_precision_and_no_error() -> None:
    assert score([turn({"a"})], [[]]).precision == 0.0


def test_a_suite_is_read_as_the_proxy_makes_cues(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(SUITE)
    suite = read(tmp_path / "tiny.yaml")
    assert suite.cards == {}
    assert [cue.source for cue in suite.turns[0].cues] == [CueSource.PERSON]
    assert suite.turns[1].cues[1].text == "cargo test\n1\ny"
    assert suite.turns[1].may == {"user/tests"}


def test_the_shipped_suites_have_a_blind_card_for_every_fact_and_labels_that_exist(suites: tuple[Suite, ...]) -> None:
    assert sum(len(suite.turns) for suite in suites) == 184
    assert sum(len(turn.needs) for suite in suites for turn in suite.turns) == 91
    for suite in suites:
        keys = {fact.key for fact in suite.facts}
        assert set(suite.cards) == keys
        assert all(turn.needs | turn.may <= keys for turn in suite.turns)


def test_fitted_weights_are_never_negative_and_follow_the_labels() -> None:
    rows = Rows([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]] * 50, [True, True, False, False] * 50)
    _, (useful, harmful) = fit(rows)
    assert useful > 1
    assert harmful == pytest.approx(0.0, abs=1e-6)


def test_a_suite_is_judged_by_weights_that_never_saw_it(
    suites: tuple[Suite, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[set[str]] = []

    def learn(training: list[folds.Seen], *_: object) -> object:
        trained.append({turn.id for seen in training for turn, _ in seen})
        return MODEL

    monkeypatch.setattr(folds, "learn", learn)
    blind, by_rule = folds.cards_of(gates.with_blind_cards), folds.cards_of(gates.without_cards)
    folds.leave_one_out(suites, blind, blind, by_rule)
    for suite, seen in zip(suites, trained, strict=True):
        assert not seen & {turn.id for turn in suite.turns}
        assert len(seen) == 184 - len(suite.turns)


def test_the_weights_in_use_are_what_fitting_gives(suites: tuple[Suite, ...]) -> None:
    """A change of signs or of words without `--fit` leaves weights that mean something else."""
    namespace: dict[str, object] = {}
    exec(shipping.module(suites, "x"), namespace)  # the generated module, as Python reads it
    assert namespace["MODEL"] == MODEL


def test_the_gate_keeps_the_promised_numbers(suites: tuple[Suite, ...]) -> None:
    """Leave one project out, with blind cards: recall, precision, share of turns with a false injection."""
    blind, by_rule = folds.cards_of(gates.with_blind_cards), folds.cards_of(gates.without_cards)
    total = sum(folds.leave_one_out(suites, blind, blind, by_rule), Score())
    assert total.recall >= 0.60
    assert total.precision >= 0.85
    assert total.false_share <= 0.05


def test_the_project_that_is_held_out_is_in_no_fit_and_is_told_apart() -> None:
    held_out = load(folder=HELD_OUT)
    assert held_out and not {suite.name for suite in held_out} & {suite.name for suite in load()}
    rows = {row.name: row.scores[0] for row in gates.unseen_rows(held_out, seed=1)}
    strict, rule, written = (rows[name] for name in ("first design, strict default", "rule cards", "written cards"))
    assert strict.recall < rule.recall < written.recall
    assert strict.precision < rule.precision < written.precision


def test_nearly_every_needed_fact_is_among_the_candidates(suites: tuple[Suite, ...]) -> None:
    assert sum(map(gates._perfect, suites), Score()).recall >= 0.97


def test_the_table_names_every_gate_and_adds_the_suites_up() -> None:
    row = gates.Row("a gate", (Score(2, 1, 0, 4, 0), Score(2, 2, 1, 4, 1)), "a note")
    text = table([row], ["one", "two"])
    assert "0.75 / 0.75 / 12.5%" in text
    assert "a gate" in text and "(a note)" in text


def test_a_suite_without_cards_is_still_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny.yaml").write_text(SUITE)
    monkeypatch.setattr(command, "RESULTS", tmp_path / "recall.json")
    assert command.main(["--suite", str(tmp_path / "tiny.yaml"), "--json", "--save"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "recall.json").read_text())
    assert printed["rows"][0]["gate"] == "first design, strict default"
    assert printed["pinned_budget_tokens"] == 0


def test_the_command_hands_over_and_a_missing_suite_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tiny.yaml").write_text(SUITE)
    missing = str(tmp_path / "other.yaml")
    assert run(["eval", "recall", "--suite", str(tmp_path / "tiny.yaml")], {}, sys.stdout, sys.stderr) == 0
    assert "BM25, two best" in capsys.readouterr().out
    assert run(["eval", "recall", "--suite", missing], {}, sys.stdout, sys.stderr) == 1
    assert missing in capsys.readouterr().err


def test_latency_is_measured_on_every_turn_and_told_in_milliseconds(suites: tuple[Suite, ...]) -> None:
    (found,) = latency.measure(suites[:1], seed=1, sizes=[(40, 20)])
    assert 0 < found.p50 <= found.p95 <= found.longest
    assert "40 facts,     20 in scope" in latency.table([found])
