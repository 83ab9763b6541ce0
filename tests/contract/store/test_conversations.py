"""Conversation state: what was inserted is found again at the same place, with the same bytes (I9, D6)."""

import os
from pathlib import Path

import msgspec
import pytest

from bead.conversations import Block, BlockKind, Conversation, roll
from bead.errors import DamagedFile, StaleConversation
from bead.home import Home
from bead.wire.store import CommitBlocks, FindConversation
from tests.contract.store.opening import Open, opened

POSITIONS = tuple(roll("me", "shop", [["first prompt"], ["second"], ["third"]]))
PINNED = Block(POSITIONS[0], BlockKind.PINNED, "<pinned/>", ("u1",))
RECALL = Block(POSITIONS[1], BlockKind.RECALL, "recall ✓\n", ("u2",), ("e1",))


async def find(store: Open, count: int, session: str = "s", **fields: str) -> Conversation:
    values = {"owner": "me", "project": "shop", "thread": "t", **fields}
    return await store.client.find_conversation(
        FindConversation(session=session, positions=POSITIONS[:count], **values)
    )


async def commit(store: Open, *blocks: Block, generation: int = 0, session: str = "s") -> Conversation:
    return await store.client.commit_blocks(
        CommitBlocks(conversation=f"{session}-t", generation=generation, owner="me", project="shop", blocks=blocks)
    )


async def test_unknown_conversation_is_new_and_empty(store: Open) -> None:
    assert await find(store, 2) == Conversation("s-t", 0, ())


async def test_committed_blocks_come_back_byte_for_byte(store: Open) -> None:
    answer = await commit(store, PINNED, RECALL)

    assert answer == Conversation("s-t", 1, ())
    assert await find(store, 3) == Conversation("s-t", 1, (PINNED, RECALL))
    assert (await find(store, 1)).blocks == (PINNED,)


async def test_committed_blocks_survive_a_restart(home: Home) -> None:
    async with opened(home) as store:
        await commit(store, PINNED)
        await commit(store, RECALL, generation=1)
    async with opened(home) as store:
        assert await find(store, 3) == Conversation("s-t", 1, (PINNED, RECALL))


async def test_commit_on_another_generation_is_refused_with_the_state(store: Open) -> None:
    await commit(store, PINNED)

    with pytest.raises(StaleConversation) as refusal:
        await commit(store, RECALL, generation=0)
    with pytest.raises(StaleConversation):
        await commit(store, RECALL, generation=7)

    assert msgspec.convert(refusal.value.facts["state"], Conversation) == Conversation("s-t", 1, (PINNED,))
    assert (await find(store, 3)).blocks == (PINNED,)


async def test_block_that_is_there_is_never_replaced(store: Open) -> None:
    await commit(store, PINNED)

    await commit(store, PINNED, generation=1)
    with pytest.raises(StaleConversation):
        await commit(store, Block(POSITIONS[0], BlockKind.PINNED, "other bytes"), generation=1)

    assert (await find(store, 3)).blocks == (PINNED,)


async def test_empty_block_records_that_nothing_belongs_there(store: Open) -> None:
    nothing = Block(POSITIONS[0], BlockKind.RECALL, "")

    await commit(store, nothing)

    assert (await find(store, 1)).blocks == (nothing,)


async def test_resumed_session_inherits_what_was_pinned(store: Open) -> None:
    await commit(store, PINNED, RECALL)

    assert await find(store, 3, session="resumed") == Conversation("resumed-t", 0, (PINNED, RECALL))


async def test_fresh_conversation_with_the_same_first_prompt_inherits_nothing(store: Open) -> None:
    await commit(store, PINNED)

    assert (await find(store, 1, session="fresh")).blocks == ()


async def test_own_block_comes_before_an_inherited_one(store: Open) -> None:
    mine = Block(POSITIONS[0], BlockKind.PINNED, "mine")
    await commit(store, PINNED, RECALL)
    await commit(store, mine, session="own")

    assert (await find(store, 3, session="own")).blocks == (mine, RECALL)


async def test_newest_of_two_others_is_inherited(store: Open) -> None:
    newer = Block(POSITIONS[0], BlockKind.PINNED, "newer")
    await commit(store, PINNED, session="old")
    await commit(store, newer, session="new")

    assert (await find(store, 2, session="third")).blocks == (newer,)


@pytest.mark.parametrize("other", [{"owner": "somebody"}, {"project": "elsewhere"}])
async def test_nothing_is_inherited_across_owners_or_projects(store: Open, other: dict[str, str]) -> None:
    await commit(store, PINNED, RECALL)

    assert (await find(store, 3, session="x", **other)).blocks == ()


async def test_odd_ids_stay_inside_the_folder(store: Open) -> None:
    found = await find(store, 2, session="../../S")

    await store.client.commit_blocks(
        CommitBlocks(conversation=found.id, generation=0, owner="me", project="shop", blocks=(PINNED,))
    )

    assert {path.parent for path in store.home.root.rglob("*.jsonl")} == {store.home.sessions, store.home.use.parent}
    assert (await find(store, 1, session="../../S")).blocks == (PINNED,)


async def test_torn_line_is_cut_before_the_next_block(home: Home) -> None:
    async with opened(home) as store:
        await commit(store, PINNED)
        await commit(store, RECALL, generation=1)
    path = home.sessions / "s-t.jsonl"
    data = path.read_bytes()
    for cut in (data.rindex(b'{"block"') + 1, len(data) - 20, len(data) - 1):
        path.write_bytes(data[:cut])
        async with opened(home) as store:
            assert (await find(store, 3)).blocks == (PINNED,)
            await commit(store, RECALL, generation=1)
        assert path.read_bytes() == data


async def test_conversation_whose_file_was_removed_begins_anew(store: Open) -> None:
    await commit(store, PINNED)
    (store.home.sessions / "s-t.jsonl").unlink()

    assert await find(store, 1) == Conversation("s-t", 0, ())
    assert (await commit(store, PINNED)).generation == 1
    assert (await find(store, 1)).blocks == (PINNED,)


async def test_damaged_conversation_does_not_stop_the_others(home: Home) -> None:
    async with opened(home) as store:
        await commit(store, PINNED)
        await commit(store, PINNED, session="good")
    damage(home.sessions / "s-t.jsonl")
    async with opened(home) as store:
        assert (await find(store, 1, session="good")).blocks == (PINNED,)
        with pytest.raises(DamagedFile):
            await find(store, 1)
        assert [file.line for file in (await store.client.damage()).files] == [1]


def damage(path: Path) -> None:
    path.write_bytes(b"{broken\n" + path.read_bytes())


async def test_a_conversation_that_has_not_gone_on_for_long_is_cleared_and_the_others_stay(home: Home) -> None:
    async with opened(home) as store:
        await commit(store, PINNED)
        await commit(store, PINNED, session="young")
        os.utime(home.sessions / "s-t.jsonl", (0, 0))

        assert (await store.client.clear_conversations()).conversations == 1

        assert (await find(store, 1)).blocks == ()
        assert (await find(store, 1, session="young")).blocks == (PINNED,)
        assert [path.stem for path in home.sessions.glob("*.jsonl")] == ["young-t"]
        assert (await store.client.clear_conversations()).conversations == 0
