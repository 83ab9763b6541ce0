"""`GET /health` of every service; the only route that answers without a token."""

from pydantic import BaseModel, ConfigDict

from bead.wire.jobs import Job


class Health(BaseModel):
    """Ready only when a real request would succeed; `degraded` says in plain words what does not work."""

    model_config = ConfigDict(frozen=True)

    name: str
    version: str
    ready: bool
    home_id: str
    degraded: tuple[str, ...] = ()
    jobs: tuple[Job, ...] = ()
    """The scheduler's table; of the other services empty."""
