"""`GET /health` of every service; the only route that answers without a token."""

from pydantic import BaseModel, ConfigDict

from bead.wire.jobs import Job

WIRE = 1
"""Counted up when services of different versions would not understand each other."""


class Health(BaseModel):
    """Ready only when a real request would succeed; `degraded` says in plain words what does not work."""

    model_config = ConfigDict(frozen=True)

    name: str
    version: str
    ready: bool
    home_id: str
    wire: int = WIRE
    """A bead from before this number speaks 1."""
    degraded: tuple[str, ...] = ()
    jobs: tuple[Job, ...] = ()
    """The scheduler's table; of the other services empty."""
