"""Requests in the shapes that Claude Code really sends: prefixes, side requests, subagents (B01, B20)."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contract.proxy.bus import fact
from tests.contract.proxy.conftest import Served, World
from tests.contract.proxy.http import RawAnswer
from tests.contract.proxy.test_injection import blocks_of, without_markers

FIXTURES = Path(__file__).parents[2] / "fixtures" / "claude_code"
SESSION = "11111111-2222-4333-8444-555555555555"


def fixture(name: str) -> Any:
    return json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))


async def send(proxy: Served, name: str) -> RawAnswer:
    """One recorded request, with the headers it came with."""
    request = fixture(name)
    headers = [f"{header}: {value}" for header, value in request["headers"].items()]
    body = json.dumps(request["body"], ensure_ascii=False, separators=(",", ":")).encode()
    return await proxy.send("POST /v1/messages?beta=true", *headers, body=body)


def remembers(world: World) -> None:
    world.index.pinned = [fact("p", "vim is the editor")]
    world.index.recalled = [fact("r", "water on Mondays"), fact("s", "seed packets are counted twice")]


def is_prefix(earlier: bytes, later: bytes) -> bool:
    first, second = (without_markers(json.loads(body)) for body in (earlier, later))
    started = second["messages"][: len(first["messages"])]
    return bool(second["system"] == first["system"] and started == first["messages"])


@pytest.mark.parametrize("shape", ["old", "new"])
@pytest.mark.parametrize("later", ["second_turn", "tool_loop"])
async def test_what_was_sent_first_is_the_beginning_of_what_is_sent_later(
    world: World, proxy: Served, shape: str, later: str
) -> None:
    remembers(world)

    await send(proxy, f"first_request_{shape}_shape")
    await send(proxy, f"{later}_{shape}_shape")

    first, second = world.forwarded()
    assert len(blocks_of(first)) == 2
    assert is_prefix(first, second)


async def test_a_compaction_reads_the_cached_prefix_and_leaves_no_trace(world: World, proxy: Served) -> None:
    remembers(world)
    await send(proxy, "first_request_new_shape")
    await world.store_bus.answered("/v1/turns", 2)

    await send(proxy, "compaction")

    first, compaction = world.forwarded()
    assert is_prefix(first, compaction) and len(blocks_of(compaction)) == 2
    assert world.store_bus.count("/v1/turns") == 2


async def test_after_a_compaction_memory_is_there_again(world: World, proxy: Served) -> None:
    remembers(world)
    await send(proxy, "first_request_new_shape")

    await send(proxy, "after_compaction")

    told = "".join(blocks_of(world.forwarded()[1]))
    assert "vim" in told and "seed packets" in told


async def test_a_notification_is_nobodys_turn(world: World, proxy: Served) -> None:
    await send(proxy, "task_notification")

    assert world.store_bus.count("/v1/turns") == 0


async def test_a_title_is_asked_for_in_its_own_bytes(world: World, proxy: Served) -> None:
    remembers(world)

    await send(proxy, "title")

    assert json.loads(world.forwarded()[0]) == fixture("title")["body"]
    assert world.store_bus.count("/v1/turns") == 0


async def test_a_subagent_is_a_conversation_beside_its_parents(world: World, proxy: Served) -> None:
    remembers(world)
    await send(proxy, "first_request_new_shape")
    await send(proxy, "subagent")
    await world.store_bus.answered("/v1/turns", 4)

    sessions = {turn.session for turn in await world.turns()}
    assert len(sessions) == 2 and SESSION in sessions
    assert all(session.startswith(SESSION) for session in sessions)


async def test_the_directory_in_the_request_names_the_project(world: World, proxy: Served) -> None:
    await send(proxy, "first_request_old_shape")
    await send(proxy, "first_request_new_shape")
    await world.store_bus.answered("/v1/turns", 4)

    assert {turn.project for turn in await world.turns()} == {"garden"}
