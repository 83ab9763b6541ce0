"""By itself bead drains only agents that are turned on, empties nothing, and comes back for what was missing."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from bead.errors import Unavailable
from bead.settings import DrainSettings
from bead_cli.drain import notes
from bead_cli.drain.automatic import Automatic
from bead_cli.drain.hooks import post_tool_use, session_end
from tests.fakes.store import FakeStore
from tests.unit.cli.drain.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "home-id").write_text("x")
    return World(tmp_path).fill()


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


def automatic(world: World, store: FakeStore, **settings: object) -> Automatic:
    bus = store.client._bus  # the way that goes down with the store
    return Automatic(DrainSettings.model_validate(settings), str(world.root), bus, {"HOME": str(world.root)})


def agents(store: FakeStore) -> set[str]:
    return {tag for _, tags, _, _ in store.drafts.waiting.values() for tag in tags if tag.startswith("cli:")}


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 -- a file that comes has no event
        await asyncio.sleep(0)


async def test_off_until_the_person_turns_it_on(world: World, store: FakeStore) -> None:
    assert "off" in await automatic(world, store).work()
    assert agents(store) == set()


@pytest.mark.parametrize(
    ("enabled", "expected"),
    [
        (True, {"cli:claude", "cli:codex", "cli:gemini", "cli:qwen"}),
        ({"claude": True}, {"cli:claude"}),
        ({"all": True, "claude": False, "qwen": False}, {"cli:codex", "cli:gemini"}),
        ({"all": "false"}, set()),
    ],
)
async def test_for_all_or_for_one_agent(world: World, store: FakeStore, enabled: object, expected: set[str]) -> None:
    before = {path: path.read_bytes() for path in world.root.rglob("*") if path.is_file()}

    await automatic(world, store, enabled=enabled).work()

    assert agents(store) == expected
    assert {path: path.read_bytes() for path in world.root.rglob("*") if path.is_file()} == before


async def test_a_start_drains_what_every_hook_has_missed_and_then_follows_notes(world: World, store: FakeStore) -> None:
    stop = asyncio.Event()
    working = automatic(world, store, enabled={"claude": True})
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        tasks.create_task(working.watch(stop, look_s=0.01))
        await until(lambda: bool(store.drafts.waiting))
        known = len(store.drafts.waiting)
        world.put(world.claude / "new.md", "written meanwhile\n")
        session_end(str(world.root), b'{"session_id": "s"}', {"HOME": str(world.root)})
        await until(lambda: len(store.drafts.waiting) > known)
        await until(lambda: not notes.waiting(str(world.root)))
        stop.set()


async def test_a_note_stays_while_the_store_is_away(world: World, store: FakeStore) -> None:
    working = automatic(world, store, enabled=True)
    session_end(str(world.root), b"{}", {"HOME": str(world.root)})
    store.down = True
    with pytest.raises(Unavailable):
        await working.look()
    assert len(notes.waiting(str(world.root))) == 1
    store.down = False
    await working.look()
    assert notes.waiting(str(world.root)) == []
    assert "cli:claude" in agents(store)


async def test_a_write_is_drained_at_once_only_where_that_is_on(world: World, store: FakeStore) -> None:
    given = b'{"tool_input": {"file_path": "%s"}}' % str(world.claude / "role.md").encode()
    environ = {"HOME": str(world.root)}
    assert post_tool_use(str(world.root), given, environ)
    await automatic(world, store, enabled=True).look()
    assert (agents(store), notes.waiting(str(world.root))) == (set(), [])

    assert post_tool_use(str(world.root), given, environ)
    await automatic(world, store, enabled=True, on_write={"claude": True}).look()
    assert agents(store) == {"cli:claude"}
