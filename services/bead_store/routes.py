"""Translates between the bus and the store; decides nothing."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, TypeVar
from urllib.parse import unquote

import msgspec
from fastapi import FastAPI, Query, Request, Response
from pydantic import BaseModel, ValidationError

from bead import keys
from bead.bus.service import HotRoute
from bead.errors import BadRequest
from bead.facts import FactVersion, Sensitivity
from bead.wire.store import (
    Acknowledge,
    AppendTurn,
    AuditReport,
    ChangeKind,
    ChangePage,
    CommitBlocks,
    ConfirmForget,
    Damage,
    DamageReport,
    Decided,
    FactList,
    FindConversation,
    ForgetKeys,
    ForgetPreview,
    ForgetReceipt,
    History,
    Manifest,
    ManifestEntry,
    Mark,
    Project,
    Rekey,
    Rekeyed,
    RescanProgress,
    ResolveProject,
    ReviewQueue,
    SessionList,
    UseRefreshed,
    WriteFact,
)
from bead_store.intents import Operation
from bead_store.traces import keep_route

if TYPE_CHECKING:
    from bead_store.app import Store

MAX_PAGE = 10_000
_FACTS = "/v1/facts/"
_encode = msgspec.json.Encoder().encode

StructT = TypeVar("StructT")


def add_routes(api: FastAPI, store: Callable[[], "Store"]) -> None:
    """Everything but the hot routes."""

    @api.get("/v1/facts", response_model=None)
    async def list_facts(
        scope: str | None = None, after: str | None = None, limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 1_000
    ) -> Response:
        facts, next_after = store().catalogue.page(keys.check_scope(scope) if scope else None, after, limit)
        return _json(FactList(facts=facts, next_after=next_after))

    @api.get("/v1/facts/{key:path}", response_model=None)
    async def get_fact(request: Request) -> Response:
        key, wants_history = _asked(request)
        store().vault.require_plain(key)
        if wants_history:
            versions = await store().read_lane.run(store().catalogue.history, key)
            return _json(History(key=key, versions=versions))
        return _json(store().catalogue.current(key))

    @api.post("/v1/marks")
    async def mark(request: Mark) -> FactVersion:
        return await store().fact_lane.run(store().facts.mark, request)

    @api.get("/v1/queue")
    async def queue() -> ReviewQueue:
        return ReviewQueue(items=await store().read_lane.run(store().review.items))

    @api.post("/v1/queue/{item:path}/accept")
    async def accept(item: str) -> Decided:
        return await store().fact_lane.run(store().verdicts.decide, Operation.ACCEPT, item)

    @api.post("/v1/queue/{item:path}/reject")
    async def reject(item: str) -> Decided:
        return await store().fact_lane.run(store().verdicts.decide, Operation.REJECT, item)

    @api.post("/v1/rekey")
    async def rekey(request: Rekey) -> Rekeyed:
        return await store().fact_lane.run(store().sealing.rekey, request, store().rekeying.rekey)

    @api.post("/v1/forget/preview")
    async def preview_forget(request: ForgetKeys) -> ForgetPreview:
        return await store().forgetting.preview(request)

    @api.post("/v1/forget")
    async def forget(request: ConfirmForget) -> ForgetReceipt:
        return await store().forgetting.forget(request)

    @api.post("/v1/use/refresh")
    async def refresh_use() -> UseRefreshed:
        return await store().refresh_use()

    @api.get("/v1/damage")
    async def damage() -> DamageReport:
        found = store().damage() + await store().read_lane.run(store().review.damage)
        found += await store().read_lane.run(store().drafts.files.damage)
        found += await store().read_lane.run(store().episodes.damage)
        left_alone = await store().read_lane.run(store().catalogue.notes)
        files = tuple(
            Damage(path=error.facts["path"], line=error.facts["line"], reason=error.facts["reason"]) for error in found
        )
        notes = tuple(Damage(path=note.path, line=None, reason=note.reason) for note in left_alone)
        return DamageReport(files=files, notes=notes)

    @api.get("/v1/audit/verify")
    async def verify_audit() -> AuditReport:
        return await store().slow_lane.run(store().audit.verify)

    @api.post("/v1/scan/rescan")
    async def rescan() -> RescanProgress:
        if store().credentials.begin():
            store().tasks.start(store().credentials.run(), name="rescan")
        return store().credentials.progress

    @api.get("/v1/scan/rescan")
    async def rescan_progress() -> RescanProgress:
        return store().credentials.progress

    @api.post("/v1/projects/resolve")
    async def resolve_project(request: ResolveProject) -> Project | None:
        found = await store().fact_lane.run(store().projects.resolve, request)
        store().regrouping.soon()
        return found

    @api.get("/v1/sessions")
    async def sessions(limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100) -> SessionList:
        return SessionList(sessions=store().raw.sessions(limit))

    @api.get("/v1/sessions/{session:path}", response_model=None)
    async def session(session: str, after: Annotated[int, Query(ge=0)] = 0) -> Response:
        return _json(await store().read_lane.run(store().raw.read, session, after))

    @api.get("/v1/changes")
    async def changes(
        epoch: str = "",
        after: int = 0,
        wait_s: Annotated[float, Query(ge=0)] = 0.0,
        gather_s: Annotated[float, Query(ge=0)] = 0.0,
    ) -> ChangePage:
        return await store().changes.page(epoch, after, wait_s, gather_s)

    @api.post("/v1/changes/ack", status_code=204, response_class=Response)
    async def acknowledge(request: Acknowledge) -> None:
        store().changes.acknowledge(request.consumer, request.epoch, request.seq)
        await store().forgetting.acknowledged()

    @api.get("/v1/manifest", response_model=None)
    async def manifest() -> Response:
        return _json(await store().read_lane.run(_manifest, store()))


def hot_routes(store: Callable[[], "Store"]) -> Mapping[str, HotRoute]:
    """What stands in the way of a model request, and the write: plain functions over bytes."""
    turn = msgspec.json.Decoder(AppendTurn)
    find = msgspec.json.Decoder(FindConversation)
    commit = msgspec.json.Decoder(CommitBlocks)

    async def write_fact(body: bytes) -> bytes:
        request = _write_request(body)
        if request.sensitivity is Sensitivity.SECRET:
            answer = await store().sealing.write(request)
        else:
            answer = await store().fact_lane.run(store().facts.write, request)
        store().writes.labels(answer.verb.value).inc()
        return answer.model_dump_json().encode()

    async def append_turn(body: bytes) -> bytes:
        return _encode(await store().turn_lane.run(store().raw.append, _decoded(turn, body)))

    async def find_conversation(body: bytes) -> bytes:
        return _encode(await store().turn_lane.run(store().conversations.find, _decoded(find, body)))

    async def commit_blocks(body: bytes) -> bytes:
        return _encode(await store().turn_lane.run(store().conversations.commit, _decoded(commit, body)))

    return {
        "/v1/facts": write_fact,
        "/v1/turns": append_turn,
        "/v1/conversations/find": find_conversation,
        "/v1/conversations/commit": commit_blocks,
        "/v1/traces": keep_route(lambda: store().traces),
    }


def _asked(request: Request) -> tuple[str, bool]:
    """The key in a path, and whether its history is asked for.

    Read from the path as it was sent: `user%2Feditor/history` is the history of `user/editor`, and
    `user%2Feditor%2Fhistory` is a key. Spelled with plain slashes a last `history` asks for the history.
    """
    raw: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    tail = raw.decode("latin-1").partition(_FACTS)[2]
    name, slash, last = tail.rpartition("/")
    wants_history = bool(slash) and last == "history"
    return str(keys.parse(unquote(name if wants_history else tail))), wants_history


def _write_request(body: bytes) -> WriteFact:
    try:
        return WriteFact.model_validate_json(body)
    except ValidationError as error:
        # Places and rules only: a validation error's input is what somebody sent.
        wrong = "; ".join(f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in error.errors())
        raise BadRequest(f"the request is not well formed: {wrong}") from None


def _decoded(decoder: msgspec.json.Decoder[StructT], body: bytes) -> StructT:
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # Places only: a message of the decoder may quote what was sent.
        place = str(error).rpartition(" - at ")[2] if " - at " in str(error) else "the body"
        raise BadRequest(f"the request is not well formed: {place}") from None


def _json(model: BaseModel) -> Response:
    """Models of ours are valid already: no second validation on the way out."""
    return Response(model.model_dump_json(), media_type="application/json")


def _manifest(store: "Store") -> Manifest:
    # The number first: what changes while this is put together is told again by the feed.
    seq = store.changes.seq
    facts = [
        ManifestEntry(kind=ChangeKind.FACT, id=entry.key, hash=entry.hash)
        for entry in store.catalogue.entries()
        if not entry.trouble
    ]
    turns = [ManifestEntry(kind=ChangeKind.TURN, id=name, hash=state) for name, state in store.raw.states()]
    episodes = [ManifestEntry(kind=ChangeKind.EPISODE, id=id, hash=state) for id, state in store.episodes.states()]
    return Manifest(epoch=store.changes.epoch, seq=seq, entries=(*facts, *turns, *episodes))
