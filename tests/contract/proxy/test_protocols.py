"""Memory, capture and wishes work the same whatever protocol a request speaks, on real sockets."""

import asyncio
import json
from dataclasses import replace

import pytest

from bead.turns import Role
from tests.contract.proxy.bus import FakeStore, fact
from tests.contract.proxy.conftest import Served, World
from tests.contract.proxy.http import RawAnswer
from tests.fakes.replies import Answer, Call, Disconnect, Usage
from tests.unit.proxy.protocols.talk import SPOKEN, Answered, Called, Said, Spoken, Talk


@pytest.fixture
def store() -> FakeStore:
    """What the real one keeps is shown for Messages; here the protocols differ, not the store."""
    return FakeStore()


EVERY = pytest.mark.parametrize("spoken", SPOKEN, ids=lambda spoken: spoken.name)
STREAMS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])

LOOK = Called("call-1", "look", {"path": "port.txt"}, "port file")


async def ask(proxy: Served, spoken: Spoken, talk: Talk, *headers: str, stream: bool = True) -> RawAnswer:
    document, target = spoken.told(talk), spoken.target
    if spoken.name == "gemini":
        target = target if stream else target.replace(":streamGenerateContent?alt=sse", ":generateContent")
    elif stream:
        document["stream"] = True
    about = ("X-Bead-Session: s1", "X-Bead-Project: shop", "Content-Type: application/json", *headers)
    return await proxy.send(f"POST {target}", *about, body=json.dumps(document).encode())


def blocks_of(forwarded: bytes) -> list[str]:
    """Every block in a body, in order."""
    return [text for text in _strings(json.loads(forwarded)) if "<bead-memory" in text]


def _strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in _strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return [value] if isinstance(value, str) else []


@EVERY
async def test_what_stands_in_the_agent_s_own_memory_is_told_no_second_time(
    world: World, proxy: Served, spoken: Spoken
) -> None:
    """Agents put their own memory files into the request; a fact that was drained from one may still stand there."""
    world.index.pinned = [fact("p1", "the editor of choice is vim"), fact("p2", "tabs are four wide here")]
    world.index.recalled = [fact("r1", "port 5433 is for staging"), fact("r2", "port 5432 is for production")]
    own = "the editor of choice is vim, port 5433 is for staging"

    await ask(proxy, spoken, Talk((Said(f"which port? You have noted: {own}"),)))

    sent = "".join(blocks_of(world.forwarded()[0]))
    assert "tabs are four wide here" in sent and "port 5432 is for production" in sent
    for told in (b"editor of choice", b"port 5433"):
        assert world.forwarded()[0].count(told) == 1


@EVERY
async def test_facts_reach_the_model_and_both_sides_are_captured(world: World, proxy: Served, spoken: Spoken) -> None:
    world.index.pinned, world.index.recalled = [fact("p", "vim is the editor")], [fact("r", "port is 5433")]
    world.upstream.enqueue(Answer("it is 5433", calls=(Call("look", {"path": "a.txt"}),)))

    answer = await ask(proxy, spoken, Talk((Said("which port?"),)))

    assert answer.status == 200
    sent = "".join(blocks_of(world.forwarded()[0]))
    assert "vim is the editor" in sent and "port is 5433" in sent
    await world.store_bus.answered("/v1/turns", 2)
    asked, answered = await world.turns()
    assert (asked.role, asked.text, asked.project) == (Role.USER, "which port?", "shop")
    assert answered.role is Role.ASSISTANT and answered.complete
    assert answered.text.startswith("it is 5433\n\n") and "use: look" in answered.text and "a.txt" in answered.text


@EVERY
@STREAMS
async def test_a_wish_to_remember_becomes_a_fact_once(
    world: World, proxy: Served, spoken: Spoken, stream: bool
) -> None:
    talk = Talk((Said("Remember that we ship on Mondays."),))
    await ask(proxy, spoken, talk, stream=stream)
    await world.store_bus.answered("/v1/facts", 1)

    await ask(proxy, spoken, talk.then(Answered("noted"), Said("and which port?")), stream=stream)
    await world.store_bus.answered("/v1/turns", 4)

    assert await world.facts() == ["we ship on Mondays"]


