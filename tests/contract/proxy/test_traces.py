"""Every request of a conversation leaves a trace: what it was given and why, in ids and numbers, off its path."""

import asyncio
import json

import msgspec
import pytest

from bead.wire.traces import TurnTrace
from tests.contract.proxy.bus import Mode, fact
from tests.contract.proxy.conftest import Serve, World
from tests.fakes.replies import Answer, Failure, Usage

PERSON = "port of the harbour?"


def body(*texts: str) -> bytes:
    messages = [
        {"role": "user" if place % 2 == 0 else "assistant", "content": text} for place, text in enumerate(texts)
    ]
    system = [{"type": "text", "text": "You help."}]
    return json.dumps({"model": "model-a", "system": system, "messages": messages}).encode()


def costing(given: int, output: int, cache_read: int, cache_write: int) -> Answer:
    """An answer with these numbers."""
    return Answer("ok", usage=Usage(given, output, cache_read, cache_write))


async def test_a_trace_says_what_went_in_and_what_it_cost(world: World, serve: Serve) -> None:
    world.index.pinned, world.index.recalled = [fact("p", "vim is it")], [fact("r", "port is 5433", version=3)]
    world.upstream.enqueue(costing(11, 7, 500, 40))

    async with serve() as proxy:
        await proxy.ask(body(PERSON), "User-Agent: sample-cli/1.0")
        [trace] = await world.traces(1)

    assert (trace.turn, trace.session, trace.project, trace.kind) == ("s1/turn-1", "s1", "shop", "human")
    assert (trace.protocol, trace.model, trace.harness, trace.status) == ("anthropic", "model-a", "sample-cli", 200)
    assert (trace.pinned, trace.is_pinned_new) == (("p",), True)
    assert [(chosen.id, chosen.version) for chosen in trace.selected] == [("r", 3)]
    assert trace.cues["person"] >= len(PERSON) and trace.inserted_tokens > 0
    assert (trace.input_tokens, trace.output_tokens) == (11, 7)
    assert (trace.cache_read_tokens, trace.cache_write_tokens) == (500, 40)
    assert set(trace.added_ms) == {"read", "recall", "store", "all"} and trace.abstained == ""


async def test_no_trace_holds_a_word_of_anybody(world: World, serve: Serve) -> None:
    world.index.pinned, world.index.recalled = [fact("p", "vim is it")], [fact("r", "port is 5433")]
    world.upstream.enqueue(Answer("quayside"))

    async with serve() as proxy:
        await proxy.ask(body(PERSON), f"Authorization: Bearer {'k' * 24}")
        [trace] = await world.traces(1)

    told = msgspec.json.encode(trace).decode()
    assert not [word for word in ("harbour", "5433", "vim", "quayside", "You help", "k" * 24) if word in told]


async def test_later_requests_tell_the_blocks_they_carry_and_why_nothing_came(world: World, serve: Serve) -> None:
    world.index.pinned = [fact("p", "vim is it")]

    async with serve() as proxy:
        await proxy.ask(body("hello"))
        await proxy.ask(body("hello", "hi", "and now?"))
        first, second = await world.traces(2)

    assert (first.is_pinned_new, second.is_pinned_new) == (True, False)
    assert first.pinned == second.pinned == ("p",) and second.inserted_tokens == first.inserted_tokens
    assert second.abstained == "nothing relevant"


async def test_an_error_of_the_provider_has_a_trace_too(world: World, serve: Serve) -> None:
    world.upstream.enqueue(Failure(529))

    async with serve() as proxy:
        await proxy.ask(body(PERSON))
        [trace] = await world.traces(1)

    assert (trace.status, trace.output_tokens) == (529, 0)


async def test_what_failed_is_named(world: World, serve: Serve) -> None:
    world.index_bus.mode = Mode.DOWN

    async with serve() as proxy:
        await proxy.ask(body(PERSON))
        [trace] = await world.traces(1)

    assert any("the index" in failure for failure in trace.failures)


async def test_a_follower_in_this_process_gets_each_trace_and_may_break(world: World, serve: Serve) -> None:
    told: asyncio.Queue[TurnTrace] = asyncio.Queue()

    def follow(trace: TurnTrace) -> None:
        told.put_nowait(trace)
        raise OSError("no space left")

    async with serve(on_trace=follow) as proxy, asyncio.timeout(10):
        await proxy.ask(body("one"))
        await proxy.ask(body("one", "two", "three"))
        kinds = [(await told.get()).kind, (await told.get()).kind]
        await world.traces(2)

    assert kinds == ["human", "human"]


