"""A decision about a draft, ended before each of its system calls: the next start finds it done or not begun (I2)."""

import shutil
from pathlib import Path

import pytest

from bead.clients.drafts import DraftClient
from bead.errors import BeadError, NotFound
from bead.home import Home
from bead.wire.drafts import DraftVerb, NewDraft
from bead_store.app import Store
from bead_store.home import prepare
from bead_store.intents import Operation
from tests.contract.store.crashes import end_at, living
from tests.contract.store.opening import Open, on_socket, opened
from tests.contract.store.test_forget import forget

SAID = "The staging database is reset every Sunday night."
KEY = "user/the-staging-database-is-reset-every-sunday-night"
DRAFT = NewDraft(body=SAID, tags=("cli-memory", "agent:claude", "cli:claude"))


@pytest.fixture
async def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Home, str]:
    home = Home(tmp_path / "filled")
    async with living(home, monkeypatch) as store:
        return home, store.drafts.add(DRAFT).id


def copy_of(home: Home, number: int) -> Home:
    shutil.copytree(home.root, home.root.with_name(f"home-{number}"), symlinks=True)
    return Home(home.root.with_name(f"home-{number}"))


def has_fact(store: Store) -> bool:
    try:
        return store.catalogue.current(KEY).body == SAID
    except NotFound:
        return False


@pytest.mark.parametrize("operation", [Operation.APPROVE, Operation.DISCARD])
async def test_a_decision_ended_at_any_call_is_done_or_not_begun_after_the_next_start(
    filled: tuple[Home, str], operation: Operation, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, id = filled

    async def decide(store: Store) -> None:
        await store.fact_lane.run(store.drafts.decide, operation, id)

    calls = await end_at(None, copy_of(source, 0), decide, monkeypatch)
    outcomes = set()
    for number in range(calls):
        home = copy_of(source, number + 1)
        await end_at(number, home, decide, monkeypatch)
        async with living(home, monkeypatch) as store:
            waits = [each.id for each in store.drafts.files.all()]
            assert not store.intents.open
            if waits:
                assert (waits, has_fact(store)) == ([id], False), number
                assert store.drafts.decide(operation, id).id == id
            outcomes.add(bool(waits))
            assert has_fact(store) == (operation is Operation.APPROVE), number
            assert store.drafts.add(DRAFT).verb is DraftVerb.DECIDED, number
            assert store.drafts.files.ids() == []
    assert outcomes == {True, False}


async def test_a_draft_ended_at_any_call_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def add(store: Store) -> None:
        await store.fact_lane.run(store.drafts.add, DRAFT)

    source = Home(tmp_path / "filled")
    async with living(source, monkeypatch):
        pass
    for number in range(await end_at(None, copy_of(source, 0), add, monkeypatch)):
        home = copy_of(source, number + 1)
        await end_at(number, home, add, monkeypatch)
        async with living(home, monkeypatch) as store:
            assert store.drafts.files.damage() == []
            assert store.drafts.add(DRAFT).verb in (DraftVerb.CREATED, DraftVerb.UNCHANGED)
            assert len(store.drafts.files.ids()) == 1


@pytest.mark.parametrize("scope", ["proxy", "index", "dream", "scheduler"])
async def test_no_service_that_a_model_hears_may_see_or_make_drafts(home: Home, scope: str) -> None:
    async with opened(home) as store, on_socket(store.service, prepare(home).bus_secret, scope) as bus:
        for call in (DraftClient(bus).waiting(), DraftClient(bus).add(DRAFT)):
            with pytest.raises(BeadError) as refused:
                await call
            assert refused.value.status == 403


async def test_a_forgotten_sentence_is_left_out_of_a_longer_memory(local: Open) -> None:
    canary = "the purple walrus opens the vault at dawn"
    await local.write(canary, "user/walrus")
    await forget(local, "user/walrus")

    answer = await DraftClient(local.bus).add(
        DRAFT.model_copy(update={"body": f"Among other things, {canary}. Also, tea is at five."})
    )

    assert not answer.is_whole
    (draft,) = (await DraftClient(local.bus).waiting()).drafts
    assert canary not in draft.body and "tea is at five" in draft.body
