"""The drain by itself, inside `bead up`: when it starts, once a day as a job, and when a hook has left a note.

Only agents that `drain.enabled` turns on, and nothing is ever emptied (I4). Work with files is done in a thread.
"""

import asyncio
import os
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import structlog

from bead.bus.transport import Transport
from bead.clients.drafts import DraftClient
from bead.clients.store import StoreClient
from bead.errors import BeadError, Unavailable
from bead.git import identify
from bead.settings import DrainSettings
from bead.wire.drafts import CLIS, DraftAnswer, NewDraft
from bead.wire.store import ResolveProject
from bead_cli.drain import notes, places
from bead_cli.drain.draining import Bus, Report, Wish, drain, enabled

_CALL_S = 30.0
LOOK_S = 5.0
"""Between two looks for notes."""

log = structlog.get_logger()


class Automatic:
    """The drain of one running bead."""

    def __init__(self, settings: DrainSettings, home: str, store: Transport, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._home = home
        self._drafts, self._store = DraftClient(store), StoreClient(store)
        self._environ = environ
        self._at_work = asyncio.Lock()
        self.clis = enabled(settings.enabled, CLIS)

    async def work(self) -> str:
        """The daily job: everything that is turned on.

        Raises:
            Unavailable: the store did not take it; what is missing comes with the next drain.
        """
        if not self.clis:
            return "off; the setting drain.enabled turns it on"
        async with self._at_work:
            report = await self._drain(self.clis, self._environ)
        if report.trouble:
            raise Unavailable(report.trouble)
        counts = ", ".join(f"{count} {verb}" for verb, count in report.counts().items())
        return counts or "nothing new"

    async def watch(self, stop: asyncio.Event, look_s: float = LOOK_S) -> None:
        """Drain once, then whenever notes lie there, until `stop`."""
        if not self.clis:
            return
        await self._quietly(self.work())
        while not stop.is_set():
            await self._quietly(self.look())
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), look_s)

    async def look(self) -> str:
        """Do what the notes ask for, and take those away."""
        waiting = await asyncio.to_thread(notes.waiting, self._home)
        if not waiting:
            return ""
        async with self._at_work:
            for environ, clis in self._asked([note for _, note in waiting]):
                report = await self._drain(clis, environ)
                if report.trouble:
                    raise Unavailable(report.trouble)
            await asyncio.to_thread(notes.done, [path for path, _ in waiting])
        return f"{len(waiting)} notes"

    def _asked(self, found: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, str], list[str]]]:
        """Where to look for whom, each once; a note without an agent asks for all."""
        on_write = enabled(self._settings.on_write, self.clis)
        wanted: dict[str, set[str]] = {}
        for note in found:
            allowed = on_write if note.get("on_write") else self.clis
            named = note.get("cli")
            clis = [named] if named in CLIS else allowed
            wanted.setdefault(str(note.get("config") or ""), set()).update(cli for cli in clis if cli in allowed)
        return [
            ({**self._environ, "CLAUDE_CONFIG_DIR": config} if config else self._environ, sorted(clis))
            for config, clis in wanted.items()
            if clis
        ]

    async def _drain(self, clis: Sequence[str], environ: Mapping[str, str]) -> Report:
        loop = asyncio.get_running_loop()

        def add(new: NewDraft) -> DraftAnswer:
            return asyncio.run_coroutine_threadsafe(self._drafts.add(new), loop).result(_CALL_S)

        def project(directory: str) -> str | None:
            found = identify(directory)
            if found is None:
                return None
            request = ResolveProject(directory=directory, identities=found.ids, name=found.name)
            asked = asyncio.run_coroutine_threadsafe(self._store.resolve_project(request), loop)
            resolved = asked.result(_CALL_S)
            return resolved.name if resolved else None

        def whole() -> Report:
            uid = os.getuid()
            return drain(places.find(environ, clis, uid), Bus(add, project), Wish(), uid)

        report = await asyncio.to_thread(whole)
        log.info("drained", counts=report.counts(), files=len(report.files), ended_early=bool(report.trouble))
        return report

    async def _quietly(self, work: Awaitable[str]) -> None:
        """A drain that fails is the next one's; bead runs on."""
        try:
            await work
        except (BeadError, OSError, TimeoutError) as error:
            log.warning("the drain did not come to its end", error=type(error).__name__)
