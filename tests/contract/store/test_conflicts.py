"""Two facts of one scope that answer the same question: the person is asked which holds (D2)."""

import pytest

from bead.facts import Trust
from bead.home import Home
from bead.wire.store import ConfirmForget, ForgetKeys, ReviewItem, Verb
from tests.contract.store.opening import Open, opened

FLY = "we deploy with fly"
KAMAL = "we now deploy with kamal"


async def items(store: Open) -> tuple[ReviewItem, ...]:
    return (await store.client.review_queue()).items


async def test_statement_that_takes_anothers_place_is_written_and_asked_about(store: Open) -> None:
    old = await store.write(FLY, None, project="shop")
    new = await store.write(KAMAL, None, project="shop", trust=Trust.AGENT_OBSERVED)

    assert (new.verb, new.conflicts_with) == (Verb.CREATED, old.key)
    (item,) = await items(store)
    assert (item.id, item.kind, item.key, item.body) == (new.review_id, "key-conflict", old.key, KAMAL)
    assert item.trust is Trust.AGENT_OBSERVED


async def test_the_question_says_that_a_no_lets_only_one_of_the_two_be_told(local: Open) -> None:
    old = await local.write(FLY, None)
    new = await local.write(KAMAL, None)

    (item,) = await items(local)
    assert item.reason and "rejected, both stay" in item.reason and "only one" in item.reason
    assert old.key not in item.reason and new.key not in item.reason


async def test_accepted_statement_is_the_new_version_of_the_older_key(store: Open) -> None:
    old = await store.write(FLY, None)
    new = await store.write(KAMAL, None)
    assert new.review_id is not None

    await store.client.accept(new.review_id)

    fact = await store.client.current_fact(old.key)
    assert (fact.version, fact.body, fact.trust) == (2, KAMAL, Trust.USER_STATED)
    assert await items(store) == ()


async def test_rejected_conflict_leaves_both_and_forbids_nothing(store: Open) -> None:
    old = await store.write(FLY, None)
    new = await store.write(KAMAL, None)
    assert new.review_id is not None

    await store.client.reject(new.review_id)

    assert [(await store.client.current_fact(key)).version for key in (old.key, new.key)] == [1, 1]
    assert (await store.write(KAMAL, old.key, trust=Trust.USER_STATED)).verb is Verb.SUPERSEDED
    assert await items(store) == ()


@pytest.mark.parametrize(
    ("text", "key", "project"),
    [
        (KAMAL, None, "other"),  # another scope
        ("the office closes at six", None, "shop"),  # another subject
        (FLY, "deploys", "shop"),  # the same words
        (KAMAL + " and " * 600, None, "shop"),  # a document
    ],
)
async def test_nothing_is_asked_about(local: Open, text: str, key: str | None, project: str) -> None:
    await local.write(FLY, None, project="shop")
    assert (await local.write(text, key, project=project)).conflicts_with is None
    assert await items(local) == ()


async def test_what_was_there_before_a_restart_is_compared_and_what_has_changed_is_not(home: Home) -> None:
    async with opened(home) as store:
        old = await store.write(FLY, None)
    async with opened(home) as store:
        new = await store.write(KAMAL, "user/tool")
        assert new.conflicts_with == old.key
        await store.write("lunch is at noon", old.key)
        assert (await store.write("we deploy with helm now", "user/third")).conflicts_with == "user/tool"


async def test_forgotten_statement_conflicts_with_nothing_when_its_key_is_used_again(store: Open) -> None:
    """The new fact is version 1 of the same key, as the forgotten one was."""
    await store.write(FLY, "user/a")
    await store.write("I read the news at noon", "user/b")
    preview = await store.client.preview_forget(ForgetKeys(keys=("user/a",)))
    await store.client.forget(ConfirmForget(keys=("user/a",), confirm=preview.confirm or ""))
    await store.write("tea is served cold", "user/a")

    new = await store.write(KAMAL, "user/c")

    assert new.conflicts_with is None
