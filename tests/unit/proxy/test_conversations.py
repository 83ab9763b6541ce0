"""Copies of conversations: what they know, when they must ask, how many there are."""

import msgspec

from bead.conversations import Block, BlockKind, Conversation, is_told
from bead_proxy.conversations import Copies, Copy


def recall(position: str, text: str = "x") -> Block:
    return Block(position, BlockKind.RECALL, text)


def loaded(*blocks: Block, positions: tuple[str, ...], generation: int = 1) -> Copy:
    copy = Copy()
    copy.take(Conversation("c", generation, blocks), positions)
    return copy


def test_a_new_copy_covers_nothing() -> None:
    assert not Copy().covers(["a"])


def test_a_conversation_that_grew_by_one_message_needs_no_question() -> None:
    copy = loaded(positions=("a", "b"))
    assert copy.covers(["a", "b", "c"])


def test_a_branch_must_be_asked_about() -> None:
    copy = loaded(positions=("a", "b"))
    assert not copy.covers(["a", "x", "y"])


def test_blocks_come_in_order_pinned_first_and_empty_ones_not_at_all() -> None:
    pinned = Block("a", BlockKind.PINNED, "p")
    copy = loaded(recall("c", "2"), recall("a", "1"), recall("b", ""), pinned, positions=("a", "b", "c"))

    assert [block.text for block in copy.blocks(["a", "b", "c"])] == ["p", "1", "2"]
    assert copy.decided(BlockKind.RECALL, "b") and not copy.decided(BlockKind.RECALL, "d")


def test_blocks_of_another_branch_stay_out() -> None:
    copy = loaded(recall("a", "1"), recall("b", "2"), positions=("a", "b"))
    assert [block.text for block in copy.blocks(["a", "x"])] == ["1"]


def test_a_raised_generation_empties_the_copy_also_where_nobody_asked() -> None:
    copy = loaded(recall("a"), recall("b"), positions=("a", "b"))

    copy.take(Conversation("c", 2, (recall("a"),)), ("a",))

    assert not copy.decided(BlockKind.RECALL, "b") and not copy.covers(["a", "b", "c"])


def test_what_the_store_no_longer_has_is_gone() -> None:
    copy = loaded(recall("a"), positions=("a",))
    copy.take(Conversation("c", 1, ()), ("a",))
    assert not copy.decided(BlockKind.RECALL, "a")


async def test_the_copy_unused_for_longest_goes_first_but_not_while_it_is_held() -> None:
    copies = Copies(most=2)
    held, unused, newest = copies.of("held", "t"), copies.of("unused", "t"), None
    async with held.lock:
        copies.of("held", "t")
        newest = copies.of("newest", "t")
        assert len(copies) == 2
        assert copies.of("held", "t") is held and copies.of("newest", "t") is newest
    assert copies.of("unused", "t") is not unused


def test_a_block_tells_versions_and_an_older_file_every_version() -> None:
    block = Block("a", BlockKind.RECALL, "x", fact_uids=("u", "w"), fact_versions=(2, 1))
    older = msgspec.json.decode(b'{"position":"a","kind":"recall","text":"x","fact_uids":["u"]}', type=Block)

    assert [is_told("u", version, block.told) for version in (1, 2, 3)] == [False, True, False]
    assert [is_told("u", version, older.told) for version in (1, 2, 3)] == [True, True, True]
    assert not is_told("w", 2, block.told) and not is_told("x", 1, older.told)
