"""Who may come in at curate's listener: the admin token, from this machine, and no web page (T1, T2)."""

import json
from collections.abc import AsyncIterator
from typing import NamedTuple

import aiohttp
import pytest

from bead.bus.serve import listen, serving
from bead.bus.service import Access
from bead.bus.transport import InProcessTransport
from bead.settings import CurateSettings
from bead_curate.app import create_service
from tests.fakes.store import FakeStore

ADMIN = {"Authorization": "Bearer admin-of-this-test"}
JSON = {"Content-Type": "application/json"}
FACT = json.dumps({"key": "user/editor", "body": "helix"})


class Listening(NamedTuple):
    """curate on a socket, before a store in memory."""

    url: str
    session: aiohttp.ClientSession
    store: FakeStore

    async def post(self, headers: dict[str, str]) -> int:
        """Status of a write with these headers."""
        async with self.session.post(f"{self.url}/api/store/v1/facts", data=FACT, headers=headers) as answer:
            return answer.status


@pytest.fixture
async def listening() -> AsyncIterator[Listening]:
    store, listener = FakeStore(), listen("127.0.0.1", 0)
    port = int(listener.getsockname()[1])
    service = create_service(CurateSettings(), "home", {"store": InProcessTransport("store", store.service.app)})
    guarded = service.guarded(Access("admin-of-this-test", port))
    async with serving(guarded, listener, "curate"), aiohttp.ClientSession() as session:
        yield Listening(f"http://127.0.0.1:{port}", session, store)
    listener.close()


async def test_the_admin_token_opens_the_door(listening: Listening) -> None:
    assert await listening.post({**ADMIN, **JSON}) == 200
    assert listening.store.current_fact("user/editor").body == "helix"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (JSON, 401),
        ({**JSON, "Authorization": "Bearer bus-of-this-test"}, 401),
        ({**JSON, "Authorization": "Basic YTpi"}, 401),
        ({**ADMIN, **JSON, "Origin": "https://evil.example"}, 403),
        ({**ADMIN, **JSON, "Origin": "null"}, 403),
        ({**ADMIN, **JSON, "Sec-Fetch-Site": "same-site"}, 403),
        ({**ADMIN, **JSON, "Host": "evil.example"}, 421),
        ({**ADMIN, **JSON, "Host": "curate:7078"}, 421),
        ({**ADMIN, "Content-Type": "text/plain"}, 400),
        ({**ADMIN, "Content-Type": "application/x-www-form-urlencoded"}, 400),
    ],
)
async def test_a_caller_who_may_not_changes_nothing(listening: Listening, headers: dict[str, str], status: int) -> None:
    before = listening.store.seq
    assert await listening.post(headers) == status
    assert listening.store.seq == before


async def test_health_needs_no_token_but_everything_else_does(listening: Listening) -> None:
    for path, status in (("/health", 200), ("/metrics", 401), ("/api/store/health", 401), ("/", 401)):
        async with listening.session.get(listening.url + path) as answer:
            assert (path, answer.status) == (path, status)


@pytest.mark.parametrize("path", ["/api/st%6Fre/v1/facts", "/api/store/../store/v1/facts", "/api/store//v1/facts"])
async def test_odd_spellings_of_a_path_never_crash(listening: Listening, path: str) -> None:
    from yarl import URL

    async with listening.session.get(URL(listening.url + path, encoded=True), headers=ADMIN) as answer:
        assert answer.status in (200, 404)
