"""Who may call the store's routes: `METHOD /path` prefixes by the scope of a bus token (SECURITY T2)."""

from collections.abc import Mapping

_READ = ("GET /v1/facts", "GET /v1/sessions", "GET /v1/episodes", "GET /v1/changes", "GET /v1/manifest", "GET /metrics")

SCOPES: Mapping[str, tuple[str, ...]] = {
    "proxy": (
        "GET /v1/facts",
        "POST /v1/facts",
        "POST /v1/turns",
        "POST /v1/conversations/find",
        "POST /v1/conversations/commit",
        "POST /v1/projects/resolve",
        "POST /v1/traces",
        "GET /metrics",
    ),
    "index": (*_READ, "GET /v1/dream/calibration", "POST /v1/changes/ack"),
    "dream": (
        *_READ,
        "GET /v1/queue",
        "GET /v1/traces",
        "GET /v1/dream/",
        "POST /v1/dream/",
        "PUT /v1/dream/calibration",
        "POST /v1/changes/ack",
        "POST /v1/projects/resolve",
    ),
    "scheduler": (
        *_READ,
        "GET /v1/queue",
        "GET /v1/damage",
        "GET /v1/audit/verify",
        "GET /v1/jobs",
        "POST /v1/jobs/note",
        "POST /v1/use/refresh",
        "POST /v1/conversations/clear",
        "POST /v1/backup",
    ),
    "curate": ("GET /", "POST /"),
}
