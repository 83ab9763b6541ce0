"""What a night teaches."""

import pytest

from bead_index.gate.calibrate import MAX_OFFSET, MAX_SHIFT, MIN_TURNS, Judged, offsets, within_budget
from bead_index.gate.model import Model, log_odds

MODEL = Model(bias=-3.0, weights={"do": 1.0}, threshold=0.3, bare_threshold=0.4)


def judged(count: int, chance: float, helped: bool) -> list[Judged]:
    return [Judged(f"{chance}-{number}", "fact", chance, helped) for number in range(count)]


def test_a_surprise_moves_a_fact_and_what_was_expected_hardly_does() -> None:
    surprised = offsets({}, judged(1, 0.9, helped=False))["fact"]
    expected = offsets({}, judged(1, 0.05, helped=False))["fact"]
    assert surprised < expected < 0 < offsets({}, judged(1, 0.1, helped=True))["fact"]


def test_no_fact_is_moved_beyond_the_bound_by_however_many_judgements() -> None:
    assert offsets({}, judged(1_000, 0.9, helped=False)) == {"fact": -MAX_OFFSET}
    assert offsets({"other": 0.5}, []) == {"other": 0.5}


def test_too_many_false_turns_raise_both_thresholds_by_the_same_bounded_step() -> None:
    moved = within_budget(MODEL, judged(50, 0.9, helped=False), turns=200, budget=0.05)
    assert log_odds(moved.threshold) - log_odds(MODEL.threshold) == pytest.approx(MAX_SHIFT)
    assert log_odds(moved.bare_threshold) - log_odds(MODEL.bare_threshold) == pytest.approx(MAX_SHIFT)
    assert moved.weights == MODEL.weights


def test_a_budget_that_is_not_used_up_lowers_the_threshold() -> None:
    quiet = judged(3, 0.5, helped=False) + judged(40, 0.25, helped=True)
    assert within_budget(MODEL, quiet, turns=200, budget=0.05).threshold < MODEL.threshold


def test_the_threshold_comes_to_rest_where_the_budget_is_met() -> None:
    false = [Judged(str(number), "fact", 0.2 + number / 100, helped=False) for number in range(40)]
    model = MODEL
    for _ in range(50):
        model = within_budget(model, false, turns=200, budget=0.05)
    over = [each for each in false if each.chance >= model.threshold]
    assert len(over) == 10


def test_a_handful_of_turns_changes_nothing() -> None:
    assert within_budget(MODEL, judged(20, 0.9, helped=False), MIN_TURNS - 1, 0.05) is MODEL
