"""Client of the store: facts, turns, conversations, the change feed."""

from urllib.parse import quote

import msgspec

from bead.bus.transport import DEFAULT_TIMEOUT_S, InProcessTransport, Transport, call
from bead.conversations import Conversation
from bead.facts import FactVersion
from bead.wire.backup import BackupDone, StartBackup
from bead.wire.dream import Calibration
from bead.wire.episodes import EpisodeList, EpisodeView, EpisodeWritten, WriteEpisode
from bead.wire.forget import ConfirmSelected, SelectForget, SelectPreview
from bead.wire.health import Health
from bead.wire.jobs import ConversationsCleared, JobNoted, JobTable, NoteJob
from bead.wire.store import (
    Acknowledge,
    AppendTurn,
    AuditReport,
    ChangePage,
    CommitBlocks,
    ConfirmForget,
    DamageReport,
    Decided,
    FactList,
    FindConversation,
    ForgetKeys,
    ForgetPreview,
    ForgetReceipt,
    History,
    Manifest,
    Mark,
    Project,
    Rekey,
    Rekeyed,
    RescanProgress,
    ResolveProject,
    ReviewQueue,
    SessionList,
    SessionView,
    TurnAppended,
    UseRefreshed,
    WriteAnswer,
    WriteFact,
)
from bead.wire.traces import KeptTrace, TraceKept, TracePage, TurnTrace

FORGET_TIMEOUT_S = 600.0
"""A forget reads the whole raw log."""

BACKUP_TIMEOUT_S = 3_600.0
"""The first one encrypts everything."""

_READS_ALL_S = 60.0
_REWRITES_MANY_S = 600.0

_encode = msgspec.json.Encoder().encode
_conversation = msgspec.json.Decoder(Conversation).decode
_appended = msgspec.json.Decoder(TurnAppended).decode
_trace_page = msgspec.json.Decoder(TracePage).decode
_kept_trace = msgspec.json.Decoder(KeptTrace).decode


