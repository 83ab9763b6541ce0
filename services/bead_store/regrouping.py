"""Facts of a folder that was a project by its path only go to the project it turned out to belong to (D1).

Which folders those are is in `projects`, and stays there until nothing is left, so a crash is taken up by the next
start; each fact moves whole by `rekey` or `sealing`.
"""

from collections.abc import Callable
from contextlib import suppress

import structlog

from bead.errors import BeadError, Exists
from bead.tasks import Tasks
from bead.wire.store import Rekey, Rekeyed
from bead_store.catalogue import Catalogue
from bead_store.lanes import Lane
from bead_store.projects import Projects

MOST_NAMES = 100
"""Keys that are tried for a fact whose name is taken in the project."""

log = structlog.get_logger()


class Regrouping:
    """At most one at a time, behind everything else in the facts' lane."""

    def __init__(
        self,
        *,
        projects: Projects,
        catalogue: Catalogue,
        sealed: Callable[[], tuple[str, ...]],
        rekey: Callable[[Rekey], Rekeyed],
        lane: Lane,
        tasks: Tasks,
    ) -> None:
        self._projects = projects
        self._catalogue = catalogue
        self._sealed = sealed
        self._rekey = rekey
        self._lane = lane
        self._tasks = tasks
        self._is_running = False

    def soon(self) -> None:
        """Begin if there is something to move. On the event loop."""
        if self._projects.moving() and not self._is_running:
            self._is_running = True
            self._tasks.start(self._run(), name="move facts into their project")

    async def _run(self) -> None:
        try:
            for old, new in self._projects.moving():
                await self._move(old, new)
        finally:
            self._is_running = False

    async def _move(self, old: str, new: str) -> None:
        """One fact a job, so that no write waits for all of them."""
        for key in await self._lane.run(self._keys, old):
            try:
                await self._lane.run(self._move_one, key, old, new)
            except BeadError as error:  # the next start, or the next look at the folder, tries again
                log.warning("a fact could not be moved into its project", error=error.code)
        with suppress(BeadError):
            await self._lane.run(self._close, old)

    def _keys(self, scope: str) -> list[str]:
        plain = self._catalogue.keys_below(scope)
        return [*plain, *(key for key in self._sealed() if key.startswith(f"{scope}/"))]

    def _move_one(self, key: str, old: str, new: str) -> None:
        wanted = new + key.removeprefix(old)
        for number in range(1, MOST_NAMES):
            name = wanted if number == 1 else f"{wanted}-{number}"
            try:
                self._rekey(Rekey(old=key, new=name))
                return
            except Exists:
                continue
        raise Exists("no key is free in the project for a fact of a folder in it")

    def _close(self, scope: str) -> None:
        if not self._keys(scope):
            self._projects.moved(scope)
