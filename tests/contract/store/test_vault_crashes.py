"""Seal, secret write, unseal and the move of a sealed key, ended before each of their system calls (I2, I12)."""

import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bead import age
from bead.facts import Sensitivity, Trust
from bead.home import Home
from bead.turns import Role
from bead.wire.store import AppendTurn, Rekey, WriteFact
from bead.wire.vault import OpenVersion, Seal, Unseal
from bead_store.app import Store
from tests.bytescan import traces
from tests.contract.store.crashes import end_at, living

IDENTITY = age.Identity(bytes(range(32)))
KEY, NEW = "user/door-code", "project/shop/gate"
BODIES = ["The Wolfsrachen door opens with 4711.", "The Xylophonist-Ämter door opens with 0815."]
THIRD = "The Quetzalcoatlus door is bricked up."
WORDS = ("Wolfsrachen", "Xylophonist-Ämter", "Quetzalcoatlus")


@pytest.fixture
async def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A vault, a fact of two versions, and a turn that says one of them."""
    home = Home(tmp_path / "plain")
    async with living(home, monkeypatch) as store:
        store.vault.create(str(IDENTITY.recipient()), b"an identity under a passphrase")
        for body in BODIES:
            store.facts.write(WriteFact(body=body, key=KEY, trust=Trust.USER_STATED))
        store.facts.write(WriteFact(body="wait", key=KEY))
        turn = AppendTurn(session="s", turn_id="t", role=Role.USER, text=f"so: {BODIES[1]}", at="2026-11-05T09:12:00Z")
        store.raw.append(turn)
        store.disk.sync_appended()
    return home


@pytest.fixture
async def sealed(plain: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    async with living(plain, monkeypatch) as store:
        await seal(store)
    return plain


def copy_of(home: Home, number: int) -> Home:
    shutil.copytree(home.root, home.root.with_name(f"home-{number}"), symlinks=True)
    return Home(home.root.with_name(f"home-{number}"))


async def seal(store: Store) -> None:
    await store.sealing.seal(Seal(key=KEY))


async def write_secret(store: Store) -> None:
    request = WriteFact(body=THIRD, key=KEY, trust=Trust.USER_STATED, sensitivity=Sensitivity.SECRET)
    await store.sealing.write(request)


async def unseal(store: Store) -> None:
    versions = tuple(OpenVersion(version=number, text=text) for number, text in opened(store, KEY))
    await store.fact_lane.run(store.sealing.unseal, Unseal(key=KEY, versions=versions))


async def rekey(store: Store) -> None:
    await store.fact_lane.run(store.sealing.rekey, Rekey(old=KEY, new=NEW), store.rekeying.rekey)


def opened(store: Store, key: str) -> list[tuple[int, str]]:
    versions = store.vault.read(key).versions
    return [(each.version, age.decrypt(each.data, [IDENTITY]).decode()) for each in versions]


def sealed_bodies(store: Store, key: str) -> list[str]:
    if not store.vault.versions(key):
        return []
    return [text.rpartition("---\n")[2].strip() for _, text in opened(store, key)]


def plain_bodies(store: Store, key: str) -> list[str]:
    return [fact.body for fact in store.catalogue.history(key)] if store.catalogue.refresh(key) else []


def in_the_clear(home: Home) -> list[str]:
    return [trace for word in WORDS for trace in traces(home.root, word)]


def assert_settled(home: Home, store: Store) -> None:
    assert store.intents.open == {}
    assert sorted(path.name for path in home.intents.rglob("*")) == []
    assert list(home.root.rglob(".tmp-*")) == []
    folders = [path for root in (home.facts, home.sealed) for path in root.rglob("*") if path.is_dir()]
    assert [path for path in folders if not any(path.iterdir())] == []


async def ended_everywhere(
    home: Home,
    work: Callable[[Store], Awaitable[None]],
    look: Callable[[Home, Store], object],
    monkeypatch: pytest.MonkeyPatch,
) -> list[object]:
    """What `look` sees after a restart, for each changing call before which `work` was ended."""
    total = await end_at(None, copy_of(home, 0), work, monkeypatch)
    seen: list[object] = []
    for last in range(total):
        copy = copy_of(home, last + 1)
        await end_at(last, copy, work, monkeypatch)
        async with living(copy, monkeypatch) as store:
            assert_settled(copy, store)
            seen.append(look(copy, store))
        shutil.rmtree(copy.root)
    return seen


async def test_seal_ended_at_any_call_leaves_the_fact_wholly_plain_or_wholly_sealed(
    plain: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(home: Home, store: Store) -> bool:
        is_sealed = bool(sealed_bodies(store, KEY))
        assert (plain_bodies(store, KEY), sealed_bodies(store, KEY)) == (([], BODIES) if is_sealed else (BODIES, []))
        assert [turn.text for turn in store.raw.read("s").turns] == (
            ["[forgotten]"] if is_sealed else [f"so: {BODIES[1]}"]
        )
        assert bool(in_the_clear(home)) is not is_sealed
        return is_sealed

    seen = await ended_everywhere(plain, seal, look, monkeypatch)

    assert len(seen) > 40
    assert seen == sorted(seen, key=bool) and {True, False} == set(seen), "once it is sealed it stays sealed"


async def test_secret_write_ended_at_any_call_puts_the_secret_on_no_disk(
    plain: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(home: Home, store: Store) -> int:
        found = sealed_bodies(store, KEY)
        assert (plain_bodies(store, KEY), found) in ((BODIES, []), ([], BODIES), ([], [*BODIES, THIRD]))
        assert traces(home.root, "Quetzalcoatlus") == []
        return len(found)

    seen = await ended_everywhere(plain, write_secret, look, monkeypatch)

    assert seen == sorted(seen, key=str) and set(seen) == {0, 2, 3}


async def test_unseal_ended_at_any_call_leaves_the_fact_wholly_sealed_or_wholly_plain(
    sealed: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(home: Home, store: Store) -> bool:
        is_plain = bool(plain_bodies(store, KEY))
        assert (plain_bodies(store, KEY), sealed_bodies(store, KEY)) == ((BODIES, []) if is_plain else ([], BODIES))
        assert bool(in_the_clear(home)) is is_plain
        return is_plain

    seen = await ended_everywhere(sealed, unseal, look, monkeypatch)

    assert seen == sorted(seen, key=bool) and {True, False} == set(seen)


async def test_move_of_a_sealed_key_ended_at_any_call_leaves_it_whole_under_one_of_both(
    sealed: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(home: Home, store: Store) -> bool:
        [each] = store.vault.keys()
        assert sealed_bodies(store, each.key) == BODIES
        return each.key == NEW

    seen = await ended_everywhere(sealed, rekey, look, monkeypatch)

    assert seen == sorted(seen, key=bool) and {True, False} == set(seen)


async def test_a_start_that_finishes_a_seal_may_be_ended_at_any_call_too(
    plain: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.contract.store.test_crashes import start_and_end_at

    total = await end_at(None, copy_of(plain, 0), seal, monkeypatch)
    for first in range(4, total, 9):
        home = copy_of(plain, first)
        await end_at(first, home, seal, monkeypatch)
        for again in range(0, total, 6):
            with monkeypatch.context() as patch:
                await start_and_end_at(again, home, patch)
        async with living(home, monkeypatch) as store:
            assert_settled(home, store)
            assert (plain_bodies(store, KEY), sealed_bodies(store, KEY)) in ((BODIES, []), ([], BODIES))
            assert bool(in_the_clear(home)) is bool(plain_bodies(store, KEY))
        shutil.rmtree(home.root)
