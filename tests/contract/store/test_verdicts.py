"""What a person decides about a review item is carried out, once."""

import pytest

from bead.errors import NotFound, Tombstoned
from bead.facts import FactType, Trust
from bead.wire.store import Verb
from tests.contract.store.opening import Open

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
