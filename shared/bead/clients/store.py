"""Client of the store: facts, turns, conversations, the change feed."""

from urllib.parse import quote

import msgspec

from bead.bus.transport import DEFAULT_TIMEOUT_S, Transport, call
from bead.conversations import Conversation
from bead.facts import FactVersion
from bead.wire.health import Health
from bead.wire.store import (
    Acknowledge,
    AppendTurn,
    ChangePage,
    CommitBlocks,
    DamageReport,
    FactList,
    FindConversation,
    History,
    Manifest,
    Mark,
    Project,
    ResolveProject,
    ReviewQueue,
    SessionList,
    SessionView,
    TurnAppended,
    WriteAnswer,
    WriteFact,
)

_encode = msgspec.json.Encoder().encode
_conversation = msgspec.json.Decoder(Conversation).decode
_appended = msgspec.json.Decoder(TurnAppended).decode


class StoreClient:
    """The one writer, as others see it. Every method raises the `BeadError` that the store raised."""

    def __init__(self, bus: Transport) -> None:
        self._bus = bus

    async def health(self) -> Health:
        """Readiness and what is degraded."""
        return Health.model_validate_json(await call(self._bus, "GET", "/health"))

    async def write_fact(self, request: WriteFact) -> WriteAnswer:
        """Write through the supersession rule; durable when this returns."""
        body = request.model_dump_json(exclude_none=True).encode()
        return WriteAnswer.model_validate_json(await call(self._bus, "POST", "/v1/facts", body))

    async def current_fact(self, key: str) -> FactVersion:
        """The highest version of `key`.

        Raises:
            NotFound: no such key.
            DamagedFile: its highest version cannot be read.
        """
        return FactVersion.model_validate_json(await call(self._bus, "GET", f"/v1/facts/{quote(key, safe='')}"))

    async def history(self, key: str) -> History:
        """Every readable version of `key`, oldest first."""
        return History.model_validate_json(await call(self._bus, "GET", f"/v1/facts/{quote(key, safe='')}/history"))

    async def list_facts(self, scope: str | None = None, after: str | None = None, limit: int = 1_000) -> FactList:
        """Current facts by key, from after `after`; of one scope, or all."""
        query: dict[str, str | int | None] = {"scope": scope, "after": after, "limit": limit}
        return FactList.model_validate_json(await call(self._bus, "GET", "/v1/facts", query=query))

    async def mark(self, mark: Mark) -> FactVersion:
        """Pin, unpin or change the status of the current version."""
        body = mark.model_dump_json(exclude_none=True).encode()
        return FactVersion.model_validate_json(await call(self._bus, "POST", "/v1/marks", body))

    async def review_queue(self) -> ReviewQueue:
        """What waits for a person."""
        return ReviewQueue.model_validate_json(await call(self._bus, "GET", "/v1/queue"))

    async def damage(self) -> DamageReport:
        """Files that cannot be read, with line and reason, and files that were left alone."""
        return DamageReport.model_validate_json(await call(self._bus, "GET", "/v1/damage"))

    async def resolve_project(self, request: ResolveProject) -> Project | None:
        """The project of a directory or identity, made known when it is new; None where there is no project."""
        answer = await call(self._bus, "POST", "/v1/projects/resolve", request.model_dump_json().encode())
        return None if answer == b"null" else Project.model_validate_json(answer)

    async def sessions(self, limit: int = 100) -> SessionList:
        """Known sessions, newest first."""
        return SessionList.model_validate_json(await call(self._bus, "GET", "/v1/sessions", query={"limit": limit}))

    async def session(self, session: str, after: int = 0) -> SessionView:
        """The turns of one session whose ordinal is greater than `after`."""
        path = f"/v1/sessions/{quote(session, safe='')}"
        return SessionView.model_validate_json(await call(self._bus, "GET", path, query={"after": after}))

    async def changes(self, epoch: str, after: int, wait_s: float = 0.0) -> ChangePage:
        """Changes after `after`, waiting up to `wait_s` for the first one."""
        query: dict[str, str | float] = {"epoch": epoch, "after": after, "wait_s": wait_s}
        answer = await call(self._bus, "GET", "/v1/changes", query=query, timeout_s=wait_s + DEFAULT_TIMEOUT_S)
        return ChangePage.model_validate_json(answer)

    async def acknowledge(self, consumer: str, epoch: str, seq: int) -> None:
        """Say that everything up to `seq` is applied."""
        body = Acknowledge(consumer=consumer, epoch=epoch, seq=seq).model_dump_json().encode()
        await call(self._bus, "POST", "/v1/changes/ack", body)

    async def manifest(self) -> Manifest:
        """Everything a derived copy must hold, with hashes."""
        return Manifest.model_validate_json(await call(self._bus, "GET", "/v1/manifest"))

    async def append_turn(self, request: AppendTurn) -> TurnAppended:
        """Write one turn; it survives the death of any process when this returns, fsync follows (D12)."""
        return _appended(await call(self._bus, "POST", "/v1/turns", _encode(request)))

    async def find_conversation(self, request: FindConversation) -> Conversation:
        """The thread's conversation with every block pinned to one of the positions; generation 0 when it is new."""
        return _conversation(await call(self._bus, "POST", "/v1/conversations/find", _encode(request)))

    async def commit_blocks(self, request: CommitBlocks) -> Conversation:
        """Keep blocks under the expected generation; the answer holds no blocks.

        Raises:
            StaleConversation: `facts["state"]` is the conversation as it is now.
        """
        return _conversation(await call(self._bus, "POST", "/v1/conversations/commit", _encode(request)))
