"""A forget reaches the proxy's copies with the next request, whatever that request is (D6)."""

import pytest

from tests.contract.proxy.bus import FakeStore, fact
from tests.contract.proxy.conftest import Served, World
from tests.contract.proxy.test_injection import blocks_of, body, conversation, user

pytestmark = pytest.mark.parametrize("store", ["fake store"], indirect=True)


def forget(world: World, uid: str) -> None:
    assert isinstance(world.service, FakeStore)
    world.service.forget(uid)
    world.index.recalled = world.index.pinned = []


async def test_a_forgotten_fact(world: World, proxy: Served) -> None:
    world.index.recalled = [fact("r", "port is 5433")]
    await proxy.ask(conversation(1))
    forget(world, "r")

    await proxy.ask(conversation(2))
    await proxy.ask(conversation(2))

    assert [len(blocks_of(forwarded)) for forwarded in world.forwarded()] == [1, 0, 0]


async def test_a_forgotten_fact_leaves_even_a_retry(world: World, proxy: Served) -> None:
    """A retry decides nothing, so no commit tells the proxy about the forget."""
    world.index.recalled = [fact("r", "port is 5433")]
    await proxy.ask(conversation(1))
    forget(world, "r")

    await proxy.ask(conversation(1))

    assert [len(blocks_of(forwarded)) for forwarded in world.forwarded()] == [1, 0]


async def test_a_fact_forgotten_where_it_came_from_leaves_a_fork_too(world: World, proxy: Served) -> None:
    """A fork's blocks were another conversation's: its own generation must rise as well."""
    world.index.recalled = [fact("r", "port is 5433")]
    await proxy.ask(conversation(1))
    await proxy.ask(conversation(2), "X-Bead-Session: fork")
    forget(world, "r")

    await proxy.ask(conversation(3), "X-Bead-Session: fork")

    assert [len(blocks_of(forwarded)) for forwarded in world.forwarded()] == [1, 1, 0]


async def test_a_forget_between_two_turns_lets_the_newest_message_be_decided_again(world: World, proxy: Served) -> None:
    world.index.recalled = [fact("r", "port is 5433")]
    await proxy.ask(conversation(1))
    forget(world, "r")
    world.index.recalled = [fact("n", "port is 6000")]

    await proxy.ask(conversation(2))

    [told] = blocks_of(world.forwarded()[1])
    assert "6000" in told and "5433" not in told


async def test_other_conversations_keep_what_they_were_told(world: World, proxy: Served) -> None:
    world.index.recalled = [fact("r", "port is 5433"), fact("k", "kite is red")]
    await proxy.ask(body(user("the kite?")), "X-Bead-Session: other")
    await proxy.ask(conversation(1))
    forget(world, "r")

    await proxy.ask(body(user("the kite?")), "X-Bead-Session: other")

    first, _, again = world.forwarded()
    assert again == first
