"""Which project a request belongs to (D1): what the launcher named, else the directory, else the proxy's own flag.

Looking a directory up runs git in a thread and asks the store, once; the answer is kept. A look-up that takes longer
than a request may wait goes on, so that the next request finds it done.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from bead.clients.store import StoreClient
from bead.errors import BeadError
from bead.projects import Identity
from bead.tasks import Tasks
from bead.wire.store import Project, ResolveProject

MOST_KNOWN = 1_024
"""Look-ups kept (I17)."""

Identify = Callable[[str], Identity | None]


class _Subject(NamedTuple):
    """What is looked up: a directory's path, or a project's name."""

    text: str
    is_directory: bool


class Directories:
    """Look-ups of one process."""

    def __init__(self, store: StoreClient, identify: Identify | None, tasks: Tasks, default: str | None = None) -> None:
        """`identify` asks git about a directory; None where directories cannot be seen, in a container."""
        self._store = store
        self._identify = identify
        self._tasks = tasks
        self._default = default
        self._known: OrderedDict[_Subject, Project | None] = OrderedDict()
        self._running: dict[_Subject, asyncio.Task[Project | BeadError | None]] = {}

    def known(self, named: str | None, directory: str | None) -> bool:
        """Whether `project` answers without asking anybody."""
        subject = self._subject(named, directory)
        return subject is None or subject in self._known

    async def project(self, named: str | None, directory: str | None) -> Project | None:
        """The project; None where there is none. `named` may be a name or an absolute path.

        Raises:
            BeadError: the store did not say.
        """
        subject = self._subject(named, directory)
        if subject is None:
            return None
        if subject in self._known:
            self._known.move_to_end(subject)
            return self._known[subject]
        task = self._running.get(subject)
        if task is None:
            task = self._running[subject] = self._tasks.start(self._look_up(subject), name="look up a project")
        found = await asyncio.shield(task)
        if isinstance(found, BeadError):
            raise found
        return found

    def _subject(self, named: str | None, directory: str | None) -> _Subject | None:
        if named:
            return _Subject(named, is_directory=named.startswith("/"))
        if directory:
            return _Subject(directory, is_directory=True)
        return _Subject(self._default, is_directory=self._default.startswith("/")) if self._default else None

    async def _look_up(self, subject: _Subject) -> Project | BeadError | None:
        try:
            request = await self._request(subject)
            found = await self._store.resolve_project(request) if request else None
        except BeadError as error:
            return error
        finally:
            del self._running[subject]
        self._known[subject] = found
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return found

    async def _request(self, subject: _Subject) -> ResolveProject | None:
        if not subject.is_directory:
            return ResolveProject(name=subject.text)
        if self._identify is None:
            return ResolveProject(directory=subject.text)
        identity = await asyncio.to_thread(self._identify, subject.text)
        return ResolveProject(directory=subject.text, identity=identity.id, name=identity.name) if identity else None
