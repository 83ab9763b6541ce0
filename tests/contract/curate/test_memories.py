"""The memories API over a socket: the four verbs, and which token may use which."""

import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bead.bus.guard import scoped_token
from bead.bus.serve import listen, serving
from bead.bus.service import Access
from bead.bus.transport import InProcessTransport
from bead.settings import CurateSettings
from bead_cli.__main__ import run
from bead_curate.app import create_service
from bead_curate.memories import PATH, TOKEN_SCOPE
from tests.fakes.store import FakeStore

ADMIN = "admin-of-this-test"
AGENT = scoped_token(ADMIN, TOKEN_SCOPE)


class Api:
    """curate on a socket."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session, self._url = session, url

    async def ask(self, method: str, path: str, token: str = AGENT, **body: Any) -> tuple[int, Any]:
        """Status and document of one request."""
        data = json.dumps(body) if body else None
        headers = {"Authorization": f"Bearer {token}"} | ({"Content-Type": "application/json"} if data else {})
        async with self._session.request(method, self._url + path, data=data, headers=headers) as answer:
            return answer.status, await answer.json(content_type=None)


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    service = create_service(CurateSettings(), "home", {"store": InProcessTransport("store", FakeStore().service.app)})
    listener = listen("127.0.0.1", 0)
    port = int(listener.getsockname()[1])
    guarded = service.guarded(Access(ADMIN, port))
    async with service.running(), serving(guarded, listener, "curate"), aiohttp.ClientSession() as session:
        yield Api(session, f"http://127.0.0.1:{port}")
    listener.close()


async def test_a_memory_is_remembered_listed_read_and_replaced(api: Api) -> None:
    assert await api.ask("POST", PATH, value="we deploy on Tuesdays") == (
        200,
        {"key": "user/we-deploy-on-tuesdays", "verb": "created", "replaced": None, "value": None},
    )
    status, said = await api.ask("POST", PATH, value="Wednesday", key="deploy-day", project="shop")
    assert (status, said["key"]) == (200, "project/shop/deploy-day")
    said = (await api.ask("POST", PATH, value="Thursday", key="deploy-day", project="shop"))[1]
    assert (said["verb"], said["replaced"]) == ("superseded", "Wednesday")

    assert (await api.ask("GET", f"{PATH}?term=TUESDAY"))[1]["memories"] == [
        {"key": "user/we-deploy-on-tuesdays", "value": "we deploy on Tuesdays"}
    ]
    assert len((await api.ask("GET", PATH))[1]["memories"]) == 2
    assert (await api.ask("GET", f"{PATH}/deploy-day?project=shop"))[1]["value"] == "Thursday"
    assert (await api.ask("GET", f"{PATH}/project/shop/deploy-day"))[1]["value"] == "Thursday"
    assert (await api.ask("GET", f"{PATH}/nothing"))[0] == 404


async def test_what_comes_in_here_overrules_nothing_that_the_person_said(api: Api) -> None:
    await api.ask("POST", "/api/store/v1/facts", ADMIN, key="user/editor", body="Helix", trust="user_stated")
    assert (await api.ask("POST", PATH, value="vim", key="user/editor"))[1]["verb"] == "queued"
    assert (await api.ask("GET", f"{PATH}/editor"))[1]["value"] == "Helix"


async def test_forgetting_takes_the_admin_token_and_takes_exactly_the_named_key(api: Api) -> None:
    await api.ask("POST", PATH, value="Tuesday", key="deploy-day")
    await api.ask("POST", PATH, value="noon", key="deploy-day-hour")
    assert (await api.ask("DELETE", f"{PATH}/deploy-day"))[0] == 403
    assert await api.ask("DELETE", f"{PATH}/deploy-day", ADMIN) == (200, {"key": "user/deploy-day", "verb": "forgot"})
    assert [each["key"] for each in (await api.ask("GET", PATH))[1]["memories"]] == ["user/deploy-day-hour"]
    assert (await api.ask("DELETE", f"{PATH}/deploy-day", ADMIN))[0] == 404


@pytest.mark.parametrize("value", ["status", "  Memories ", "`forget`", "bead status", "import"])
async def test_a_lone_command_is_refused_and_nothing_is_kept(api: Api, value: str) -> None:
    status, problem = await api.ask("POST", PATH, value=value)
    assert (status, problem["type"].rpartition("/")[2].rpartition(":")[2]) == (400, "refused")
    assert (await api.ask("GET", PATH))[1] == {"memories": []}
    assert (await api.ask("POST", PATH, value=value, key="word"))[1]["verb"] == "created"


async def test_a_bare_key_is_read_and_refused_where_nothing_is_stored(api: Api) -> None:
    await api.ask("POST", PATH, value="Tuesday", key="deploy-day", project="shop")
    await api.ask("POST", PATH, value="Helix", key="editor")
    for value, project in (("deploy-day", "shop"), ("`deploy-day`", "shop"), ("project/shop/deploy-day", None)):
        more = {"project": project} if project else {}
        assert await api.ask("POST", PATH, value=value, **more) == (
            200,
            {"key": "project/shop/deploy-day", "verb": "recalled", "replaced": None, "value": "Tuesday"},
        )
    assert (await api.ask("POST", PATH, value="editor", project="shop"))[1]["value"] == "Helix"
    assert (await api.ask("POST", PATH, value="deploy-night"))[0] == 400
    assert len((await api.ask("GET", PATH))[1]["memories"]) == 2


async def test_every_route_has_its_status(api: Api) -> None:
    """As beads' own: a list is there when it is empty, a key of blanks is none, and what is malformed says so."""
    assert await api.ask("GET", PATH) == (200, {"memories": []})
    assert (await api.ask("POST", PATH))[0] == 400
    assert (await api.ask("POST", PATH, value=""))[0] == 400
    assert (await api.ask("POST", PATH, value="   "))[0] == 400
    assert (await api.ask("POST", PATH, value="x y", key="Not A Key/.."))[0] == 400
    assert (await api.ask("POST", PATH, value="x y", colour="red"))[0] == 400
    assert (await api.ask("POST", PATH, value="tea at four", key="  "))[1]["key"] == "user/tea-at-four"
    assert (await api.ask("GET", f"{PATH}/tea-at"))[0] == 404
    assert (await api.ask("GET", f"{PATH}/tea-at-four"))[0] == 200
    assert (await api.ask("PUT", f"{PATH}/tea-at-four", ADMIN))[0] == 405
    assert (await api.ask("DELETE", f"{PATH}/tea-at", ADMIN))[0] == 404
    assert (await api.ask("GET", f"{PATH}?term=FOUR"))[1]["memories"] == (await api.ask("GET", PATH))[1]["memories"]


async def test_the_agents_token_opens_nothing_else_and_no_token_opens_nothing(api: Api) -> None:
    assert (await api.ask("GET", "/api/store/v1/facts"))[0] == 403
    assert (await api.ask("GET", PATH, "wrong"))[0] == 401
    assert (await api.ask("POST", PATH, "wrong", value="x"))[0] == 401


def test_the_command_prints_the_token_of_agents(tmp_path: Path) -> None:
    (tmp_path / "tokens").mkdir()
    (tmp_path / "tokens" / "admin").write_text(f"{ADMIN}\n")
    out = io.StringIO()
    assert run(["memories", "--token", "--home", str(tmp_path)], {}, out, io.StringIO()) == 0
    assert out.getvalue().strip() == AGENT
