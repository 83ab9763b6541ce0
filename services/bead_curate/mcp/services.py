"""The way of the tools to the services: JSON documents in and out, inside curate and from a process of its own."""

import json
import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol
from urllib.parse import quote

from bead.bus.transport import Transport, call
from bead.errors import ServiceDown
from bead.keys import project_name

Query = Mapping[str, str | int | float | None]
DEFAULT_TIMEOUT_S = 10.0


class Services(Protocol):
    """Calls on the services behind curate."""

    async def call(
        self,
        service: str,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Query | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
    ) -> Any:
        """The document of a good answer, None for an empty one.

        Raises:
            BeadError: the class that the service raised.
        """
        ...

    async def project(self) -> str | None:
        """Scope name of the project in which the agent works, None when it is not known."""
        ...

    def session(self) -> str:
        """What tells one session of an agent from another, as far as this way knows; stored nowhere."""
        ...


class BusServices:
    """Inside curate: over its buses."""

    def __init__(self, buses: Mapping[str, Transport], named: Callable[[], str | None] = lambda: None) -> None:
        """`named` is the project as whoever asks just now calls it: its name, or its directory's whole path."""
        self._buses = buses
        self._named = named
        self._id = secrets.token_hex(8)

    async def call(
        self,
        service: str,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Query | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
    ) -> Any:
        """See `Services.call`."""
        bus = self._buses.get(service)
        if bus is None:
            raise ServiceDown(f"the {service} does not run here")
        sent = b"" if body is None else json.dumps(body).encode()
        answer = await call(bus, method, path, sent, query=query, timeout_s=timeout_s)
        return json.loads(answer) if answer else None

    async def project(self) -> str | None:
        """See `Services.project`. A directory is looked up in the store's table: curate may not see it."""
        named = self._named()
        if not named:
            return None
        if not named.startswith("/"):
            return project_name(named)
        found = await self.call("store", "POST", "/v1/projects/resolve", {"directory": named})
        return str(found["name"]) if found else None

    def session(self) -> str:
        """See `Services.session`. Requests over HTTP are each their own, so all of one day are one session."""
        return f"{self._id} {datetime.now(UTC).date()}"


def fact_path(key: str, below: str = "") -> str:
    """The store's path of a key."""
    return f"/v1/facts/{quote(key, safe='')}{below}"
