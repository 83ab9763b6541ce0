"""What the index counts for `GET /metrics`: milliseconds and numbers, never content."""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

_BUCKETS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_BOUNDS = (*map(str, _BUCKETS), "+Inf")


class Metrics(Collector):
    """The index's own series; counting takes a microsecond, because it happens inside a model request."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._recalls = [0] * len(_BOUNDS)
        self._recall_s = 0.0
        registry.register(self)

    def recalled(self, seconds: float) -> None:
        """Count one recall that took `seconds`."""
        self._recalls[bisect_left(_BUCKETS, seconds)] += 1
        self._recall_s += seconds

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """See `prometheus_client`."""
        buckets = [(bound, float(count)) for bound, count in zip(_BOUNDS, accumulate(self._recalls), strict=True)]
        yield HistogramMetricFamily(
            "bead_index_recall_seconds", "Time to choose what to inject", buckets=buckets, sum_value=self._recall_s
        )
