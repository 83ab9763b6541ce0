"""Who may ask the store what, over its socket (SECURITY T2)."""

from pathlib import Path

import pytest

from bead.bus.transport import Transport
from bead.clients.store import StoreClient
from bead.conversations import Conversation
from bead.errors import NotAllowed
from bead.home import Home
from bead.wire.store import ConfirmForget, FindConversation, ForgetKeys, Mark, Rekey, WriteFact
from bead_store.home import prepare
from tests.contract.store.opening import on_socket, opened


async def test_wrong_token_is_refused_and_health_needs_none(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    async with opened(home) as store, on_socket(store.service, prepare(home).bus_secret, token="wrong") as bus:
        with pytest.raises(NotAllowed):
            await StoreClient(bus).list_facts()
        assert (await StoreClient(bus).health()).ready


async def test_proxy_may_write_facts_and_find_conversations_but_not_mark_or_read_the_queue(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    async with opened(home) as store, on_socket(store.service, prepare(home).bus_secret, "proxy") as bus:
        client = StoreClient(bus)
        await client.write_fact(WriteFact(body="remember me", key="user/a"))
        asked = FindConversation(owner="me", project="", session="s", thread="t", positions=("p",))
        assert await client.find_conversation(asked) == Conversation("s-t", 0, ())
        await refused(bus, Mark(key="user/a", pinned=True))


async def test_index_may_read_everything_it_copies_and_write_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    async with opened(home) as store, on_socket(store.service, prepare(home).bus_secret, "index") as bus:
        client = StoreClient(bus)
        manifest = await client.manifest()
        await client.changes(manifest.epoch, 0)
        await client.acknowledge("index", manifest.epoch, 0)
        await client.list_facts()
        await client.sessions()
        with pytest.raises(NotAllowed):
            await client.write_fact(WriteFact(body="no", key="user/a"))
        await refused(bus, Mark(key="user/a", pinned=True))


@pytest.mark.parametrize("scope", ["proxy", "index", "dream", "scheduler"])
async def test_only_curate_may_forget_move_and_decide(tmp_path: Path, scope: str) -> None:
    home = Home(tmp_path / "home")
    async with opened(home) as store:
        await store.write("helix", "user/editor")
        queued = await store.write("emacs", "user/editor", trust="agent_observed")
        async with on_socket(store.service, prepare(home).bus_secret, scope) as bus:
            client = StoreClient(bus)
            for asked in (
                client.preview_forget(ForgetKeys(keys=("user/editor",))),
                client.forget(ConfirmForget(keys=("user/editor",), confirm="x")),
                client.rekey(Rekey(old="user/editor", new="user/other")),
                client.accept(queued.review_id or ""),
                client.reject(queued.review_id or ""),
            ):
                with pytest.raises(NotAllowed):
                    await asked
        assert (await store.client.current_fact("user/editor")).body == "helix"
        assert len((await store.client.review_queue()).items) == 1
        async with on_socket(store.service, prepare(home).bus_secret, "curate") as bus:
            preview = await StoreClient(bus).preview_forget(ForgetKeys(keys=("user/editor",)))
            await StoreClient(bus).forget(ConfirmForget(keys=("user/editor",), confirm=preview.confirm or ""))


async def refused(bus: Transport, mark: Mark) -> None:
    client = StoreClient(bus)
    with pytest.raises(NotAllowed):
        await client.mark(mark)
    with pytest.raises(NotAllowed):
        await client.review_queue()
