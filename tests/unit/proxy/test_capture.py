"""Turns in the background: their order, their bound, what happens to a refusal."""

import asyncio
import json

import msgspec
import pytest
from starlette.types import Receive, Scope, Send

from bead.bus.transport import Answer, InProcessTransport
from bead.clients.store import StoreClient
from bead.errors import BadRequest, HoldsCredential, to_problem
from bead.facts import FactType
from bead.tasks import Tasks
from bead.turns import Role
from bead.wire.store import AppendTurn, Project, TurnAppended, Verb, WriteAnswer, WriteFact
from bead_proxy import capture
from bead_proxy.capture import Capture, Place, Words
from bead_proxy.metrics import Metrics


class Bus:
    """Takes turns one at a time, when it is let."""

    def __init__(self) -> None:
        self.turns: list[AppendTurn] = []
        self.may_answer = asyncio.Event()
        self.refuses = False

    async def send(self, method: str, path: str, body: bytes = b"", *, timeout_s: float = 30.0) -> Answer:
        await self.may_answer.wait()
        if self.refuses:
            return Answer(400, json.dumps(to_problem(BadRequest("no"))).encode())
        self.turns.append(msgspec.json.decode(body, type=AppendTurn))
        return Answer(200, msgspec.json.encode(TurnAppended("raw/x.md#turn-1")))


async def place() -> Place:
    return Place("s1", None, ("p1", "p2"))


def words(text: str, role: Role = Role.USER) -> Words:
    return Words(role, text, place, harness=None, model=None)


async def test_turns_of_one_session_keep_their_order() -> None:
    bus = Bus()
    async with Tasks() as tasks:
        turns = Capture(StoreClient(bus), tasks, Metrics(lambda: 0.0))
        for number in range(5):
            turns.start("s1", words(str(number)))
        bus.may_answer.set()
        await tasks.drain(5)

    assert [turn.text for turn in bus.turns] == ["0", "1", "2", "3", "4"]


async def test_a_store_of_this_process_gets_the_next_turn_before_it_has_written_the_last() -> None:
    given: list[str] = []
    both, may_answer = asyncio.Event(), asyncio.Event()

    async def store(scope: Scope, receive: Receive, send: Send) -> None:
        given.append(msgspec.json.decode((await receive())["body"], type=AppendTurn).text)
        if len(given) == 2:
            both.set()
        await may_answer.wait()
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": msgspec.json.encode(TurnAppended("raw/x.md#turn-1"))})

    async with Tasks() as tasks, asyncio.timeout(5):
        turns = Capture(StoreClient(InProcessTransport("store", store)), tasks, Metrics(lambda: 0.0))
        first, second = (turns.start("s1", words(text)) for text in "ab")
        await both.wait()
        assert first is not None and second is not None
        assert (given, first.done(), second.done()) == (["a", "b"], False, False)
        may_answer.set()
        await asyncio.wait({first, second})


async def test_a_turn_counts_as_written_before_its_wishes_are() -> None:
    wished = asyncio.Event()

    class Slow(Bus):
        async def send(self, method: str, path: str, body: bytes = b"", *, timeout_s: float = 30.0) -> Answer:
            if path == "/v1/facts":
                wished.set()
                await asyncio.Event().wait()
            return await super().send(method, path, body, timeout_s=timeout_s)

    bus = Slow()
    bus.may_answer.set()
    async with Tasks() as tasks, asyncio.timeout(5):
        wish = Words(Role.USER, "a", place, harness=None, model=None, human_text="Remember that beans climb.")
        written = Capture(StoreClient(bus), tasks, Metrics(lambda: 0.0)).start("s1", wish)
        assert written is not None
        await wished.wait()
        assert written.done()


async def test_a_turn_is_named_by_its_position_and_a_reply_by_what_it_answers() -> None:
    bus = Bus()
    bus.may_answer.set()
    async with Tasks() as tasks:
        turns = Capture(StoreClient(bus), tasks, Metrics(lambda: 0.0))
        turns.start("s1", words("a"))
        turns.start("s1", words("b", Role.ASSISTANT))
        await tasks.drain(5)

    assert [(turn.turn_id, turn.role) for turn in bus.turns] == [("p2", "user"), ("p2:reply", "assistant")]
    assert bus.turns[0].at.endswith("+00:00")


async def test_what_waits_is_bounded_and_what_is_lost_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "MOST_WAITING", 3)
    bus, metrics = Bus(), Metrics(lambda: 0.0)
    async with Tasks() as tasks:
        turns = Capture(StoreClient(bus), tasks, metrics)
        started = [turns.start("s1", words(str(number))) for number in range(5)]
        assert [task is not None for task in started] == [True, True, True, False, False]
        assert "too many turns wait" in metrics.degraded()[0]
        bus.may_answer.set()
        await tasks.drain(5)
        assert turns.start("s1", words("again")) is not None
        await tasks.drain(5)

    assert [turn.text for turn in bus.turns] == ["0", "1", "2", "again"]


async def test_a_turn_that_is_refused_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bus, metrics = Bus(), Metrics(lambda: 0.0)
    bus.refuses = True
    bus.may_answer.set()
    async with Tasks() as tasks:
        Capture(StoreClient(bus), tasks, metrics).start("s1", words("a"))
        await tasks.drain(5)

    assert metrics.registry.get_sample_value("bead_proxy_turns_total", {"outcome": "lost"}) == 1


def test_words_do_not_show_themselves() -> None:
    assert "secret" not in repr(words("secret"))


async def test_a_wish_with_a_credential_is_told_and_the_next_one_is_still_written() -> None:
    written: list[WriteFact] = []

    class Scanning(Bus):
        async def send(self, method: str, path: str, body: bytes = b"", *, timeout_s: float = 30.0) -> Answer:
            if path != "/v1/facts":
                return await super().send(method, path, body, timeout_s=timeout_s)
            fact = WriteFact.model_validate_json(body)
            if "password" in fact.body:
                refusal = HoldsCredential("it holds a credential")
                return Answer(refusal.status, json.dumps(to_problem(refusal)).encode())
            written.append(fact)
            answer = WriteAnswer(verb=Verb.CREATED, key="user/x", uid="u", version=1)
            return Answer(200, answer.model_dump_json().encode())

    async def in_project() -> Place:
        return Place("s1", Project(name="shop", identity="x"), ("p1",))

    bus, metrics = Scanning(), Metrics(lambda: 0.0)
    bus.may_answer.set()
    said = "Remember that the password is a1.\nRemember that I prefer tabs.\nRemember that beans climb."
    async with Tasks() as tasks:
        wish = Words(Role.USER, "a", in_project, harness=None, model=None, human_text=said)
        Capture(StoreClient(bus), tasks, metrics).start("s1", wish)
        await tasks.drain(5)

    [told] = metrics.degraded()
    assert "credential" in told and "a1" not in told
    assert [(fact.body, fact.type, fact.project) for fact in written] == [
        ("I prefer tabs", FactType.USER, None),
        ("beans climb", None, "shop"),
    ]
