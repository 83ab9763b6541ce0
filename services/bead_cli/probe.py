"""Is it there, and is it ours: health of the two published services, within a short limit."""

import json
from typing import Any

from bead.errors import ServiceDown
from bead_cli.loopback import exchange
from bead_cli.runtime import Place, Runtime

LIMIT_S = 1.0


def health_of(place: Place, path: str = "/health", limit_s: float = LIMIT_S) -> dict[str, Any] | None:
    """The health document at a place; None without an answer or with something else."""
    try:
        answer = exchange(place.host, place.port, "GET", path, timeout_s=limit_s)
        document = json.loads(answer.body)
    except (ServiceDown, ValueError):
        return None
    return document if isinstance(document, dict) else None


def proxy_health(place: Place, limit_s: float = LIMIT_S) -> dict[str, Any] | None:
    """The proxy's health."""
    return health_of(place, "/bead/health", limit_s)


def answers_for(who: Runtime) -> bool:
    """Whether curate or the proxy of `who` answers with its home id."""
    found = (health_of(who.place("curate")), proxy_health(who.place("proxy")))
    return any(health is not None and health.get("home_id") == who.home_id for health in found)
