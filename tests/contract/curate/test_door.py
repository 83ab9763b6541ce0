"""The store's own client works through curate's door, in process and over a socket: same answers, same errors."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from bead.bus.serve import listen, serving
from bead.bus.service import Access
from bead.bus.transport import DEFAULT_TIMEOUT_S, Answer, HttpTransport, InProcessTransport, Transport
from bead.clients.health import health
from bead.clients.store import StoreClient
from bead.errors import InvalidKey, NotFound, ServiceDown
from bead.settings import CurateSettings
from bead.wire.store import ResolveProject, Verb, WriteFact
from bead_curate.app import create_service
from tests.fakes.store import FakeStore

ADMIN_TOKEN = "admin-of-this-test"


class Below:
    """A transport to what lies below a path of another one."""

    def __init__(self, bus: Transport, prefix: str) -> None:
        self._bus, self._prefix = bus, prefix

    async def send(self, method: str, path: str, body: bytes = b"", *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Answer:
        return await self._bus.send(method, self._prefix + path, body, timeout_s=timeout_s)


class Gone:
    """A service that does not answer."""

    async def send(self, method: str, path: str, body: bytes = b"", *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Answer:
        raise ServiceDown("no answer from the index")


@pytest.fixture
def backend() -> FakeStore:
    return FakeStore()


@pytest.fixture(params=["in process", "over a socket"])
async def curate(request: pytest.FixtureRequest, backend: FakeStore) -> AsyncIterator[Transport]:
    buses: dict[str, Transport] = {"store": InProcessTransport("store", backend.service.app), "index": Gone()}
    service = create_service(CurateSettings(), "home-of-this-test", buses)
    if request.param == "in process":
        yield InProcessTransport("curate", service.app)
        return
    listener = listen("127.0.0.1", 0)
    port = int(listener.getsockname()[1])
    async with (
        serving(service.guarded(Access(ADMIN_TOKEN, port)), listener, "curate"),
        aiohttp.ClientSession() as session,
    ):
        yield HttpTransport(session, f"http://127.0.0.1:{port}", ADMIN_TOKEN)
    listener.close()


@pytest.fixture
def store(curate: Transport) -> StoreClient:
    return StoreClient(Below(curate, "/api/store"))


async def test_a_fact_goes_through_and_comes_back(store: StoreClient) -> None:
    answer = await store.write_fact(WriteFact(key="project/shop/deploy-day", body="Dienstag, 7 Uhr, grün"))
    assert (answer.verb, answer.version) == (Verb.CREATED, 1)
    assert (await store.current_fact("project/shop/deploy-day")).body == "Dienstag, 7 Uhr, grün"
    assert len((await store.history("project/shop/deploy-day")).versions) == 1


async def test_a_query_arrives_as_it_was_sent(store: StoreClient) -> None:
    for key in ("user/a", "user/b", "project/shop/c"):
        await store.write_fact(WriteFact(key=key, body="x"))
    page = await store.list_facts(scope="user", limit=1)
    assert ([fact.key for fact in page.facts], page.next_after) == (["user/a"], "user/a")
    assert [fact.key for fact in (await store.list_facts(scope="project/shop")).facts] == ["project/shop/c"]


async def test_an_error_of_the_service_is_the_same_error_here(store: StoreClient) -> None:
    with pytest.raises(NotFound):
        await store.current_fact("user/nothing")
    with pytest.raises(InvalidKey):
        await store.current_fact("no-scope")


async def test_an_empty_answer_stays_empty(store: StoreClient) -> None:
    assert await store.resolve_project(ResolveProject(directory="/")) is None


async def test_a_service_that_is_down_is_unavailable_not_a_crash(curate: Transport) -> None:
    with pytest.raises(ServiceDown):
        await health(Below(curate, "/api/index"))


async def test_a_service_that_is_not_behind_the_door_is_not_found(curate: Transport) -> None:
    with pytest.raises(NotFound):
        await health(Below(curate, "/api/proxy"))


async def test_curate_tells_its_own_health(curate: Transport) -> None:
    answer = await health(curate)
    assert (answer.name, answer.ready, answer.home_id) == ("curate", True, "home-of-this-test")
