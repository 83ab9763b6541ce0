"""What a night teaches the gate."""

import math

import pytest

from bead.calibrating import (
    LEAST_SHIFT,
    MAX_OFFSET,
    MAX_STEP,
    MIN_TURNS,
    MOST_SHIFT,
    Judged,
    bounded,
    offsets,
    shift,
    surplus_of,
)


def judged(count: int, surplus: float, helped: bool) -> list[Judged]:
    return [Judged(f"{surplus}-{number}", "fact", surplus, helped) for number in range(count)]


def test_a_surprise_moves_a_fact_and_what_was_expected_hardly_does() -> None:
    surprised = offsets({}, judged(1, 2.0, helped=False))["fact"]
    expected = offsets({}, judged(1, -3.0, helped=False))["fact"]
    assert surprised < expected < 0 < offsets({}, judged(1, -2.0, helped=True))["fact"]


def test_no_fact_is_moved_beyond_the_bound_by_however_many_judgements() -> None:
    assert offsets({}, judged(1_000, 2.0, helped=False)) == {"fact": -MAX_OFFSET}
    assert offsets({"other": 0.5}, []) == {"other": 0.5}


def test_too_many_false_turns_raise_the_bar_by_a_bounded_step() -> None:
    assert shift(0.1, judged(50, 2.0, helped=False) + judged(100, 1.0, helped=True)) == pytest.approx(0.1 + MAX_STEP)


def test_a_budget_that_is_not_used_up_lowers_the_bar() -> None:
    assert shift(0.0, judged(3, 0.5, helped=False) + judged(150, -1.0, helped=True)) == -MAX_STEP


def test_the_bar_comes_to_rest_where_the_budget_is_met() -> None:
    seen = judged(160, -9.0, helped=True)
    seen += [Judged(str(number), "fact", -0.4 + number / 40, helped=False) for number in range(40)]
    now = 0.0
    for _ in range(50):
        now = shift(now, seen)
    assert sum(each.surplus >= now for each in seen if not each.helped) == 10


def test_a_handful_of_turns_changes_nothing() -> None:
    assert shift(0.1, judged(MIN_TURNS - 1, 2.0, helped=False)) == 0.1


def test_the_bar_stays_between_its_bounds_whatever_the_nights_say() -> None:
    now = 0.0
    for _ in range(50):
        now = shift(now, judged(200, 9.0, helped=False))
    assert now == MOST_SHIFT
    for _ in range(50):
        now = shift(now, judged(200, 0.0, helped=True))
    assert now == LEAST_SHIFT


def test_a_calibration_out_of_a_file_is_kept_within_the_bounds() -> None:
    assert bounded(99.0, {"a": -7.0, "b": math.nan, "c": 0.5}) == (MOST_SHIFT, {"a": -MAX_OFFSET, "c": 0.5})
    assert bounded(math.nan, {}) == (0.0, {})


@pytest.mark.parametrize("score", [0.0, 1.0, 1.7, -1.0])
def test_a_score_of_another_gate_is_none(score: float) -> None:
    assert surplus_of(score, 0.0) is None


def test_a_score_at_the_bar_is_the_shift_above_the_fitted_one() -> None:
    assert surplus_of(0.5, 0.3) == pytest.approx(0.3)
