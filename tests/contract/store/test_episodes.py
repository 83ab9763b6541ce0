"""Episodes: written whole, cleaned as turns are, told to readers, and gone when what they say is forgotten."""

import asyncio

import pytest

from bead.episodes import parts_of
from bead.errors import BadRequest, NotFound, Tombstoned
from bead.home import Home
from bead.wire.episodes import EpisodeVerb, WriteEpisode
from bead.wire.store import ChangeKind, ConfirmForget, ForgetKeys
from tests.contract.store.opening import Open, opened


def episode(lesson: str = "Migrate in two steps.", session: str = "s1", **fields: object) -> WriteEpisode:
    values = {"session": session, "situation": "The deploy failed.", "created": "2026-11-05T09:12:00Z", **fields}
    return WriteEpisode.model_validate({**values, "lesson": lesson})


async def test_episode_comes_back_as_it_was(store: Open) -> None:
    answer = await store.client.write_episode(episode(project="shop", outcome="It works.\n## Action\nnot a heading"))

    view = await store.client.episode(answer.id)
    assert (answer.verb, answer.source) == (EpisodeVerb.CREATED, f"episodes/2026/11/05/{answer.id}.md")
    assert (view.session, view.project, view.source) == ("s1", "shop", answer.source)
    parts = parts_of(view.body)
    assert (parts.situation, parts.action, parts.lesson) == ("The deploy failed.", "", "Migrate in two steps.")
    assert "not a heading" in parts.outcome


async def test_summing_up_a_session_again_replaces_its_episode(store: Open) -> None:
    first = await store.client.write_episode(episode())
    again = await store.client.write_episode(episode())
    other = await store.client.write_episode(episode("Migrate in three steps.", created="2026-11-06T09:12:00Z"))

    assert [first.verb, again.verb, other.verb] == ["created", "unchanged", "replaced"]
    assert (await store.client.episodes()).ids == (first.id,)
    assert other.source == first.source
    assert "three steps" in (await store.client.episode(first.id)).body


async def test_newest_day_comes_first(store: Open) -> None:
    for day in (5, 7, 6):
        await store.client.write_episode(episode(id=f"on-{day}", created=f"2026-11-0{day}T00:00:00Z"))

    assert (await store.client.episodes(limit=2)).ids == ("on-7", "on-6")


async def test_an_episode_that_says_nothing_is_refused(store: Open) -> None:
    with pytest.raises(BadRequest):
        await store.client.write_episode(WriteEpisode(session="s1", lesson="  "))
    with pytest.raises(NotFound):
        await store.client.episode("e-s1")


async def test_feed_and_manifest_tell_of_episodes(store: Open) -> None:
    before = await store.client.manifest()
    written = await store.client.write_episode(episode())
    (change,) = (await store.client.changes(before.epoch, before.seq)).changes
    (entry,) = (await store.client.manifest()).entries
    await store.client.write_episode(episode("Another lesson."))
    (later,) = (await store.client.manifest()).entries

    assert (change.kind, change.id, change.gone) == (ChangeKind.EPISODE, written.id, False)
    assert (entry.kind, entry.id) == (ChangeKind.EPISODE, written.id)
    assert entry.hash != later.hash


async def test_credential_is_replaced_and_private_text_left_out(local: Open) -> None:
    token = "-".join(("ghp", "")).replace("-", "_") + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
    written = await local.client.write_episode(episode(f"Use {token} <private>my salary</private> there."))

    text = (local.home.root / "store" / written.source).read_text()
    assert token not in text
    assert "salary" not in text


async def test_forgotten_value_takes_its_episode_and_comes_back_in_none(home: Home) -> None:
    async with opened(home) as store:
        await store.write("The staging host is kestrel-nine.", "user/host")
        written = await store.client.write_episode(episode("The staging host is kestrel-nine."))
        kept = await store.client.write_episode(episode(session="s2"))
        manifest = await store.client.manifest()
        preview = await store.client.preview_forget(ForgetKeys(keys=("user/host",)))
        assert preview.confirm is not None
        await store.client.forget(ConfirmForget(keys=("user/host",), confirm=preview.confirm))
        changes = (await store.client.changes(manifest.epoch, manifest.seq)).changes

        assert (await store.client.episodes()).ids == (kept.id,)
        assert any(change.id == written.id and change.gone for change in changes)
        with pytest.raises(Tombstoned):
            await store.client.write_episode(episode("The staging host is kestrel-nine."))


async def test_edit_and_removal_by_hand_are_told(home: Home) -> None:
    async with opened(home, watch="sweep") as store, asyncio.timeout(10):
        written = await store.client.write_episode(episode())
        path = home.root / "store" / written.source
        epoch, seq = (await store.client.manifest()).epoch, (await store.client.manifest()).seq
        path.write_text(path.read_text().replace("two steps", "one go, edited"))
        page = await store.client.changes(epoch, seq, wait_s=5)
        assert [(change.id, change.gone) for change in page.changes] == [(written.id, False)]
        assert "one go, edited" in (await store.client.episode(written.id)).body
        path.unlink()
        page = await store.client.changes(epoch, page.seq, wait_s=5)

        assert [(change.id, change.gone) for change in page.changes] == [(written.id, True)]


async def test_episodes_are_there_after_a_restart(home: Home) -> None:
    async with opened(home) as store:
        written = await store.client.write_episode(episode())
    async with opened(home) as store:
        assert (await store.client.episodes()).ids == (written.id,)