async def test_a_store_that_is_silent_costs_traces_and_nothing_else(
    world: World, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bead_proxy.tracing.MOST_WAITING", 2)
    world.store_bus.hold("/v1/traces")

    async with serve() as proxy:
        for _ in range(6):
            assert (await proxy.ask(body("one"))).status == 200
        metrics = (await proxy.send("GET /bead/metrics")).body.decode()

    assert 'bead_proxy_traces_total{outcome="dropped"} 3.0' in metrics


async def test_recall_ends_where_the_cache_does_not_keep_what_it_adds(world: World, serve: Serve) -> None:
    world.index.recalled = [fact(f"r{number}", f"port{number} is open") for number in range(9)]
    world.upstream.enqueue(*[costing(10, 1, 0, 9_000)] * 5)
    texts = ["port0"]

    async with serve() as proxy:
        for number in range(1, 5):
            await proxy.ask(body(*texts))
            texts += ["ok", f"port{number}"]
        traces = await world.traces(4)
        health = json.loads((await proxy.send("GET /bead/health")).body)
        usage = json.loads((await proxy.send("GET /bead/usage")).body)

    assert [bool(trace.selected) for trace in traces] == [True, True, True, False]
    assert traces[3].abstained == "cache" and any("recall ended" in words for words in traces[2].failures)
    assert any("recall ended" in words for words in health["degraded"])
    [row] = usage["conversations"]
    assert (row["requests"], row["cache_write"], row["recall_ended"]) == (4, 36_000, True)
    assert row["inserted_estimate"] >= row["memory_cost_estimate"] > 0


async def test_recall_goes_on_while_the_cache_is_read(world: World, serve: Serve) -> None:
    world.index.recalled = [fact(f"r{number}", f"port{number} is open") for number in range(9)]
    world.upstream.enqueue(*[costing(9, 1, 9_000, 90)] * 5)
    texts = ["port0"]

    async with serve() as proxy:
        for number in range(1, 5):
            await proxy.ask(body(*texts))
            texts += ["ok", f"port{number}"]
        traces = await world.traces(4)

    assert all(trace.selected for trace in traces)


@pytest.mark.parametrize("settings", [{"off": ("shop",)}, {"default": "off"}, {"default": "off", "on": ("other",)}])
async def test_a_project_that_is_off_is_neither_captured_nor_told_anything(
    world: World, serve: Serve, settings: dict[str, object]
) -> None:
    world.index.recalled = [fact("r", "port is 5433")]
    asked = body("remember that the port is 9. port?")

    async with serve(projects=settings) as proxy:
        answer = await proxy.ask(asked)

    assert answer.status == 200 and world.forwarded() == [asked]
    assert not await world.turns() and not await world.facts()


async def test_a_project_that_is_on_has_memory_where_others_have_none(world: World, serve: Serve) -> None:
    world.index.recalled = [fact("r", "port is 5433")]

    async with serve(projects={"default": "off", "on": ("shop",)}) as proxy:
        await proxy.ask(body(PERSON))

    assert b"5433" in world.forwarded()[0]
    assert (await world.turns())[0].project == "shop"


async def test_one_request_can_be_off(world: World, serve: Serve) -> None:
    world.index.recalled = [fact("r", "port is 5433")]

    async with serve() as proxy:
        await proxy.ask(body(PERSON), "X-Bead-Off: 1")

    assert world.forwarded() == [body(PERSON)]
    assert world.upstream.requests[0].header("x-bead-off") is None and not await world.turns()


@pytest.mark.parametrize(
    ("sent", "headers", "why"),
    [
        (body(PERSON), ("X-Bead-Off: 1",), "off for this request"),
        (b'{"messages": 5}', (), "unreadable"),
        (b"\x1f\x8b damaged", ("Content-Encoding: gzip",), "unreadable"),
        (body("a" * (2 << 20)), (), "too large"),
    ],
)
async def test_a_request_that_memory_does_not_touch_says_why(
    world: World, serve: Serve, sent: bytes, headers: tuple[str, ...], why: str
) -> None:
    async with serve(inject_body_limit_mb=1) as proxy:
        await proxy.ask(sent, "User-Agent: sample-cli/1.0", *headers)
        [trace] = await world.traces(1)

    assert world.upstream.requests[0].body == sent
    assert (trace.session, trace.harness, trace.protocol, trace.abstained) == ("s1", "sample-cli", "anthropic", why)
    assert trace.turn.startswith("s1/request-") and (trace.project, trace.selected) == ("", ())
