"""Many writers at once, and death at any moment: numbers have no gaps, and what was acknowledged is there (I2)."""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest

from bead.home import Home
from bead.turns import Role
from bead.wire.store import AppendTurn, FindConversation, Verb
from bead_store import files
from bead_store.audit import first_broken_line
from tests.contract.store.opening import Open, opened

WRITER = """
import asyncio, sys
from pathlib import Path
from bead.conversations import Block, BlockKind
from bead.home import Home
from bead.turns import Role
from bead.wire.store import AppendTurn, CommitBlocks, FindConversation
from tests.contract.store.opening import opened

async def main():
    async with opened(Home(Path(sys.argv[1])), lock_wait_s=5) as store:
        start = int(sys.argv[2])
        for n in range(start, start + 100_000):
            fact = await store.write(f"value {n} " + "x" * 3000, f"user/k{n % 5}")
            print("fact", fact.key, fact.version, n, flush=True)
            turn = AppendTurn(session="s", turn_id=f"t{n}", role=Role.USER, text=f"turn {n} " + "y" * 3000,
                              at="2026-11-05T09:12:00Z")
            await store.client.append_turn(turn)
            print("turn", n, flush=True)
            block = Block(f"position-{n}", BlockKind.RECALL, f"block {n}")
            asked = FindConversation(owner="me", project="", session="s", thread="t", positions=())
            known = await store.client.find_conversation(asked)
            await store.client.commit_blocks(CommitBlocks(conversation=known.id, generation=known.generation,
                                                          owner="me", project="", blocks=(block,)))
            print("block", n, flush=True)

asyncio.run(main())
"""


async def test_twenty_writers_of_one_key_leave_no_gap_and_no_number_twice(store: Open) -> None:
    async def writer(name: int) -> list[int]:
        return [(await store.write(f"writer {name}, value {number}")).version for number in range(5)]

    versions = await asyncio.gather(*(writer(name) for name in range(20)))

    assert sorted(version for each in versions for version in each) == list(range(1, 101))
    history = (await store.client.history("user/editor")).versions
    assert [fact.version for fact in history] == list(range(1, 101))
    assert len({fact.body for fact in history}) == 100


async def test_twenty_writers_of_the_same_new_fact_create_it_once(store: Open) -> None:
    answers = await asyncio.gather(*(store.write("the same") for _ in range(20)))

    assert sorted(answer.verb for answer in answers) == [Verb.CREATED] + [Verb.UNCHANGED] * 19


async def test_twenty_captures_of_one_session_leave_no_gap(store: Open) -> None:
    turns = [
        AppendTurn(session="s", turn_id=f"t{number}", role=Role.USER, text=str(number), at="2026-11-05T09:12:00Z")
        for number in range(20)
    ]

    await asyncio.gather(*(store.client.append_turn(turn) for turn in turns))

    views = (await store.client.session("s")).turns
    assert [view.ordinal for view in views] == list(range(1, 21))
    assert {view.text for view in views} == {str(number) for number in range(20)}


async def test_write_whose_caller_gave_up_is_whole_and_the_next_one_sees_it(local: Open) -> None:
    async with asyncio.TaskGroup() as group:
        given_up = [group.create_task(local.write(f"value {number}")) for number in range(20)]
        await asyncio.sleep(0)
        for task in given_up:
            task.cancel()

    answer = await local.write("the last value")

    history = (await local.client.history("user/editor")).versions
    assert [fact.version for fact in history] == list(range(1, answer.version + 1))
    assert (await local.client.current_fact("user/editor")).body == "the last value"


@pytest.mark.parametrize("acknowledged", [3, 17, 40])
async def test_killed_store_has_every_acknowledged_write_and_no_torn_file(home: Home, acknowledged: int) -> None:
    said: list[list[str]] = []
    for round_ in range(2):
        said += await killed_after(home, acknowledged, start=len([line for line in said if line[0] == "fact"]))
        async with opened(home, lock_wait_s=5) as store:
            await check(store, said)
            assert (await store.client.damage()).files == (), f"after kill {round_}"
    assert [path for path in home.root.rglob("*") if path.name.startswith(files.TEMPORARY_PREFIX)] == []


async def killed_after(home: Home, acknowledged: int, start: int) -> list[list[str]]:
    """What a writing process acknowledged before it was killed, in its own words."""
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": f"{root}:{root / 'shared'}:{root / 'services'}"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, str(home.root), str(start), stdout=asyncio.subprocess.PIPE, env=environment
    )
    assert process.stdout is not None
    lines: list[str] = []
    try:
        async with asyncio.timeout(20):
            while len(lines) < acknowledged and (line := await process.stdout.readline()):
                lines.append(line.decode())
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        lines += (await process.stdout.read()).decode().splitlines(keepends=True)
        await process.wait()
    assert len(lines) >= acknowledged
    return [line.split() for line in lines if line.endswith("\n")]


async def check(store: Open, said: list[list[str]]) -> None:
    facts = {(key, int(version)): int(n) for kind, *rest in said if kind == "fact" for key, version, n in [rest]}
    for key in {key for key, _ in facts}:
        history = (await store.client.history(key)).versions
        assert [fact.version for fact in history] == list(range(1, len(history) + 1))
        for fact in history:
            assert fact.body.endswith("x" * 3000)
            if (key, fact.version) in facts:
                assert fact.body.startswith(f"value {facts[key, fact.version]} ")
        assert max(version for name, version in facts if name == key) <= history[-1].version
    turns = {view.text for view in (await store.client.session("s")).turns}
    assert {f"turn {line[1]} " + "y" * 3000 for line in said if line[0] == "turn"} <= turns
    positions = tuple(f"position-{line[1]}" for line in said if line[0] == "block")
    found = await store.client.find_conversation(
        FindConversation(owner="me", project="", session="s", thread="t", positions=positions)
    )
    assert [block.position for block in found.blocks] == list(positions)
    assert first_broken_line(store.home.audit_log.read_text()) is None
