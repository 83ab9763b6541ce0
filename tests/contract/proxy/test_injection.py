"""Memory goes in, stays the same, and comes out again: I8, I9 and field case B01 on real sockets."""

import asyncio
import json
from itertools import pairwise
from typing import Any

from bead_proxy.anthropic import read
from bead_proxy.capture import Place
from bead_proxy.choosing import Chosen
from tests.contract.proxy.bus import fact
from tests.contract.proxy.conftest import Serve, Served, World

SYSTEM = [{"type": "text", "text": "You help.", "cache_control": {"type": "ephemeral"}}]


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def user(words: str, *, array: bool = True, marked: bool = False) -> dict[str, Any]:
    """A user message as harnesses write it: an array with a cache marker while it is the newest, a string later."""
    marker: dict[str, Any] = {"cache_control": {"type": "ephemeral"}} if marked else {}
    return {"role": "user", "content": [text(words, **marker)] if array else words}


def assistant(words: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [text(words)]}


def body(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "model-a", "max_tokens": 8, "system": SYSTEM, "messages": list(messages), **more}


def conversation(turns: int) -> dict[str, Any]:
    """A request in its `turns`th turn, earlier messages rewritten the way Claude Code does."""
    messages: list[dict[str, Any]] = []
    for turn in range(1, turns):
        messages += [user(f"port question {turn}", array=False), assistant(f"answer {turn}")]
    return body(*messages, user(f"port question {turns}", marked=True))


def without_markers(value: Any) -> Any:
    """`value` with strings as text blocks and without cache markers: what the provider's cache compares."""
    if isinstance(value, dict):
        if isinstance(value.get("content"), str):
            value = {**value, "content": [text(value["content"])]}
        return {key: without_markers(item) for key, item in value.items() if key != "cache_control"}
    return [without_markers(item) for item in value] if isinstance(value, list) else value


def blocks_of(forwarded: bytes) -> list[str]:
    document = json.loads(forwarded)
    texts = [block["text"] for block in document["system"]]
    for message in document["messages"]:
        if isinstance(message["content"], list):
            texts += [block.get("text", "") for block in message["content"]]
    return [found for found in texts if "<bead-memory" in found]


async def test_pinned_and_recalled_facts_reach_the_model(world: World, proxy: Served) -> None:
    world.index.pinned, world.index.recalled = [fact("p", "vim is the editor")], [fact("r", "port is 5433")]

    answer = await proxy.ask(body(user("which port?")))

    assert answer.status == 200
    pinned, recalled = blocks_of(world.forwarded()[0])
    assert "vim is the editor" in pinned and "port is 5433" in recalled
    document = json.loads(world.forwarded()[0])
    assert document["system"][:-1] == SYSTEM
    assert document["messages"][0]["content"][0] == text("which port?")


async def test_taking_the_inserted_bytes_out_gives_the_original(world: World, proxy: Served) -> None:
    world.index.pinned, world.index.recalled = [fact("p", "vim is the editor")], [fact("r", "port is 5433")]
    odd = (
        b'{ "model":"a","x":[ ],"big":12345678901234567890.10,\n "system" : "be good", '
        b'"messages":[{"content":"which port? \\u00e9 \xc3\xa9","role":"user","k":{}}] ,"stream":false}'
    )

    await proxy.ask(odd)

    [forwarded] = world.forwarded()
    assert forwarded != odd
    assert without_inserted(forwarded, odd) == odd


def without_inserted(forwarded: bytes, original: bytes) -> bytes:
    """`forwarded` without the bytes that are not in `original`, if `original` can be read out of it from both ends."""
    remaining = iter(forwarded)
    assert all(byte in remaining for byte in original), "the original is not a subsequence"
    inserted = (
        b'[{"type":"text","text":',
        *(
            b'},{"type":"text","text":' + json.dumps(block, ensure_ascii=False).encode() + b"}]"
            for block in blocks_of(forwarded)
        ),
    )
    for data in inserted:
        forwarded = forwarded.replace(data, b"")
    return forwarded


async def test_nothing_to_inject_leaves_the_bytes_alone(world: World, proxy: Served) -> None:
    sent = b'{"model":"a",  "messages":[{"role":"user","content":"hi"}]}'

    await proxy.ask(sent)

    assert world.forwarded() == [sent]


