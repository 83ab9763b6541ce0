"""A store and an index that live in memory, behind the real clients: what the proxy asks of them and nothing else.

`Switch` stands between a client and its service and breaks the way services break: down, or silent.
"""

import asyncio
import json
from datetime import UTC, datetime
from enum import StrEnum

import msgspec

from bead.bus.transport import DEFAULT_TIMEOUT_S, Answer, Transport
from bead.conversations import Block, Conversation, is_told
from bead.errors import BeadError, NotFound, ServiceDown, StaleConversation, to_problem
from bead.facts import FactType, FactVersion, Status
from bead.recall import RecalledFact
from bead.wire.index import PinnedAnswer, PinnedRequest, RecallAnswer, RecallRequest
from bead.wire.store import (
    AppendTurn,
    CommitBlocks,
    FactList,
    FindConversation,
    SessionList,
    SessionView,
    TurnAppended,
    TurnView,
    Verb,
    WriteAnswer,
    WriteFact,
)
from bead.wire.traces import KeptTrace, TraceKept, TracePage, TurnTrace


class Mode(StrEnum):
    """How a service behaves."""

    WELL = "well"
    DOWN = "down"
    SILENT = "silent"


class Switch:
    """A transport that can break."""

    def __init__(self, service: Transport) -> None:
        self._service = service
        self.mode = Mode.WELL
        self.paths: list[str] = []
        """Calls that were tried, in order."""
        self._lost: dict[str, asyncio.Event] = {}
        self._held: dict[str, asyncio.Event] = {}
        self._answered: list[str] = []
        self._changed = asyncio.Condition()

    def count(self, path: str) -> int:
        return self.paths.count(path)

    def lose_answer_of(self, path: str) -> asyncio.Event:
        """The next call of `path` is done but never answered; the event says that it was done."""
        self._lost[path] = asyncio.Event()
        return self._lost[path]

    def hold(self, path: str) -> asyncio.Event:
        """Calls of `path` wait for the event."""
        self._held[path] = asyncio.Event()
        return self._held[path]

    async def send(self, method: str, path: str, body: bytes = b"", *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Answer:
        self.paths.append(path)
        if path in self._held:
            await self._held[path].wait()
        if self.mode is Mode.WELL and (lost := self._lost.pop(path, None)):
            await self._service.send(method, path, body, timeout_s=timeout_s)
            lost.set()
            await asyncio.Event().wait()
        if self.mode is Mode.DOWN:
            raise ServiceDown("no answer from the service")
        if self.mode is Mode.SILENT:
            await asyncio.Event().wait()
        answer = await self._service.send(method, path, body, timeout_s=timeout_s)
        self._answered.append(path)
        async with self._changed:
            self._changed.notify_all()
        return answer

    async def answered(self, path: str, count: int) -> None:
        """Wait until that many calls of `path` were answered."""
        async with asyncio.timeout(10), self._changed:
            await self._changed.wait_for(lambda: self._answered.count(path) >= count)


class _Service:
    async def send(self, method: str, path: str, body: bytes = b"", *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Answer:
        try:
            return Answer(200, self.answer(path, body))
        except BeadError as error:
            return Answer(error.status, json.dumps(to_problem(error)).encode())

    def answer(self, path: str, body: bytes) -> bytes:
        raise NotImplementedError


class FakeStore(_Service):
    """Turns, facts and conversations, gone with the process."""

    def __init__(self) -> None:
        self.turns: list[AppendTurn] = []
        self.facts: list[FactVersion] = []
        self.traces: list[KeptTrace] = []
        self.generations: dict[str, int] = {}
        self.blocks: dict[str, list[Block]] = {}

    def answer(self, path: str, body: bytes) -> bytes:
        if path.startswith("/v1/sessions"):
            return self._turns_of(path.partition("?")[0].removeprefix("/v1/sessions").removeprefix("/"))
        match path.partition("?")[0]:
            case "/v1/turns":
                return msgspec.json.encode(self._append(msgspec.json.decode(body, type=AppendTurn)))
            case "/v1/conversations/find":
                return msgspec.json.encode(self._find(msgspec.json.decode(body, type=FindConversation)))
            case "/v1/conversations/commit":
                return msgspec.json.encode(self._commit(msgspec.json.decode(body, type=CommitBlocks)))
            case "/v1/projects/resolve":
                asked = json.loads(body)
                name = asked["name"] or asked["directory"].rsplit("/", 1)[-1]
                return json.dumps({"name": name, "identity": [*asked["identities"], f"path:{name}"][0]}).encode()
            case "/v1/facts":
                return self._facts(body)
            case "/v1/traces":
                return self._traces(body)
        raise NotFound(path)

    def forget(self, uid: str) -> None:
        """Drop every block with that fact, as a forget does."""
        for conversation, blocks in self.blocks.items():
            kept = [block for block in blocks if uid not in block.fact_uids]
            if len(kept) < len(blocks):
                self.blocks[conversation] = kept
                self.generations[conversation] += 1

    def _turns_of(self, session: str) -> bytes:
        if not session:
            names = {turn.session for turn in self.turns}
            return SessionList(sessions=tuple(names)).model_dump_json().encode()
        turns = [
            TurnView(
                session=session, ordinal=number, role=turn.role, at=datetime.fromisoformat(turn.at),
                project=turn.project, text=turn.text, complete=turn.complete,
                source=f"raw/2026/11/30/{session}.md#turn-{number}",
            )
            for number, turn in enumerate(self.turns, 1)
            if turn.session == session
        ]  # fmt: skip
        return SessionView(session=session, turns=tuple(turns)).model_dump_json().encode()

    def _facts(self, body: bytes) -> bytes:
        if not body:
            return FactList(facts=tuple(self.facts)).model_dump_json().encode()
        asked = WriteFact.model_validate_json(body)
        number = len(self.facts) + 1
        key = f"user/fact-{number}"
        self.facts.append(
            FactVersion(
                uid=f"u{number}", key=key, version=1, type=FactType.USER, owner="me", status=Status.CURRENT,
                trust=asked.trust, valid_from=datetime.now(UTC), body=asked.body, sources=asked.sources,
            )
        )  # fmt: skip
        return WriteAnswer(verb=Verb.CREATED, key=key, uid=f"u{number}", version=1).model_dump_json().encode()

    def _traces(self, body: bytes) -> bytes:
        if not body:
            return msgspec.json.encode(TracePage(len(self.traces), tuple(self.traces)))
        self.traces.append(KeptTrace(len(self.traces) + 1, msgspec.json.decode(body, type=TurnTrace)))
        return msgspec.json.encode(TraceKept(len(self.traces)))

    def _append(self, turn: AppendTurn) -> TurnAppended:
        there = any((turn.session, turn.turn_id) == (old.session, old.turn_id) for old in self.turns)
        if not there:
            self.turns.append(turn)
        return TurnAppended(f"raw/2026/11/30/{turn.session}.md#turn-1", there)

    def _find(self, asked: FindConversation) -> Conversation:
        name = f"{asked.session}-{asked.thread}"
        found = {
            (block.kind, block.position): block
            for blocks in self.blocks.values()
            for block in blocks
            if block.position in asked.positions
        }
        return Conversation(name, self.generations.get(name, 0), tuple(found.values()))

    def _commit(self, asked: CommitBlocks) -> Conversation:
        generation = self.generations.setdefault(asked.conversation, 1)
        if asked.generation not in (generation, 0 if asked.conversation not in self.blocks else generation):
            state = Conversation(asked.conversation, generation, tuple(self.blocks[asked.conversation]))
            raise StaleConversation("changed", state=msgspec.to_builtins(state))
        self.blocks.setdefault(asked.conversation, []).extend(asked.blocks)
        return Conversation(asked.conversation, generation)


class FakeIndex(_Service):
    """Recalls every fact that shares its first word with a cue; pins those it is told to."""

    def __init__(self) -> None:
        self.pinned: list[RecalledFact] = []
        self.recalled: list[RecalledFact] = []
        self.asked: list[RecallRequest] = []

    def answer(self, path: str, body: bytes) -> bytes:
        match path:
            case "/v1/pinned":
                msgspec.json.decode(body, type=PinnedRequest)
                return msgspec.json.encode(PinnedAnswer(tuple(self.pinned)))
            case "/v1/recall":
                asked = msgspec.json.decode(body, type=RecallRequest)
                self.asked.append(asked)
                words = " ".join(cue.text for cue in asked.cues).lower()
                facts = [
                    fact
                    for fact in self.recalled
                    if not is_told(fact.uid, fact.version, asked.seen) and fact.body.split()[0].lower() in words
                ]
                return msgspec.json.encode(RecallAnswer(tuple(facts)))
        raise NotFound(path)


def fact(uid: str, body: str, version: int = 1) -> RecalledFact:
    """A fact as the index gives it."""
    return RecalledFact(uid, f"user/{uid}", version, "user", "user_stated", "2026-11-30T00:00:00+00:00", body)
