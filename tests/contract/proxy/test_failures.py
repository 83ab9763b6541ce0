"""Memory off never means agent off (I10): services down or silent, bodies that nobody can read, sizes (B33)."""

import asyncio
import base64
import json
import time
from typing import Any

import pytest

from bead_proxy import anthropic
from bead_proxy.directories import Directories
from bead_proxy.protocol import Reply
from tests.contract.proxy.bus import Mode, fact
from tests.contract.proxy.conftest import TOKEN, Serve, Served, World
from tests.contract.proxy.test_injection import blocks_of, body, conversation, user
from tests.fakes.replies import Answer

MIB = 1 << 20
BROKEN = [(Mode.DOWN, Mode.WELL), (Mode.WELL, Mode.DOWN), (Mode.SILENT, Mode.WELL), (Mode.WELL, Mode.SILENT),
          (Mode.SILENT, Mode.SILENT)]  # fmt: skip
UNREADABLE = {
    "not JSON": b"hello",
    "nothing": b"",
    "an array": b"[1]",
    "no messages": b'{"messages":[]}',
    "messages of a wrong type": b'{"messages":{"a":1}}',
    "cut short": b'{"messages":[{"role":"user","content":"x"',
    "a byte-order mark": b'\xef\xbb\xbf{"messages":[{"role":"user","content":"x"}]}',
    "UTF-16": '{"messages":[{"role":"user","content":"x"}]}'.encode("utf-16"),
    "invalid UTF-8": b'{"messages":[{"role":"user","content":"\xff\xfe port"}]}',
    "a lone surrogate": b'{"messages":[{"role":"user","content":"\\ud800 port"}]}',
    "a number nobody can hold": b'{"x":1e999999,"messages":[{"role":"user","content":"port"}]}',
    "unknown blocks": b'{"messages":[{"role":"user","content":[{"type":"hologram","data":[1]},{"no":"type"}]}]}',
    "depth": b'{"messages":[{"role":"user","content":"x"}],"d":' + b"[" * 20_000 + b"]" * 20_000 + b"}",
    "duplicate keys": b'{"messages":[{"role":"user","content":"a"}],"messages":[{"role":"user","content":"port"}]}',
    "null bytes": b"\x00" * 100,
}


LIMIT_S = 0.25
"""What a service that is down or silent may add to a request. The best of three counts: other work on the machine only
adds to a measurement, and each has a proxy of its own, for one that was disappointed does not wait again."""
AT_ONCE_S = 0.1
TRIES = 3


async def timed(request: Any) -> float:
    started = time.perf_counter()
    answer = await request
    assert answer.status == 200
    return time.perf_counter() - started


@pytest.mark.parametrize(("store_mode", "index_mode"), BROKEN)
async def test_a_broken_service_costs_at_most_its_time_and_changes_no_byte(
    world: World, serve: Serve, store_mode: Mode, index_mode: Mode
) -> None:
    world.index.pinned = [fact("p", "vim is the editor")]
    sent = json.dumps(conversation(2)).encode()
    added_s: list[float] = []
    for _ in range(TRIES):
        async with serve() as proxy:
            world.store_bus.mode, world.index_bus.mode = store_mode, index_mode
            direct_s = await timed(proxy.ask(sent, "X-Bead-Off: 1"))
            added_s.append(await timed(proxy.ask(sent)) - direct_s)
            degraded = json.loads((await proxy.send("GET /bead/health")).body)["degraded"]

        [cause] = {cause.rpartition(": ")[2] for cause in degraded}
        assert cause.startswith("the store" if store_mode is not Mode.WELL else "the index")

    assert world.forwarded() == [sent, sent] * TRIES
    assert min(added_s) < LIMIT_S


async def test_after_a_failure_others_do_not_wait(world: World, serve: Serve) -> None:
    tries_s: list[list[float]] = []
    for _ in range(TRIES):
        world.store_bus.mode = world.index_bus.mode = Mode.SILENT
        async with serve() as proxy:
            await proxy.ask(conversation(1))
            tries_s.append([await timed(proxy.ask(conversation(n), f"X-Bead-Session: s{n}")) for n in (2, 3, 4)])

    assert max(map(min, zip(*tries_s, strict=True))) < AT_ONCE_S


@pytest.mark.parametrize("mode", [Mode.DOWN, Mode.SILENT])
async def test_a_store_that_only_captures_is_waited_for_once(world: World, serve: Serve, mode: Mode) -> None:
    world.store_bus.mode = mode
    tries_s: list[list[float]] = []
    for _ in range(TRIES):
        async with serve(inject="off") as proxy:
            tries_s.append([await timed(proxy.ask(conversation(turn))) for turn in (1, 2, 3, 4)])

    first_s, *others_s = map(min, zip(*tries_s, strict=True))
    assert first_s < LIMIT_S + 0.05 and max(others_s) < AT_ONCE_S


