"""Which project a request belongs to (D1): what the launcher named, else the directory, else the proxy's own flag.

Looking a directory up runs git in a thread and asks the store; the answer is kept. A look-up that takes longer than a
request may wait goes on, so that the next request finds it done. An answer that is a minute old is looked up again
beside the request that uses it: a repository may have been given a remote, or a directory have become one.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from bead.clients.store import StoreClient
from bead.errors import BeadError
from bead.keys import project_name
from bead.projects import Identity
from bead.tasks import Tasks
from bead.wire.store import Project, ResolveProject

MOST_KNOWN = 1_024
"""Look-ups kept (I17)."""
FRESH_S = 60.0
"""Age from which an answer is looked up again."""

Identify = Callable[[str], Identity | None]


class _Subject(NamedTuple):
    """What is looked up: a directory's path, or a project's name."""

    text: str
    is_directory: bool


class _Answer(NamedTuple):
    """What a directory was found to be, and when on the clock."""

    project: Project | None
    at: float


class Directories:
    """Look-ups of one process."""

    def __init__(
        self,
        store: StoreClient,
        identify: Identify | None,
        tasks: Tasks,
        default: str | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`identify` asks git about a directory; None where directories cannot be seen, in a container."""
        self._store = store
        self._identify = identify
        self._tasks = tasks
        self._default = default
        self._known: OrderedDict[str, _Answer] = OrderedDict()
        self._clock = clock
        self._running: dict[str, asyncio.Task[Project | BeadError | None]] = {}

    def known(self, named: str | None, directory: str | None) -> bool:
        """Whether `project` answers without asking anybody."""
        subject = self._subject(named, directory)
        return subject is None or not subject.is_directory or subject.text in self._known

    async def project(self, named: str | None, directory: str | None) -> Project | None:
        """The project; None where there is none. `named` may be the name of its scope or an absolute path.

        A project that is named needs no look-up, and has no identity here.

        Raises:
            BeadError: the store did not say.
        """
        subject = self._subject(named, directory)
        if subject is None:
            return None
        if not subject.is_directory:
            return Project(name=project_name(subject.text), identity="")
        return await self._of_directory(subject.text)

    async def _of_directory(self, directory: str) -> Project | None:
        known = self._known.get(directory)
        if known is not None:
            self._known.move_to_end(directory)
            if self._clock() - known.at >= FRESH_S:
                self._started(directory)
            return known.project
        found = await asyncio.shield(self._started(directory))
        if isinstance(found, BeadError):
            raise found
        return found

    def _started(self, directory: str) -> "asyncio.Task[Project | BeadError | None]":
        """The look-up that is under way, or a new one."""
        task = self._running.get(directory)
        if task is None:
            task = self._running[directory] = self._tasks.start(self._look_up(directory), name="look up a project")
        return task

    def _subject(self, named: str | None, directory: str | None) -> _Subject | None:
        if named:
            return _Subject(named, is_directory=named.startswith("/"))
        if directory:
            return _Subject(directory, is_directory=True)
        return _Subject(self._default, is_directory=self._default.startswith("/")) if self._default else None

    async def _look_up(self, directory: str) -> Project | BeadError | None:
        try:
            question = await self._question(directory)
            found = await self._store.resolve_project(question) if question else None
        except BeadError as error:
            if known := self._known.get(directory):
                # What it was is still the best answer; not asked again at once by every request.
                self._known[directory] = known._replace(at=self._clock())
            return error
        finally:
            del self._running[directory]
        self._known[directory] = _Answer(found, self._clock())
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return found

    async def _question(self, directory: str) -> ResolveProject | None:
        if self._identify is None:
            return ResolveProject(directory=directory)
        identity = await asyncio.to_thread(self._identify, directory)
        if identity is None:
            return None
        return ResolveProject(directory=directory, identities=identity.ids, name=identity.name)