async def test_earlier_messages_stay_the_same_over_five_turns(world: World, proxy: Served) -> None:
    world.index.pinned = [fact("p", "vim is the editor")]
    for turn in range(1, 6):
        # Each turn has something new to recall.
        world.index.recalled.append(fact(f"r{turn}", f"port fact {turn}"))
        await proxy.ask(conversation(turn))

    sent = [without_markers(json.loads(forwarded)) for forwarded in world.forwarded()]
    assert [len(blocks_of(forwarded)) for forwarded in world.forwarded()] == [2, 3, 4, 5, 6]
    for earlier, later in pairwise(sent):
        assert later["system"] == earlier["system"]
        assert later["messages"][: len(earlier["messages"])] == earlier["messages"]


async def test_cache_markers_are_where_the_harness_put_them(world: World, proxy: Served) -> None:
    world.index.pinned, world.index.recalled = [fact("p", "vim is the editor")], [fact("r", "port is 5433")]

    await proxy.ask(conversation(3))

    assert world.forwarded()[0].count(b"cache_control") == json.dumps(conversation(3)).count("cache_control")


async def test_a_fact_written_in_between_changes_nothing_that_was_sent(world: World, proxy: Served) -> None:
    """B01: only the newest message may carry it."""
    world.index.pinned = [fact("p", "vim is the editor")]
    await proxy.ask(conversation(1))
    await proxy.ask(conversation(2))
    world.index.pinned.append(fact("late", "deploys on Tuesdays"))
    world.index.recalled.append(fact("r", "port is 5433"))

    await proxy.ask(conversation(2))
    await proxy.ask(conversation(3))

    first, second, retry, third = world.forwarded()
    assert retry == second
    assert json.loads(third)["system"] == json.loads(first)["system"]
    assert [("5433" in block, "Tuesdays" in block) for block in blocks_of(third)] == [(False, False), (True, False)]


async def test_a_new_proxy_sends_the_same_bytes(world: World, serve: Serve) -> None:
    world.index.pinned, world.index.recalled = [fact("p", "vim is the editor")], [fact("r", "port is 5433")]
    async with serve() as before:
        await before.ask(conversation(1))
        await before.ask(conversation(2))
    world.index.pinned, world.index.recalled = [], [fact("other", "port is 1")]

    async with serve() as after:
        await after.ask(conversation(2))

    _, second, again = world.forwarded()
    assert again == second


async def test_a_resumed_conversation_keeps_its_blocks_under_another_session(world: World, proxy: Served) -> None:
    world.index.pinned, world.index.recalled = [fact("p", "vim is the editor")], [fact("r", "port is 5433")]
    await proxy.ask(conversation(1))
    world.index.pinned, world.index.recalled = [], []

    about = ("X-Bead-Project: shop", "X-Claude-Code-Session-Id: fork", "Content-Type: application/json")
    await proxy.send("POST /v1/messages", *about, body=json.dumps(conversation(2)).encode())

    first, fork = world.forwarded()
    assert blocks_of(fork) == blocks_of(first)


async def test_a_branch_gets_its_own_block_and_the_first_branch_comes_back(world: World, proxy: Served) -> None:
    """B20: one session header, an edited prompt, and back."""
    world.index.recalled = [fact("r", "port is 5433")]
    start = (user("hello", array=False), assistant("hi"))
    await proxy.ask(body(*start, user("which port?")))
    await proxy.ask(body(*start, user("port of the test server?")))
    await proxy.ask(body(*start, user("which port?")))

    first, branch, back = world.forwarded()
    assert back == first
    assert len(blocks_of(branch)) == 1, "what the other branch was told is not in this context"


async def test_a_fact_is_told_once_in_a_conversation(world: World, proxy: Served) -> None:
    world.index.pinned = world.index.recalled = [fact("r", "port is 5433")]

    await proxy.ask(conversation(1))
    await proxy.ask(conversation(2))

    assert len(blocks_of(world.forwarded()[1])) == 1
    assert [asked.seen for asked in world.index.asked] == [("r@1",), ("r@1",)]


