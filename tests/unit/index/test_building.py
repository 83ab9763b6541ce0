"""A new index file is built in a process of its own, beside the one that answers."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bead.clients.index import IndexClient
from bead.clients.store import StoreClient
from bead.home import Home
from bead.turns import Role
from bead.wire.store import AppendTurn, WriteFact
from bead_index import building
from bead_index.database import IndexFile
from bead_index.frames import FACTS, MANIFEST, frame
from tests.fakes.store import FakeStore
from tests.unit.index.conftest import StartIndex
from tests.unit.index.made import request

_LIMIT_S = 20.0


class Held:
    """A build that has read the first page of facts and goes no further until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()
        self.children: list[asyncio.subprocess.Process] = []
        real = StoreClient.list_facts_raw
        spawn = asyncio.create_subprocess_exec

        async def list_facts_raw(client: StoreClient, after: str | None = None, limit: int = 1_000) -> bytes:
            body = await real(client, after, limit)
            self.begun.set()
            await self.go_on.wait()
            return body

        async def noted(*args: object, **options: object) -> asyncio.subprocess.Process:
            child: asyncio.subprocess.Process = await spawn(*args, **options)  # type: ignore[arg-type]
            self.children.append(child)
            return child

        monkeypatch.setattr(StoreClient, "list_facts_raw", list_facts_raw)
        monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)

    @asynccontextmanager
    async def rebuild(self, index: IndexClient) -> AsyncIterator[None]:
        """The block runs while the build stands still; it is over when the block is left."""
        async with asyncio.timeout(_LIMIT_S), asyncio.TaskGroup() as group:
            group.create_task(index.rebuild())
            await self.begun.wait()
            yield
            self.go_on.set()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    return Held(monkeypatch)


async def ids(index: IndexClient, query: str) -> list[str]:
    return [hit.id for hit in (await index.search(query)).hits]


async def until_found(index: IndexClient, query: str, wanted: list[str]) -> None:
    async with asyncio.timeout(_LIMIT_S):
        while True:  # a search has no event to wait for
            if await ids(index, query) == wanted:
                return
            await asyncio.sleep(0.005)


async def write(store: FakeStore, key: str, body: str) -> int:
    await store.client.write_fact(WriteFact(key=key, body=body))
    return store.seq


def everything(home: Home) -> bytes:
    return b"".join(path.read_bytes() for path in home.root.rglob("*") if path.is_file())


async def test_the_old_index_answers_while_a_new_one_is_built(
    index: IndexClient, store: FakeStore, held: Held, home: Home
) -> None:
    assert await index.applied(await write(store, "user/carrier", "Parcels travel with Flamingo Express."))
    before = home.index_db.stat().st_ino

    async with held.rebuild(index):
        assert await ids(index, "flamingo") == ["user/carrier"]
        assert [fact.key for fact in (await index.recall(request("flamingo express"))).facts] == ["user/carrier"]
        assert home.index_db.stat().st_ino == before

    assert home.index_db.stat().st_ino != before
    assert await ids(index, "flamingo") == ["user/carrier"]


async def test_what_is_written_while_a_new_index_is_built_is_found_before_and_after_the_swap(
    index: IndexClient, store: FakeStore, held: Held
) -> None:
    assert await index.applied(await write(store, "user/carrier", "Parcels travel with Flamingo Express."))

    async with held.rebuild(index):
        seq = await write(store, "user/post", "Letters go by Pelican Post.")
        await until_found(index, "pelican", ["user/post"])
        assert store.acknowledged["index"] < seq, "the file that comes has not seen it"

    assert await index.applied(seq)
    assert await ids(index, "pelican") == ["user/post"]
    assert [fact.key for fact in (await index.recall(request("letters by pelican post"))).facts] == ["user/post"]


async def test_what_is_forgotten_while_a_new_index_is_built_is_in_no_file_when_that_is_acknowledged(
    index: IndexClient, store: FakeStore, held: Held, home: Home
) -> None:
    word = "quix" + "otic" + "zebu"
    await write(store, "user/other", "Herons nest in March.")
    assert await index.applied(await write(store, "user/carrier", f"Parcels travel with {word}."))

    async with held.rebuild(index):
        seq = await store.forget("user/carrier")
        await until_found(index, word, [])
        assert store.acknowledged["index"] < seq, "the child may hold it"

    assert await index.applied(seq)
    assert store.acknowledged["index"] >= seq
    assert word.encode() not in everything(home)
    assert await ids(index, "herons") == ["user/other"]


async def test_a_build_whose_process_is_killed_is_begun_again(index: IndexClient, store: FakeStore, held: Held) -> None:
    assert await index.applied(await write(store, "user/carrier", "Parcels travel with Flamingo Express."))

    async with held.rebuild(index):
        held.children[0].kill()
        await held.children[0].wait()

    assert len(held.children) == 2
    assert await ids(index, "flamingo") == ["user/carrier"]


async def test_turns_and_older_versions_are_in_the_new_file(index: IndexClient, store: FakeStore) -> None:
    await write(store, "user/carrier", "Parcels travel with Flamingo Express.")
    await write(store, "user/carrier", "Letters go by Pelican Post.")
    turn = AppendTurn(session="s", turn_id="t", role=Role.USER, text="herons nest", at="2026-11-05T09:00:00Z")
    source = (await store.client.append_turn(turn)).source
    assert await index.applied(store.seq)

    await index.rebuild()

    assert await ids(index, "herons") == [source]
    assert await ids(index, "flamingo") == []
    assert [hit.id for hit in (await index.search("flamingo", all_versions=True)).hits] == ["user/carrier@v1"]


async def test_the_builder_ends_with_its_parent_and_leaves_no_file(store: FakeStore, tmp_path: Path) -> None:
    path = tmp_path / "index.db.new"
    await write(store, "user/carrier", "Parcels travel with Flamingo Express.")
    manifest = (await store.client.manifest()).model_dump_json().encode()
    sent = frame(MANIFEST, manifest) + frame(FACTS, await store.client.list_facts_raw())

    child = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-m", building.__name__, str(path)], input=sent, timeout=_LIMIT_S
    )

    assert child.returncode == 1
    assert os.listdir(tmp_path) == []


async def test_what_a_killed_process_left_is_removed_at_the_next_start(start_index: StartIndex, home: Home) -> None:
    left = home.index_db.with_name("index.db.new")
    IndexFile(left, writing=True).close()

    async with start_index():
        assert not left.exists()
