"""What health says about trouble, and for how long."""

from bead_proxy.metrics import TROUBLE_WINDOW_S, WISH_REFUSED, Metrics
from bead_proxy.protocol import Usage


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_trouble_is_named_for_a_minute_and_counted_for_good() -> None:
    clock = Clock()
    metrics = Metrics(clock)
    metrics.trouble("the store is not available")
    metrics.trouble("the store is not available")

    [said] = metrics.degraded()
    assert "2 requests" in said and "the store is not available" in said
    clock.now = TROUBLE_WINDOW_S + 1
    assert metrics.degraded() == ()
    labels = {"cause": "the store is not available"}
    assert metrics.registry.get_sample_value("bead_proxy_not_loaded_total", labels) == 2


def test_a_refused_wish_is_told_for_a_minute_beside_other_trouble() -> None:
    clock = Clock()
    metrics = Metrics(clock)
    metrics.wish_refused()
    metrics.trouble("the store is not available")

    assert [said == WISH_REFUSED for said in metrics.degraded()] == [True, False]
    clock.now = TROUBLE_WINDOW_S + 1
    assert metrics.degraded() == ()
    assert metrics.registry.get_sample_value("bead_proxy_wishes_total", {"outcome": "holds a credential"}) == 1


def test_without_trouble_nothing_is_degraded() -> None:
    assert Metrics(Clock()).degraded() == ()


def test_the_providers_numbers_add_up_by_kind() -> None:
    metrics = Metrics(Clock())
    metrics.used(Usage(input=1, output=2, cache_read=3, cache_write=4))
    metrics.used(Usage(cache_read=5))

    values = [
        metrics.registry.get_sample_value("bead_proxy_tokens_total", {"kind": kind})
        for kind in ("input", "output", "cache_read", "cache_write")
    ]
    assert values == [1, 2, 8, 4]


def test_two_proxies_in_one_process_count_apart() -> None:
    first, second = Metrics(Clock()), Metrics(Clock())
    first.requests.labels("messages").inc()
    assert second.registry.get_sample_value("bead_proxy_requests_total", {"kind": "messages"}) is None
