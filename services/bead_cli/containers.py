"""bead's containers as Docker tells of them, for `bead status` and `bead logs`; needs the extra `docker`."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

from bead.errors import NotFound, Refused, Unavailable

_SERVICE = "com.docker.compose.service"
_PROJECT = "com.docker.compose.project"
_OURS = "bead"
"""Name of the image's entry point."""
MANY_RESTARTS = 3


class Container(NamedTuple):
    """One service's container."""

    service: str
    project: str
    state: str
    """Docker's words: `running`, `restarting`, `exited` …"""
    health: str
    restarts: int

    @property
    def trouble(self) -> str:
        """What a person should know; empty when there is nothing."""
        if self.state == "restarting" or self.restarts >= MANY_RESTARTS:
            return f"started again {self.restarts} times; `bead logs --service {self.service}` says why"
        if self.state != "running":
            return self.state
        return "" if self.health in ("healthy", "") else self.health


def containers(project: str = _OURS) -> list[Container]:
    """Those of a compose project, by service.

    Raises:
        Refused: the SDK is not installed.
        Unavailable: no Docker answers.
    """
    return sorted(_told(each) for each in _listed(project))


def lines(project: str, service: str | None, tail: int) -> Iterator[str]:
    """The last lines of each container's log.

    Raises:
        NotFound: there is no such container.
        Refused, Unavailable: see `containers`.
    """
    found = [each for each in _listed(project) if service in (None, each.labels.get(_SERVICE))]
    if not found:
        raise NotFound(f"no container of {service or 'bead'} in the compose project {project}")
    for each in sorted(found, key=lambda each: str(each.labels.get(_SERVICE))):
        for line in each.logs(tail=tail).decode("utf-8", "replace").splitlines():
            yield f"{each.labels.get(_SERVICE)}: {line}"


def _listed(project: str) -> list[Any]:
    try:
        docker = import_module("docker")
    except ImportError:
        raise Refused("for containers this needs Docker's SDK: pip install 'bead-memory[docker]'") from None
    try:
        client = docker.from_env(timeout=10)
        return list(client.containers.list(all=True, filters={"label": f"{_PROJECT}={project}"}))
    except Exception as error:
        # The SDK raises its own and requests' errors; none of them says more to a person than this.
        raise Unavailable(
            f"Docker does not answer ({type(error).__name__}); is it running, and may you use it?"
        ) from None


def _told(each: Any) -> Container:
    state = each.attrs["State"]
    return Container(
        service=str(each.labels.get(_SERVICE, "")),
        project=str(each.labels.get(_PROJECT, "")),
        state=str(state["Status"]),
        health=str((state.get("Health") or {}).get("Status", "")),
        restarts=int(each.attrs.get("RestartCount", 0)),
    )