class StoreClient:
    """The one writer, as others see it. Every method raises the `BeadError` that the store raised."""

    def __init__(self, bus: Transport) -> None:
        self._bus = bus

    @property
    def keeps_order(self) -> bool:
        """Whether calls reach the store in the order in which they are begun; over sockets they need not."""
        return isinstance(self._bus, InProcessTransport)

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

    async def list_facts_raw(self, after: str | None = None, limit: int = 1_000) -> bytes:
        """`list_facts` of all scopes, as the bytes that came; for handing on."""
        return await call(self._bus, "GET", "/v1/facts", query={"after": after, "limit": limit})

    async def history_raw(self, key: str) -> bytes:
        """`history` as the bytes that came."""
        return await call(self._bus, "GET", f"/v1/facts/{quote(key, safe='')}/history")

    async def session_raw(self, session: str) -> bytes:
        """`session` from its first turn, as the bytes that came."""
        return await call(self._bus, "GET", f"/v1/sessions/{quote(session, safe='')}", query={"after": 0})

    async def episode_raw(self, id: str) -> bytes:
        """`episode` as the bytes that came."""
        return await call(self._bus, "GET", f"/v1/episodes/{quote(id, safe='')}")

    async def mark(self, mark: Mark) -> FactVersion:
        """Pin, unpin or change the status of the current version."""
        body = mark.model_dump_json(exclude_none=True).encode()
        return FactVersion.model_validate_json(await call(self._bus, "POST", "/v1/marks", body))

    async def review_queue(self) -> ReviewQueue:
        """What waits for a person."""
        return ReviewQueue.model_validate_json(await call(self._bus, "GET", "/v1/queue"))

    async def accept(self, item: str) -> Decided:
        """Write the value of a review item as the person's own.

        Raises:
            NotFound: no such item waits.
        """
        answer = await call(self._bus, "POST", f"/v1/queue/{quote(item, safe='')}/accept", b"{}")
        return Decided.model_validate_json(answer)

    async def reject(self, item: str) -> Decided:
        """Drop a review item and refuse the same proposal from now on."""
        answer = await call(self._bus, "POST", f"/v1/queue/{quote(item, safe='')}/reject", b"{}")
        return Decided.model_validate_json(answer)

    async def rekey(self, request: Rekey) -> Rekeyed:
        """Move a fact with its history to another key.

        Raises:
            Exists: something is stored under the new key.
        """
        return Rekeyed.model_validate_json(
            await call(self._bus, "POST", "/v1/rekey", request.model_dump_json().encode())
        )

    async def preview_forget(self, request: ForgetKeys) -> ForgetPreview:
        """What a forget of these keys would take, and the word that confirms it."""
        body = request.model_dump_json().encode()
        answer = await call(self._bus, "POST", "/v1/forget/preview", body, timeout_s=FORGET_TIMEOUT_S)
        return ForgetPreview.model_validate_json(answer)

    async def forget(self, request: ConfirmForget) -> ForgetReceipt:
        """Leave no byte of these keys and of the text they hold.

        Raises:
            NotConfirmed: the word is not that of a preview of exactly these keys as they are now.
        """
        body = request.model_dump_json().encode()
        answer = await call(self._bus, "POST", "/v1/forget", body, timeout_s=FORGET_TIMEOUT_S)
        return ForgetReceipt.model_validate_json(answer)

    async def preview_selected(self, request: SelectForget) -> SelectPreview:
        """What a forget of this text, or of this session, would take, and the word that confirms it."""
        body = request.model_dump_json(exclude_none=True).encode()
        answer = await call(self._bus, "POST", "/v1/forget/select/preview", body, timeout_s=FORGET_TIMEOUT_S)
        return SelectPreview.model_validate_json(answer)

    async def forget_selected(self, request: ConfirmSelected) -> ForgetReceipt:
        """Leave no byte of this text, or of this session and what was learnt only there.

        Raises:
            NotConfirmed: the word is not that of a preview of exactly this as it is now.
        """
        body = request.model_dump_json(exclude_none=True).encode()
        answer = await call(self._bus, "POST", "/v1/forget/select", body, timeout_s=FORGET_TIMEOUT_S)
        return ForgetReceipt.model_validate_json(answer)

    async def calibration(self) -> Calibration:
        """What judged turns taught the gate."""
        return Calibration.model_validate_json(await call(self._bus, "GET", "/v1/dream/calibration"))

    async def damage(self) -> DamageReport:
        """Files that cannot be read, with line and reason, and files that were left alone."""
        return DamageReport.model_validate_json(await call(self._bus, "GET", "/v1/damage"))

    async def verify_audit(self) -> AuditReport:
        """Whether the chain of the audit log holds; reads all of it."""
        return AuditReport.model_validate_json(await call(self._bus, "GET", "/v1/audit/verify", timeout_s=_READS_ALL_S))

    async def refresh_use(self) -> UseRefreshed:
        """Let every fact's file say when it was injected last."""
        return UseRefreshed.model_validate_json(
            await call(self._bus, "POST", "/v1/use/refresh", timeout_s=_REWRITES_MANY_S)
        )

    async def jobs(self) -> JobTable:
        """The scheduler's table as it was kept last."""
        return JobTable.model_validate_json(await call(self._bus, "GET", "/v1/jobs"))

    async def note_job(self, note: NoteJob) -> JobNoted:
        """Keep one line of the scheduler's table, unless a run has begun that the note has not seen."""
        body = note.model_dump_json().encode()
        return JobNoted.model_validate_json(await call(self._bus, "POST", "/v1/jobs/note", body))

    async def backup(self, request: StartBackup) -> BackupDone:
        """Bring a backup up to date; everything in it is durable when this returns.

        Raises:
            NoVault: there is nobody to encrypt for.
        """
        body = request.model_dump_json(exclude_none=True).encode()
        return BackupDone.model_validate_json(
            await call(self._bus, "POST", "/v1/backup", body, timeout_s=BACKUP_TIMEOUT_S)
        )

    async def clear_conversations(self) -> ConversationsCleared:
        """Remove conversation state that has not been used for long."""
        answer = await call(self._bus, "POST", "/v1/conversations/clear", timeout_s=120.0)
        return ConversationsCleared.model_validate_json(answer)

    async def rescan(self) -> RescanProgress:
        """Start a scan of all stored text for credentials, unless one runs; it goes on by itself."""
        return RescanProgress.model_validate_json(await call(self._bus, "POST", "/v1/scan/rescan"))

    async def rescan_progress(self) -> RescanProgress:
        """How far the newest one is."""
        return RescanProgress.model_validate_json(await call(self._bus, "GET", "/v1/scan/rescan"))

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

    async def write_episode(self, request: WriteEpisode) -> EpisodeWritten:
        """Keep the summary of a past session; durable when this returns."""
        body = request.model_dump_json(exclude_none=True).encode()
        return EpisodeWritten.model_validate_json(await call(self._bus, "POST", "/v1/episodes", body))

    async def episodes(self, limit: int = 100) -> EpisodeList:
        """Known episodes, newest first."""
        return EpisodeList.model_validate_json(await call(self._bus, "GET", "/v1/episodes", query={"limit": limit}))

    async def episode(self, id: str) -> EpisodeView:
        """One episode.

        Raises:
            NotFound: there is none of that id.
        """
        path = f"/v1/episodes/{quote(id, safe='')}"
        return EpisodeView.model_validate_json(await call(self._bus, "GET", path))

    async def changes(self, epoch: str, after: int, wait_s: float = 0.0, gather_s: float = 0.0) -> ChangePage:
        """Changes after `after`, waiting up to `wait_s` for the first, and `gather_s` more while turns are all."""
        query: dict[str, str | float] = {"epoch": epoch, "after": after, "wait_s": wait_s, "gather_s": gather_s}
        longest_s = wait_s + gather_s + DEFAULT_TIMEOUT_S
        answer = await call(self._bus, "GET", "/v1/changes", query=query, timeout_s=longest_s)
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

    async def keep_trace(self, trace: TurnTrace) -> int:
        """Keep what one request was given and why; its number."""
        answer = await call(self._bus, "POST", "/v1/traces", _encode(trace))
        return msgspec.json.decode(answer, type=TraceKept).seq

    async def traces(self, after: int | None = None, limit: int = 100, wait_s: float = 0.0) -> TracePage:
        """Traces after number `after`, newest last, waiting up to `wait_s` for the first; without it the newest."""
        query: dict[str, str | int | float | None] = {"after": after, "limit": limit, "wait_s": wait_s}
        answer = await call(self._bus, "GET", "/v1/traces", query=query, timeout_s=wait_s + DEFAULT_TIMEOUT_S)
        return _trace_page(answer)

    async def trace(self, turn: str) -> KeptTrace:
        """The newest trace of `turn`.

        Raises:
            NotFound: none is kept.
        """
        return _kept_trace(await call(self._bus, "GET", f"/v1/traces/{quote(turn, safe='/')}"))