async def test_what_was_inserted_before_is_inserted_while_the_services_are_away(world: World, proxy: Served) -> None:
    world.index.pinned, world.index.recalled = [fact("p", "vim is the editor")], [fact("r", "port is 5433")]
    await proxy.ask(conversation(2))
    world.store_bus.mode = world.index_bus.mode = Mode.DOWN

    await proxy.ask(conversation(2))
    await proxy.ask(conversation(3))

    first, retry, later = world.forwarded()
    assert retry == first
    assert blocks_of(later) == blocks_of(first)


async def test_memory_is_back_when_the_services_are(world: World, proxy: Served) -> None:
    world.index.recalled = [fact("r", "port is 5433")]
    world.index_bus.mode = Mode.DOWN
    await proxy.ask(conversation(1))
    world.index_bus.mode = Mode.WELL

    async with asyncio.timeout(5):
        while not blocks_of(world.forwarded()[-1]):
            await proxy.ask(conversation(1))


async def test_a_commit_whose_answer_was_lost_is_learnt_of_before_the_next_request(world: World, serve: Serve) -> None:
    """Else the decision would come up with the next start, and change what was sent by then."""
    world.index.recalled = [fact("r", "port is 5433")]
    async with serve() as proxy:
        await proxy.ask(conversation(1))
        world.index.recalled.append(fact("r2", "port 6000 is closed"))
        lost = world.store_bus.lose_answer_of("/v1/conversations/commit")
        await proxy.ask(conversation(2))
        assert lost.is_set()
        async with asyncio.timeout(5):
            while world.store_bus.count("/v1/conversations/commit") < 3:
                await proxy.ask(conversation(3))
    async with serve() as restarted:
        await restarted.ask(conversation(3))

    before, after = world.forwarded()[-2:]
    assert after == before and len(blocks_of(after)) == 2


async def test_a_turn_waits_for_a_store_that_is_away(world: World, proxy: Served) -> None:
    world.store_bus.mode = Mode.DOWN
    await proxy.ask(conversation(1))
    world.store_bus.mode = Mode.WELL

    await world.store_bus.answered("/v1/turns", 2)

    assert [turn.role.value for turn in await world.turns()] == ["user", "assistant"]


@pytest.mark.parametrize("sent", UNREADABLE.values(), ids=UNREADABLE)
async def test_any_body_is_forwarded_and_answered_by_the_provider(world: World, proxy: Served, sent: bytes) -> None:
    answer = await proxy.ask(sent)

    assert [request.body for request in world.upstream.requests] == [sent]
    assert answer.status != 502
    assert b"bead" not in answer.body


@pytest.mark.parametrize("mebibytes", [3, 17, 33])
async def test_no_size_is_refused_and_the_words_beside_an_image_still_count(
    world: World, proxy: Served, mebibytes: int
) -> None:
    world.index.recalled = [fact("r", "port is 5433")]
    picture = base64.b64encode(bytes(700 * 1024)).decode()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}}
    images = [image] * (mebibytes * MIB // len(picture))
    message = {"role": "user", "content": [*images, {"type": "text", "text": "which port?"}]}
    sent = json.dumps({"model": "a", "max_tokens": 8, "messages": [message]}).encode()

    answer = await proxy.ask(sent)

    assert answer.status == 200
    [forwarded] = world.forwarded()
    assert forwarded.count(picture.encode()) == len(images)
    assert b"port is 5433" in forwarded
    asked = (await world.turns())[0]
    assert len(asked.text) < 100_000 and "which port?" in asked.text


async def test_above_the_limit_the_request_goes_on_unread(world: World, serve: Serve) -> None:
    world.index.pinned = [fact("p", "vim is the editor")]
    sent = json.dumps(body(user("x" * 2 * MIB))).encode()

    async with serve(inject_body_limit_mb=1) as proxy:
        await proxy.ask(sent)

    assert world.forwarded() == [sent]


async def test_an_error_in_the_proxy_itself_is_no_error_of_the_request(
    world: World, proxy: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> bool:
        raise ValueError("which port? is a secret")

    monkeypatch.setattr(Directories, "known", fail)
    sent = json.dumps(body(user("which port?"))).encode()

    answer = await proxy.ask(sent)

    assert answer.status == 200 and world.forwarded() == [sent]
    said = "".join(capsys.readouterr())
    assert "ValueError" in said and "secret" not in said and TOKEN not in said


@pytest.mark.parametrize("broken", ["feed", "close"])
async def test_an_answer_that_nobody_can_read_arrives_all_the_same(
    world: World, proxy: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], broken: str
) -> None:
    class Reader:
        def feed(self, chunk: bytes) -> None:
            if broken == "feed":
                raise ValueError("a secret")

        def close(self) -> Reply:
            raise ValueError("a secret")

    monkeypatch.setattr(anthropic, "reply_reader", lambda content_type, content_encoding: Reader())
    world.upstream.enqueue(Answer("Staging uses 5433."))

    answer = await proxy.ask(body(user("which port?")))

    assert answer.status == 200 and b"Staging uses 5433." in answer.body
    said = "".join(capsys.readouterr())
    assert "ValueError" in said and "secret" not in said
