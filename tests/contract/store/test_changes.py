"""The change feed: a derived copy hears of everything, waits without asking again, and can compare from the start."""

import asyncio

from bead.facts import Trust
from bead.home import Home
from bead.turns import Role
from bead.wire.store import AppendTurn, Change, ChangeKind, Manifest
from tests.contract.store.opening import Open, opened


async def epoch(store: Open) -> str:
    return (await store.client.manifest()).epoch


async def append(store: Open, turn_id: str = "t1") -> None:
    await store.client.append_turn(
        AppendTurn(session="s1", turn_id=turn_id, role=Role.USER, text="hello", at="2026-11-05T09:12:00Z")
    )


async def test_writes_and_turns_are_told_in_order(store: Open) -> None:
    await store.write("one", "user/a")
    await append(store)
    await store.write("two", "user/b")

    page = await store.client.changes(await epoch(store), 0)

    assert [(change.seq, change.kind, change.id) for change in page.changes] == [
        (1, ChangeKind.FACT, "user/a"),
        (2, ChangeKind.TURN, "s1"),
        (3, ChangeKind.FACT, "user/b"),
    ]
    assert page.seq == 3


async def test_reader_gets_only_what_is_newer_and_each_name_once(store: Open) -> None:
    for body in ("one", "two", "three"):
        await store.write(body, "user/a")
    await store.write("x", "user/b")

    page = await store.client.changes(await epoch(store), 1)

    assert [(change.seq, change.id) for change in page.changes] == [(3, "user/a"), (4, "user/b")]


async def test_added_turns_are_told_by_their_first_ordinal(store: Open) -> None:
    told: list[Change] = []
    for turn_id in ("t1", "t2", "t3"):
        await append(store, turn_id)
        told += (await store.client.changes(await epoch(store), len(told))).changes

    assert [change.first for change in told] == [1, 2, 3]


async def test_write_that_changes_nothing_is_not_told(store: Open) -> None:
    await store.write("one")
    await store.write("one")
    await store.write("another", trust=Trust.DREAM_INFERRED)

    assert (await store.client.changes(await epoch(store), 0)).seq == 1


async def test_waiting_reader_is_woken_by_the_write(store: Open) -> None:
    told = await epoch(store)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        waiting = group.create_task(store.client.changes(told, 0, wait_s=30))
        await asyncio.sleep(0)
        await store.write("one", "user/a")

    assert [change.id for change in waiting.result().changes] == ["user/a"]


async def test_wait_without_a_change_ends_empty(store: Open) -> None:
    async with asyncio.timeout(5):
        page = await store.client.changes(await epoch(store), 0, wait_s=0.05)

    assert page.changes == ()


async def test_added_turns_wait_for_company_that_a_fact_ends(home: Home) -> None:
    async with opened(home) as store, asyncio.timeout(5), asyncio.TaskGroup() as group:
        waiting = group.create_task(store.client.changes(await epoch(store), 0, wait_s=30, gather_s=30))
        await append(store, "t1")
        await append(store, "t2")
        await store.write("one", "user/a")

    assert [(change.id, change.first) for change in waiting.result().changes] == [("s1", 2), ("user/a", None)]


async def test_added_turns_are_told_when_no_company_comes(home: Home) -> None:
    async with opened(home) as store, asyncio.timeout(5):
        await append(store)
        page = await store.client.changes(await epoch(store), 0, wait_s=30, gather_s=0.01)

    assert [change.id for change in page.changes] == ["s1"]


async def test_reader_of_another_epoch_is_told_so_at_once(store: Open) -> None:
    await store.write("one")

    async with asyncio.timeout(5):
        page = await store.client.changes("of a store that ended", 0, wait_s=30)

    assert (page.epoch, page.changes) == (await epoch(store), ())


async def test_waiting_reader_does_not_keep_the_store_from_ending(home: Home) -> None:
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        async with opened(home) as store:
            told = await epoch(store)
            waiting = group.create_task(store.client.changes(told, 0, wait_s=30))
            await asyncio.sleep(0.05)

    assert waiting.result().changes == ()


async def test_restart_begins_another_epoch(home: Home) -> None:
    async with opened(home) as store:
        first = await epoch(store)
    async with opened(home) as store:
        assert await epoch(store) != first


async def test_manifest_names_every_key_and_session_and_its_hash_follows_their_content(store: Open) -> None:
    await store.write("one", "user/a")
    await append(store)
    before = await store.client.manifest()

    await store.write("two", "user/a")
    await append(store, "t2")
    after = await store.client.manifest()

    assert {(entry.kind, entry.id) for entry in before.entries} == {
        (ChangeKind.FACT, "user/a"),
        (ChangeKind.TURN, "s1"),
    }
    assert hashes(before).keys() == hashes(after).keys()
    assert all(hashes(before)[name] != hashes(after)[name] for name in hashes(before))
    assert (before.seq, after.seq) == (2, 4)


async def test_manifest_is_the_same_after_a_restart(home: Home) -> None:
    async with opened(home) as store:
        await store.write("one", "user/a")
        await store.write("two", "user/a")
        await append(store)
        before = await store.client.manifest()
    async with opened(home) as store:
        assert hashes(await store.client.manifest()) == hashes(before)


async def test_acknowledging_is_accepted_for_this_epoch_and_harmless_for_another(store: Open) -> None:
    await store.client.acknowledge("index", await epoch(store), 1)
    await store.client.acknowledge("index", "of a store that ended", 99)


def hashes(manifest: Manifest) -> dict[str, str]:
    return {entry.id: entry.hash for entry in manifest.entries}
