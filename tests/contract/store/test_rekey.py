"""Rekey moves a fact with its history; nothing is lost and nothing is written over."""

import pytest

from bead.errors import BadRequest, DamagedFile, Exists, InvalidKey, NotFound
from bead.facts import Trust
from bead.home import Home
from bead.wire.store import ChangeKind, Mark, Rekey, WriteFact
from tests.contract.store.crashes import living
from tests.contract.store.opening import Open, bytes_unchanged, values, write_by_hand

OLD, NEW = "user/we-deploy-on-tuesdays", "project/shop/deploy-day"


async def test_history_moves_with_uid_texts_and_marks(store: Open) -> None:
    first = await store.write("Tuesday", OLD)
    await store.write("Thursday", OLD)
    await store.client.mark(Mark(key=OLD, pinned=True))

    answer = await store.client.rekey(Rekey(old=OLD, new=NEW))

    assert (answer.key, answer.uid, answer.versions) == (NEW, first.uid, 2)
    history = (await store.client.history(NEW)).versions
    assert values(history) == [(1, "Tuesday"), (2, "Thursday")]
    assert {fact.uid for fact in history} == {first.uid}
    assert (history[-1].pinned, history[-1].key) == (True, NEW)
    with pytest.raises(NotFound):
        await store.client.current_fact(OLD)
    assert [fact.key for fact in (await store.client.list_facts()).facts] == [NEW]


async def test_taken_key_is_refused_and_both_stay(store: Open) -> None:
    await store.write("Tuesday", OLD)
    await store.write("Thursday", NEW)

    with pytest.raises(Exists):
        await store.client.rekey(Rekey(old=OLD, new=NEW))

    assert [fact.body for fact in (await store.client.list_facts()).facts] == ["Thursday", "Tuesday"]


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [("user/nothing", NEW, NotFound), (OLD, "user/No", InvalidKey), ("x", NEW, InvalidKey), (OLD, OLD, BadRequest)],
)
async def test_what_cannot_be_moved_is_refused(store: Open, old: str, new: str, error: type[Exception]) -> None:
    await store.write("Tuesday", OLD)

    with pytest.raises(error):
        await store.client.rekey(Rekey(old=old, new=new))

    assert (await store.client.current_fact(OLD)).body == "Tuesday"


async def test_keys_below_the_moved_one_stay(store: Open) -> None:
    await store.write("Tuesday", OLD)
    await store.write("evening", f"{OLD}/time")

    await store.client.rekey(Rekey(old=OLD, new=f"{OLD}/day"))

    assert [fact.key for fact in (await store.client.list_facts()).facts] == [f"{OLD}/day", f"{OLD}/time"]


async def test_what_waits_for_the_old_key_waits_for_the_new_one(store: Open) -> None:
    await store.write("Tuesday", OLD)
    await store.write("Friday", OLD, trust=Trust.AGENT_OBSERVED)

    await store.client.rekey(Rekey(old=OLD, new=NEW))

    assert [(item.key, item.body) for item in (await store.client.review_queue()).items] == [(NEW, "Friday")]


async def test_feed_tells_of_both_keys(store: Open) -> None:
    await store.write("Tuesday", OLD)
    start = await store.client.manifest()

    await store.client.rekey(Rekey(old=OLD, new=NEW))

    page = await store.client.changes(start.epoch, start.seq)
    assert {(change.kind, change.id, change.gone) for change in page.changes} == {
        (ChangeKind.FACT, OLD, True),
        (ChangeKind.FACT, NEW, False),
    }


async def test_lines_of_a_person_survive_and_a_missing_uid_is_kept(local: Open) -> None:
    write_by_hand(
        local.home, OLD, 1, "---\nkey: user/we-deploy-on-tuesdays\ntype: user  # mine\ncolour: red\n---\nTue\n"
    )
    await local.write("Tuesday", OLD)
    uid = (await local.client.current_fact(OLD)).uid

    await local.client.rekey(Rekey(old=OLD, new=NEW))

    moved = local.file(NEW, 1).read_text()
    assert "type: user  # mine\ncolour: red\n" in moved
    assert {fact.uid for fact in (await local.client.history(NEW)).versions} == {uid}
    assert f"supersedes: {NEW}@v1" in local.file(NEW, 2).read_text()
    assert not (local.home.facts / OLD).exists(), "the old name was a person's text"


async def test_damaged_version_stops_the_move_before_it_begins(local: Open) -> None:
    await local.write("Tuesday", OLD)
    await local.write("Thursday", OLD)
    damaged = local.file(OLD, 1)
    damaged.write_text("no header")

    with bytes_unchanged(damaged, local.file(OLD, 2)), pytest.raises(DamagedFile):
        await local.client.rekey(Rekey(old=OLD, new=NEW))

    assert not (local.home.facts / NEW).exists()
    assert list(local.home.intents.glob("*")) == []


async def test_mark_that_comes_late_marks_nothing_under_a_key_that_begins_anew(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old version is marked after the answer; meanwhile the fact may have moved, and another one be there."""
    async with living(home, monkeypatch) as store:
        store.fact_lane.behind = None
        for body in ("helix", "emacs"):
            store.facts.write(WriteFact(body=body, key="user/editor", trust=Trust.USER_STATED))
        store.rekeying.rekey(Rekey(old="user/editor", new="user/tool"))
        store.facts.write(WriteFact(body="vim", key="user/editor", trust=Trust.USER_STATED))

        store.facts.mark_behind()

        assert "status: current" in (home.facts / "user/editor/v1.md").read_text()
    async with living(home, monkeypatch) as store:
        assert "status: superseded" in (home.facts / "user/tool/v1.md").read_text()
