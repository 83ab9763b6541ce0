"""Builds the index file anew in a child process, from the store's answers as they come.

The process that answers models asks the store and hands the bytes on; reading, splitting and writing is the child's
(`building`). Nothing here touches the file in use: putting the new one in its place is `Worker.swap`'s.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from bead.clients.store import StoreClient
from bead.errors import Corrupt, NotFound, Unavailable
from bead.wire.store import ChangeKind, Manifest
from bead_index.frames import END, EPISODE, FACTS, HISTORY, MANIFEST, SESSION, frame

PAGE = 200
"""Facts of one answer: a page is put together on the loop that answers models."""
_LAST_WORDS_S = 60.0
"""How long the child may take for its last batch."""
_PAUSE_AFTER = 20


class _Numbered(msgspec.Struct):
    key: str
    version: int


class _Page(msgspec.Struct):
    """As much of a page of facts as the parent has to know."""

    facts: list[_Numbered]
    next_after: str | None = None


_page = msgspec.json.Decoder(_Page).decode


class Builder:
    """Feeds one child."""

    def __init__(self, store: StoreClient, child: asyncio.subprocess.Process) -> None:
        self._store = store
        self._child = child

    async def build(self, manifest: Manifest) -> None:
        """Let the child write all that `manifest` names.

        Raises:
            Unavailable: the child has ended early, or does not end.
        """
        body = await asyncio.to_thread(lambda: manifest.model_dump_json().encode())
        await self._send(MANIFEST, body)
        await self._send_facts()
        await self._send_sessions(entry.id for entry in manifest.entries if entry.kind is ChangeKind.TURN)
        await self._send_episodes(entry.id for entry in manifest.entries if entry.kind is ChangeKind.EPISODE)
        await self._send(END)
        try:
            async with asyncio.timeout(_LAST_WORDS_S):
                code = await self._child.wait()
        except TimeoutError:
            raise Unavailable("the process that builds the search index does not end") from None
        if code:
            raise Unavailable("the process that builds the search index has ended early")

    async def _send_facts(self) -> None:
        after: str | None = None
        while True:
            body = await self._store.list_facts_raw(after=after, limit=PAGE)
            page = _page(body)
            for fact in page.facts:
                if fact.version > 1:
                    await self._send_history(fact.key)
            await self._send(FACTS, body)
            after = page.next_after
            if after is None:
                return

    async def _send_history(self, key: str) -> None:
        try:
            await self._send(HISTORY, await self._store.history_raw(key))
        except (NotFound, Corrupt):
            return

    async def _send_sessions(self, sessions: Iterable[str]) -> None:
        for number, session in enumerate(sessions):
            if number % _PAUSE_AFTER == 0:
                await asyncio.sleep(0)
            try:
                await self._send(SESSION, await self._store.session_raw(session))
            except (NotFound, Corrupt):
                continue

    async def _send_episodes(self, episodes: Iterable[str]) -> None:
        for episode in episodes:
            try:
                await self._send(EPISODE, await self._store.episode_raw(episode))
            except (NotFound, Corrupt):
                continue

    async def _send(self, kind: bytes, body: bytes = b"") -> None:
        pipe = self._child.stdin
        assert pipe is not None
        try:
            pipe.write(frame(kind, body))
            await pipe.drain()
        except (BrokenPipeError, ConnectionResetError):
            raise Unavailable("the process that builds the search index has ended early") from None


@asynccontextmanager
async def building(store: StoreClient, path: Path) -> AsyncIterator[Builder]:
    """A child that builds `path`; it is gone when the block ends, and so is the file unless it is whole.

    Raises:
        Unavailable: no process can be started.
    """
    try:
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bead_index.building",
            str(path),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError as error:
        raise Unavailable(f"no process can be started to build the search index ({error.strerror})") from None
    try:
        yield Builder(store, child)
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