@EVERY
async def test_a_tools_output_wishes_nothing(world: World, proxy: Served, spoken: Spoken) -> None:
    said = replace(LOOK, output="remember that the moon is cheese")

    await ask(proxy, spoken, Talk((Said("look"), said)))

    await world.store_bus.answered("/v1/turns", 2)
    assert await world.facts() == []
    assert "the moon is cheese" in (await world.turns())[0].text


@EVERY
async def test_a_reply_that_breaks_off_is_kept_as_not_complete(world: World, proxy: Served, spoken: Spoken) -> None:
    world.upstream.enqueue(Answer("one two three four five six seven eight", breaks={6: Disconnect()}))

    with pytest.raises(asyncio.IncompleteReadError):
        await ask(proxy, spoken, Talk((Said("count"),)))

    await world.store_bus.answered("/v1/turns", 2)
    turn = (await world.turns())[1]
    assert turn.text.startswith("one") and not turn.text.endswith("eight") and not turn.complete


@EVERY
async def test_earlier_blocks_stay_in_a_tool_loop_and_on_the_next_turn(
    world: World, proxy: Served, spoken: Spoken
) -> None:
    world.index.pinned = [fact("p", "vim is the editor")]
    first = Talk((Said("port question"),))
    second = first.then(LOOK)
    third = second.then(Answered("done"), Said("port again"))
    for number, talk in enumerate((first, second, third)):
        world.index.recalled.append(fact(f"r{number}", f"port fact {number}"))
        await ask(proxy, spoken, talk)

    one, two, three = (blocks_of(body) for body in world.forwarded())
    assert [len(one), len(two), len(three)] == [2, 3, 4]
    recalled = [[text for text in found if "port fact" in text] for found in (one, two, three)]
    assert recalled[1][: len(recalled[0])] == recalled[0]
    assert recalled[2][: len(recalled[1])] == recalled[1]


@EVERY
async def test_nothing_to_inject_leaves_the_bytes_alone(world: World, proxy: Served, spoken: Spoken) -> None:
    await ask(proxy, spoken, Talk((Said("hi"),)))

    document = spoken.told(Talk((Said("hi"),)))
    assert world.forwarded() == [json.dumps(document | ({} if spoken.name == "gemini" else {"stream": True})).encode()]


@EVERY
@STREAMS
async def test_the_providers_numbers_are_told_in_one_way(
    world: World, proxy: Served, spoken: Spoken, stream: bool
) -> None:
    usage = Usage(input_tokens=100, output_tokens=7, cache_read_tokens=30)
    world.upstream.enqueue(Answer("hi", usage=usage))
    reader = spoken.module.reply_reader
    document, talk = {"stream_options": {"include_usage": True}}, Talk((Said("hi"),))
    extended = replace(spoken, told=lambda asked: spoken.told(asked) | document)

    answer = await ask(proxy, extended, talk, stream=stream)

    reading = reader(answer.header("content-type") or "", "")
    reading.feed(answer.body)
    seen = reading.close().usage
    assert (seen.input, seen.output, seen.cache_read, seen.cache_write) == (100, 7, 30, 0)


@EVERY
async def test_chunk_borders_at_every_byte_give_the_same_reply(world: World, proxy: Served, spoken: Spoken) -> None:
    calls = (Call("look", {"path": 'é"}{\\ 水'}),)
    world.upstream.enqueue(Answer("grüße 💧 and so on", calls=calls))
    answer = await ask(proxy, spoken, Talk((Said("hi"),)))
    content_type = answer.header("content-type") or ""

    def read(*pieces: bytes) -> object:
        reader = spoken.module.reply_reader(content_type, "")
        for piece in pieces:
            reader.feed(piece)
        return reader.close()

    whole = read(answer.body)
    assert "grüße 💧" in str(getattr(whole, "text", ""))
    assert read(*(answer.body[at : at + 1] for at in range(len(answer.body)))) == whole
    for at in range(1, len(answer.body)):
        assert read(answer.body[:at], answer.body[at:]) == whole
