"""Which project: what is named, what is looked up, and that a slow look-up is not lost."""

import asyncio
import threading

import pytest

from bead.bus.transport import Answer
from bead.clients.store import StoreClient
from bead.errors import ServiceDown
from bead.projects import Identity
from bead.tasks import Tasks
from bead.wire.store import ResolveProject
from bead_proxy.directories import FRESH_S, MOST_KNOWN, Directories


class Bus:
    """Answers every look-up with the name that was asked for."""

    def __init__(self) -> None:
        self.asked: list[ResolveProject] = []
        self.is_down = False
        self.was_asked = asyncio.Event()

    async def send(self, method: str, path: str, body: bytes = b"", *, timeout_s: float = 30.0) -> Answer:
        self.was_asked.set()
        if self.is_down:
            raise ServiceDown("no answer")
        self.asked.append(ResolveProject.model_validate_json(body))
        name = self.asked[-1].name or "by-path"
        return Answer(200, f'{{"name":"{name}","identity":"path:x"}}'.encode())


def by_name(directory: str) -> Identity | None:
    return None if directory == "/" else Identity(f"path:{directory}", directory.rsplit("/", 1)[-1])


async def test_what_the_launcher_names_is_the_scope_and_nobody_is_asked() -> None:
    bus = Bus()
    async with Tasks() as tasks:
        directories = Directories(StoreClient(bus), by_name, tasks, default="flag")
        names = [await directories.project(named, "/srv/x") for named in ("shop", "tide.pool_2", "My Shop", "v1")]

    found = [project.name for project in names if project]
    assert found[:3] == ["shop", "tide.pool_2", "my-shop"] and found[3] != "v1"
    assert not bus.asked


@pytest.mark.parametrize(
    ("named", "directory", "name"), [("/srv/a", "/srv/b", "a"), (None, "/srv/b", "b"), (None, None, "flag")]
)
async def test_a_name_goes_before_the_directory_and_the_directory_before_the_flag(
    named: str | None, directory: str | None, name: str
) -> None:
    async with Tasks() as tasks:
        project = await Directories(StoreClient(Bus()), by_name, tasks, default="flag").project(named, directory)
    assert project and project.name == name


async def test_without_any_hint_there_is_no_project() -> None:
    async with Tasks() as tasks:
        directories = Directories(StoreClient(Bus()), by_name, tasks)
        assert directories.known(None, None) and await directories.project(None, None) is None


async def test_no_project_is_an_answer_that_is_kept() -> None:
    bus = Bus()
    async with Tasks() as tasks:
        directories = Directories(StoreClient(bus), by_name, tasks)
        assert await directories.project(None, "/") is None
        assert directories.known(None, "/") and not bus.asked


async def test_in_a_container_the_store_is_asked_by_path() -> None:
    bus = Bus()
    async with Tasks() as tasks:
        await Directories(StoreClient(bus), None, tasks).project(None, "/srv/b")
    assert bus.asked == [ResolveProject(directory="/srv/b")]


async def test_a_look_up_that_nobody_waits_for_any_more_still_ends() -> None:
    may_answer, bus = threading.Event(), Bus()

    def slow(directory: str) -> Identity | None:
        may_answer.wait(5)
        return by_name(directory)

    async with Tasks() as tasks:
        directories = Directories(StoreClient(bus), slow, tasks)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await directories.project(None, "/srv/b")
        may_answer.set()
        project = await directories.project(None, "/srv/b")

    assert project and project.name == "b" and len(bus.asked) == 1


async def test_a_store_that_is_away_is_asked_again_next_time() -> None:
    bus = Bus()
    bus.is_down = True
    async with Tasks() as tasks:
        directories = Directories(StoreClient(bus), by_name, tasks)
        with pytest.raises(ServiceDown):
            await directories.project(None, "/srv/b")
        bus.is_down = False
        assert await directories.project(None, "/srv/b")


async def test_an_old_answer_serves_once_more_while_it_is_looked_up_again() -> None:
    bus, now, names = Bus(), [0.0], ["before", "after"]

    def renamed(directory: str) -> Identity | None:
        return Identity(f"path:{directory}", names[0])

    async with Tasks() as tasks:
        directories = Directories(StoreClient(bus), renamed, tasks, clock=lambda: now[0])
        await directories.project(None, "/srv/b")
        del names[0]
        now[0] = FRESH_S - 1
        await directories.project(None, "/srv/b")
        assert len(bus.asked) == 1
        now[0] = FRESH_S
        bus.was_asked.clear()
        served = await directories.project(None, "/srv/b")
        await asyncio.wait_for(bus.was_asked.wait(), 5)
        found = await directories.project(None, "/srv/b")

    assert served and found and (served.name, found.name) == ("before", "after")
    assert len(bus.asked) == 2


async def test_a_known_answer_is_kept_while_the_store_is_away() -> None:
    bus, now = Bus(), [0.0]
    async with Tasks() as tasks:
        directories = Directories(StoreClient(bus), by_name, tasks, clock=lambda: now[0])
        before = await directories.project(None, "/srv/b")
        bus.is_down, now[0] = True, FRESH_S
        bus.was_asked.clear()
        assert await directories.project(None, "/srv/b") == before
        await asyncio.wait_for(bus.was_asked.wait(), 5)
        assert await directories.project(None, "/srv/b") == before


async def test_only_so_many_are_kept() -> None:
    async with Tasks() as tasks:
        directories = Directories(StoreClient(Bus()), by_name, tasks)
        for number in range(MOST_KNOWN + 1):
            await directories.project(None, f"/srv/{number}")
        assert not directories.known(None, "/srv/0") and directories.known(None, f"/srv/{MOST_KNOWN}")
