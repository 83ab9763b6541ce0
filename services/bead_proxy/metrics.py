"""What is counted: requests, injections, trouble by cause, milliseconds added, the provider's tokens. Never content."""

from collections import deque
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Histogram

from bead_proxy.protocol import Usage

TROUBLE_WINDOW_S = 60.0
"""How long the health answer goes on naming a cause."""

WISH_REFUSED = "a wish was not stored: it holds what looks like a credential"

_ADDED_MS = (0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 200, 250, 500)
_MOST_REMEMBERED = 1_000


class Metrics:
    """The proxy's counters, in a registry of their own."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.registry = CollectorRegistry()
        self._clock = clock
        self._trouble: deque[tuple[float, str]] = deque(maxlen=_MOST_REMEMBERED)
        self.requests = self._counter("requests", "Requests by kind of route.", "kind")
        self.injections = self._counter("injections", "Blocks added to a request for the first time.", "block")
        self.not_loaded = self._counter("not_loaded", "Requests that memory could not help, by cause.", "cause")
        self.unread = self._counter("unread", "Bodies forwarded unread, by reason.", "reason")
        self.wishes = self._counter("wishes", "Wishes to remember by outcome.", "outcome")
        self.rerank_failures = self._counter("rerank_failures", "Times that the gate's own choice stood.", "cause")
        self._refused_at: float | None = None
        self.turns = self._counter("turns", "Captured turns by outcome.", "outcome")
        self.traces = self._counter("traces", "Traces by outcome.", "outcome")
        self.abstentions = self._counter("abstentions", "Requests that got no recall block, by reason.", "reason")
        self.recall_ended = Counter(
            "bead_proxy_recall_ended",
            "Conversations whose recall ended because the provider's cache did not keep it.",
            registry=self.registry,
        )
        self.tokens = self._counter("tokens", "Tokens as the provider reports them.", "kind")
        self.added_ms = Histogram(
            "bead_proxy_added_milliseconds",
            "From the request's last byte to sending it on.",
            buckets=_ADDED_MS,
            registry=self.registry,
        )

    def trouble(self, cause: str) -> None:
        """Memory did not help one request, or one turn was lost: counted, and named by health for a minute."""
        self.not_loaded.labels(cause).inc()
        self._trouble.append((self._clock(), cause))

    def unranked(self, cause: str) -> None:
        """The reranking model did not choose, so the gate's choice stood."""
        self.rerank_failures.labels(cause).inc()

    def wish_refused(self) -> None:
        """A wish must not be stored: counted, and told by health for a minute."""
        self.wishes.labels("holds a credential").inc()
        self._refused_at = self._clock()

    def used(self, usage: Usage) -> None:
        """Add the provider's own numbers."""
        for kind, count in zip(usage._fields, usage, strict=True):
            if count > 0:
                self.tokens.labels(kind).inc(count)

    def degraded(self) -> tuple[str, ...]:
        """In plain words, what went wrong within the last minute."""
        since = self._clock() - TROUBLE_WINDOW_S
        recent = [cause for at, cause in self._trouble if at >= since]
        refused = (WISH_REFUSED,) if self._refused_at is not None and self._refused_at >= since else ()
        return refused + tuple(
            f"memory not loaded for {recent.count(cause)} requests in the last minute: {cause}"
            for cause in dict.fromkeys(recent)
        )

    def _counter(self, name: str, about: str, label: str) -> Counter:
        return Counter(f"bead_proxy_{name}", about, [label], registry=self.registry)