async def test_a_newer_version_of_what_was_told_is_told_too_and_nothing_before_it_moves(
    world: World, proxy: Served
) -> None:
    world.index.pinned = world.index.recalled = [fact("r", "port is 5433")]
    await proxy.ask(conversation(1))
    world.index.pinned = world.index.recalled = [fact("r", "port is 6000 since May", version=2)]
    await proxy.ask(conversation(2))
    await proxy.ask(conversation(3))

    first, second, third = (blocks_of(forwarded) for forwarded in world.forwarded())
    assert second[: len(first)] == first and "6000" in second[-1]
    assert third == second


async def test_two_equal_requests_at_once_decide_once(world: World, proxy: Served) -> None:
    world.index.recalled = [fact("r", "port is 5433")]

    await asyncio.gather(proxy.ask(conversation(1)), proxy.ask(conversation(1)))

    first, second = world.forwarded()
    assert first == second and len(world.index.asked) == 1


async def test_a_side_request_gets_nothing_new(world: World, proxy: Served) -> None:
    world.index.pinned = [fact("p", "vim is the editor")]
    title = {
        "model": "m",
        "system": [],
        "messages": [{"role": "user", "content": "<session>\nhello\n</session>\n\nWrite a title."}],
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
    }
    assert read(json.dumps(title).encode()).side is not None

    await proxy.ask(title)

    assert json.loads(world.forwarded()[0]) == title
    assert not await world.turns()


async def test_inject_pinned_recalls_nothing(world: World, serve: Serve) -> None:
    world.index.pinned, world.index.recalled = [fact("p", "vim is the editor")], [fact("r", "port is 5433")]
    async with serve(inject="pinned") as proxy:
        await proxy.ask(conversation(1))

    assert ["vim" in block for block in blocks_of(world.forwarded()[0])] == [True]


async def test_off_for_one_request_means_its_own_bytes_and_no_turn(world: World, proxy: Served) -> None:
    world.index.pinned = [fact("p", "vim is the editor")]

    await proxy.ask(conversation(1), "X-Bead-Off: 1")

    assert world.forwarded() == [json.dumps(conversation(1)).encode()]
    assert set(world.store_bus.paths) <= {"/v1/traces"} and not world.index_bus.paths


async def test_a_subagent_has_a_conversation_and_a_session_of_its_own(world: World, proxy: Served) -> None:
    about = ("X-Bead-Project: shop", "X-Claude-Code-Session-Id: s9", "Content-Type: application/json")
    task = json.dumps(body(user("remember that I like tea. port?"))).encode()
    await proxy.send("POST /v1/messages", *about, "x-claude-code-agent-id: a1", body=task)

    turns = await world.turns()
    assert turns and all(turn.session.startswith("s9-") for turn in turns)
    assert not await world.facts(), "a subagent's task is not the person speaking"


async def test_every_decision_can_be_explained_and_a_broken_trace_breaks_nothing(world: World, serve: Serve) -> None:
    world.index.pinned, world.index.recalled = [fact("p", "vim is the editor")], [fact("r", "port is 5433")]
    told: list[tuple[str, tuple[str, ...]]] = []

    def explain(place: Place, chosen: Chosen) -> None:
        assert chosen.recalled is not None
        told.append((place.session, tuple(fact.uid for fact in chosen.recalled.facts)))
        raise OSError("no space left")

    async with serve(explain) as proxy:
        await proxy.ask(conversation(1))

    assert told == [("s1", ("r",))]
    assert len(blocks_of(world.forwarded()[0])) == 2


async def test_a_directory_seen_for_the_first_time_is_looked_up_once_for_request_and_turn(
    world: World, proxy: Served
) -> None:
    world.index.recalled = [fact("r", "port is 5433")]
    system = [{"type": "text", "text": "You help.\n - Primary working directory: /srv/work/tidepool\n"}]
    asked = json.dumps(body(user("which port?"), system=system)).encode()

    await proxy.send("POST /v1/messages", "X-Bead-Session: s1", "Content-Type: application/json", body=asked)
    await world.store_bus.answered("/v1/turns", 2)

    assert len(blocks_of(world.forwarded()[0])) == 1
    assert {turn.project for turn in await world.turns()} == {"tidepool"}
    assert world.store_bus.count("/v1/projects/resolve") == 1
