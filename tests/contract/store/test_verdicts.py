"""What a person decides about a review item is carried out, once."""

import pytest

from bead.errors import NotFound, Tombstoned, Unavailable
from bead.facts import FactType, Trust
from bead.home import Home
from bead.wire.store import Verb
from bead_store import disk
from tests.contract.store.opening import Open, opened
from tests.syscalls import recorded

KEY = "user/editor"


async def queued(store: Open, body: str = "emacs", **fields: object) -> str:
    await store.write("helix", KEY)
    answer = await store.write(body, KEY, trust=Trust.AGENT_OBSERVED, **fields)
    assert answer.review_id is not None
    return answer.review_id


async def test_accepted_value_is_the_persons_own(store: Open) -> None:
    item = await queued(store, type="feedback", when={"do": ["emacs"]})

    decided = await store.client.accept(item)

    assert (decided.id, decided.decision, decided.key) == (item, "accepted", KEY)
    assert decided.written is not None
    assert (decided.written.verb, decided.written.version, decided.written.replaced) == (Verb.SUPERSEDED, 2, "helix")
    fact = await store.client.current_fact(KEY)
    assert (fact.body, fact.trust, fact.type, fact.when.do) == (
        "emacs", Trust.USER_STATED, FactType.FEEDBACK, ("emacs",)
    )  # fmt: skip
    assert (await store.client.review_queue()).items == ()


async def test_rejected_value_is_refused_under_this_key_only(store: Open) -> None:
    item = await queued(store)

    decided = await store.client.reject(item)

    assert (decided.decision, decided.written) == ("rejected", None)
    assert (await store.client.review_queue()).items == ()
    assert (await store.client.current_fact(KEY)).body == "helix"
    for again in ("emacs", " EMACS. "):
        with pytest.raises(Tombstoned):
            await store.write(again, KEY, trust=Trust.DREAM_INFERRED)
    assert (await store.write("emacs", "user/other", trust=Trust.DREAM_INFERRED)).verb is Verb.CREATED
    assert (await store.write("emacs", KEY)).verb is Verb.SUPERSEDED, "the person may always say it"
    assert (await store.write("emacs", KEY, trust=Trust.AGENT_OBSERVED)).verb is Verb.UNCHANGED


@pytest.mark.parametrize("verb", ["accept", "reject"])
async def test_same_decision_again_gets_the_same_answer(store: Open, verb: str) -> None:
    item = await queued(store)
    decide = getattr(store.client, verb)

    first = await decide(item)

    assert await decide(item) == first
    assert len((await store.client.history(KEY)).versions) == (2 if verb == "accept" else 1)


async def test_other_decision_afterwards_finds_nothing(store: Open) -> None:
    item = await queued(store)
    await store.client.accept(item)

    with pytest.raises(NotFound):
        await store.client.reject(item)

    assert (await store.client.current_fact(KEY)).body == "emacs"


@pytest.mark.parametrize("item", ["nothing", "../../config", "A B"])
async def test_unknown_item_is_not_found(store: Open, item: str) -> None:
    with pytest.raises(NotFound):
        await store.client.accept(item)
    with pytest.raises(NotFound):
        await store.client.reject(item)


@pytest.mark.parametrize("verb", ["accept", "reject"])
@pytest.mark.parametrize("then", ["asked again", "started again"])
async def test_item_that_the_disk_would_not_let_go_is_gone_in_the_end_and_decided_once(
    home: Home, verb: str, then: str
) -> None:
    """Its bytes are zeros already when the disk refuses to remove its name."""
    async with opened(home) as store:
        item = await queued(store)
        path = home.queue / f"{item}.md"
        with recorded(disk, fail_unlink_of=path), pytest.raises(Unavailable, match="disk is full"):
            await getattr(store.client, verb)(item)
        assert path.exists()
        if then == "asked again":
            assert (await getattr(store.client, verb)(item)).key == KEY

    async with opened(home) as store:
        assert not path.exists()
        assert (await store.client.health()).degraded == ()
        assert len((await store.client.history(KEY)).versions) == (2 if verb == "accept" else 1)


async def test_decision_that_could_not_be_written_down_is_not_made_later(home: Home) -> None:
    async with opened(home) as store:
        item = await queued(store)
        with recorded(disk, fail_open_of=home.intents), pytest.raises(Unavailable):
            await store.client.accept(item)

    async with opened(home) as store:
        assert [each.id for each in (await store.client.review_queue()).items] == [item]
        assert (await store.client.current_fact(KEY)).body == "helix"
