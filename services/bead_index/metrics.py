"""What the index counts for `GET /metrics`: milliseconds and numbers, never content."""

from prometheus_client import CollectorRegistry, Histogram

_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


class Metrics:
    """The index's own series."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.recall_seconds = Histogram(
            "bead_index_recall_seconds", "Time to choose what to inject", buckets=_BUCKETS, registry=registry
        )
