"""Which service may call which route of the index (see `bead.bus.service.Access`)."""

from collections.abc import Mapping

_ANSWERS = ("POST /v1/recall", "POST /v1/pinned")
_PEOPLE = ("GET /v1/search", "GET /v1/applied", "GET /metrics")

SCOPES: Mapping[str, tuple[str, ...]] = {
    "proxy": _ANSWERS,
    "dream": (*_ANSWERS, *_PEOPLE),
    "curate": (*_ANSWERS, *_PEOPLE, "POST /v1/rebuild", "POST /v1/check", "POST /v1/explain"),
    "scheduler": ("GET /v1/applied", "GET /metrics", "POST /v1/check"),
}
