import pytest

from bead_evals.bench import stats

DIRECT = [[1.0, 1.2, 0.8], [5.0, 5.2, 4.8], [1.0, 1.1, 0.9], [2.0, 2.1, 1.9], [1.5, 1.6, 1.4]]


def shifted(by_ms: float) -> list[list[float]]:
    return [[sample + by_ms for sample in samples] for samples in DIRECT]


def test_a_constant_cost_is_found_however_slow_single_rounds_were() -> None:
    """Round two ran on a machine four times as busy; the difference within it is the same."""
    assert stats.added_p50(shifted(0.7), DIRECT) == pytest.approx(0.7)


def test_medians_are_paired_by_round_and_not_pooled() -> None:
    target = [[2.0], [11.0], [3.0]]
    direct = [[1.0], [9.0], [1.0]]

    assert stats.paired_added(target, direct) == [1.0, 2.0, 2.0]
    assert stats.added_p50(target, direct) == 2.0


def test_rounds_without_a_partner_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        stats.paired_added([[1.0], [2.0]], [[1.0]])


def test_the_ratio_divides_what_both_add() -> None:
    assert stats.ratio_to(shifted(3.0), shifted(2.0), DIRECT) == pytest.approx(1.5)
    assert stats.ratio_to(shifted(2.0), shifted(2.0), DIRECT) == pytest.approx(1.0)


def test_there_is_no_ratio_when_bare_adds_nothing() -> None:
    assert stats.ratio_to(shifted(3.0), DIRECT, DIRECT) is None


def test_direct_has_its_own_scatter_as_added_p95() -> None:
    assert stats.added_p50(DIRECT, DIRECT) == 0.0
    assert stats.added_p95(DIRECT, DIRECT) == pytest.approx(0.2)


def test_one_slow_request_in_ten_shows_in_added_p95_and_not_in_added_p50() -> None:
    target = [[1.0] * 9 + [30.0] for _ in range(5)]
    direct = [[1.0] * 10 for _ in range(5)]

    assert stats.added_p50(target, direct) == 0.0
    assert stats.added_p95(target, direct) == pytest.approx(29.0)


def test_the_interval_holds_the_ratio_and_widens_with_the_noise() -> None:
    calm = [[sample + extra for sample in samples] for samples, extra in zip(DIRECT, [3, 3.1, 2.9, 3, 3], strict=True)]
    wild = [[sample + extra for sample in samples] for samples, extra in zip(DIRECT, [3, 6, 1, 4, 2], strict=True)]
    calm_low, calm_high = stats.ratio_interval(calm, shifted(2.0), DIRECT) or (0.0, 0.0)
    wild_low, wild_high = stats.ratio_interval(wild, shifted(2.0), DIRECT) or (0.0, 0.0)

    assert calm_low <= 1.5 <= calm_high
    assert wild_high - wild_low > calm_high - calm_low > 0


def test_too_few_rounds_give_no_interval() -> None:
    assert stats.ratio_interval(shifted(3.0)[:4], shifted(2.0)[:4], DIRECT[:4]) is None


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.5, 2.5), (0.95, 3.85), (1.0, 4.0)])
def test_a_percentile_is_linear_between_ranks(share: float, expected: float) -> None:
    assert stats.percentile([4.0, 1.0, 3.0, 2.0], share) == pytest.approx(expected)
