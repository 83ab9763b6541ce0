"""Which service may call which route of the dream service (see `bead.bus.service.Access`)."""

from collections.abc import Mapping

SCOPES: Mapping[str, tuple[str, ...]] = {
    "curate": ("GET /v1/", "POST /v1/", "GET /metrics"),
    "scheduler": ("GET /v1/", "POST /v1/runs", "GET /metrics"),
}
