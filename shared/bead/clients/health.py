"""Health of any service: near-empty ones have nothing else yet."""

from bead.bus.transport import Transport, call
from bead.wire.health import Health


async def health(bus: Transport) -> Health:
    """`GET /health` of whatever is behind `bus`."""
    return Health.model_validate_json(await call(bus, "GET", "/health", timeout_s=5.0))
