"""When facts were injected: noted with the blocks that carried them, and told by their files after a refresh."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bead.clients.store import StoreClient
from bead.conversations import Block, BlockKind
from bead.errors import NotAllowed
from bead.home import Home
from bead.wire.store import ChangeKind, CommitBlocks, ConfirmForget, ForgetKeys, UseRefreshed
from bead_store.home import prepare
from tests.contract.store.opening import Open, bytes_unchanged, on_socket, opened, write_by_hand

KEY = "user/editor"


async def inject(store: Open, *uids: str, session: str = "s", versions: tuple[int, ...] = ()) -> None:
    """Keep a block with these facts, and one without any."""
    blocks = (
        Block("p1", BlockKind.PINNED, "<pinned/>", uids, fact_versions=versions),
        Block("p2", BlockKind.RECALL, ""),
    )
    request = CommitBlocks(conversation=f"{session}-t", generation=0, owner="me", project="", blocks=blocks)
    await store.client.commit_blocks(request)


def lines(home: Home) -> list[dict[str, object]]:
    return [json.loads(line) for line in home.use.read_text().splitlines()] if home.use.exists() else []


async def test_block_with_facts_is_noted_with_uids_and_versions_only(store: Open) -> None:
    uid = (await store.write("helix")).uid
    before = datetime.now(UTC).replace(microsecond=0)

    await inject(store, uid, versions=(1,))

    (line,) = lines(store.home)
    assert before <= datetime.fromisoformat(str(line.pop("at"))) <= datetime.now(UTC)
    assert line == {"session/conversation": "s-t", "facts": [f"{uid}@1"], "kind": "pinned"}


async def test_block_that_is_there_already_is_not_noted_again(store: Open) -> None:
    await inject(store, "u1")
    there, new = (Block("p1", BlockKind.PINNED, "<pinned/>", ("u1",)), Block("p3", BlockKind.RECALL, "new", ("u2",)))
    for blocks in ((there,), (there, new), (there, new)):
        request = CommitBlocks(conversation="s-t", generation=1, owner="me", project="", blocks=blocks)
        await store.client.commit_blocks(request)

    assert [line["facts"] for line in lines(store.home)] == [["u1"], ["u2"]]


async def test_commit_holds_when_its_use_cannot_be_noted(store: Open) -> None:
    store.home.use.mkdir()

    await inject(store, "u1")

    assert (store.home.sessions / "s-t.jsonl").exists()


async def test_refresh_tells_when_a_fact_was_injected(store: Open) -> None:
    uid = (await store.write("helix")).uid
    await store.write("never told", "user/other")
    await inject(store, uid)

    assert await store.client.refresh_use() == UseRefreshed(lines=1, facts=1)
    assert await store.client.refresh_use() == UseRefreshed(lines=0, facts=0)

    assert (await store.client.current_fact(KEY)).last_injected is not None
    assert (await store.client.current_fact("user/other")).last_injected is None


async def test_refresh_is_told_to_those_who_hold_a_copy(store: Open) -> None:
    uid = (await store.write("helix")).uid
    await inject(store, uid)
    seen = await store.client.manifest()

    await store.client.refresh_use()

    page = await store.client.changes(seen.epoch, seen.seq)
    assert [(change.kind, change.id) for change in page.changes] == [(ChangeKind.FACT, KEY)]


async def test_fact_injected_in_an_older_version_is_dated_in_its_current_one(store: Open) -> None:
    uid = (await store.write("vim")).uid
    await inject(store, uid, versions=(1,))
    await store.write("helix")

    await store.client.refresh_use()

    old, new = (await store.client.history(KEY)).versions
    assert old.last_injected is None and new.last_injected is not None


async def test_refresh_changes_one_line_of_a_file_and_is_no_edit_by_hand(home: Home) -> None:
    async with opened(home, watch="sweep") as store:
        uid = (await store.write("helix")).uid
        path = store.file(KEY, 1)
        path.write_text(path.read_text().replace("pinned: false\n", "pinned: false  # not yet\nmood: good\n"))
        await inject(store, uid)
        await store.client.refresh_use()

        kept = [line for line in path.read_bytes().splitlines() if not line.startswith(b"last_injected: ")]
        audited = [json.loads(line)["verb"] for line in home.audit_log.read_text().splitlines()]
        assert b"pinned: false  # not yet" in kept and b"mood: good" in kept
        assert len(path.read_bytes().splitlines()) == len(kept) + 1
        assert audited.count("edited") == 1  # the person's own


async def test_refresh_leaves_a_file_whose_age_only_the_disk_knows(home: Home) -> None:
    path = write_by_hand(home, KEY, 1, f"---\nkey: {KEY}\ntype: user\n---\nhelix\n")
    async with opened(home) as store:
        uid = (await store.client.current_fact(KEY)).uid
        await inject(store, uid)
        with bytes_unchanged(path):
            assert await store.client.refresh_use() == UseRefreshed(lines=1, facts=0)


async def test_lines_of_a_refresh_that_was_cut_off_are_folded_by_the_next(home: Home) -> None:
    async with opened(home) as store:
        old, new = (await store.write("helix")).uid, (await store.write("fish", "user/shell")).uid
        await inject(store, old)
        home.use.rename(home.use.with_suffix(".old.jsonl"))
        with home.use.with_suffix(".old.jsonl").open("a") as file:
            file.write('{"at":"2026-11-30T')
        await inject(store, new, session="s2")

        assert await store.client.refresh_use() == UseRefreshed(lines=2, facts=2)
        assert list(home.use.parent.glob("use*")) == []


async def test_refresh_drops_the_lines_of_a_forgotten_fact(store: Open) -> None:
    uid = (await store.write("helix")).uid
    await inject(store, uid)
    preview = await store.client.preview_forget(ForgetKeys(keys=(KEY,)))
    await store.client.forget(ConfirmForget(keys=(KEY,), confirm=preview.confirm or ""))

    assert await store.client.refresh_use() == UseRefreshed(lines=1, facts=0)


@pytest.mark.parametrize("scope", ["proxy", "index", "dream"])
async def test_only_scheduler_and_curate_may_refresh(tmp_path: Path, scope: str) -> None:
    home = Home(tmp_path / "home")
    async with opened(home) as store:
        secret = prepare(home).bus_secret
        async with on_socket(store.service, secret, scope) as bus:
            with pytest.raises(NotAllowed):
                await StoreClient(bus).refresh_use()
        for allowed in ("scheduler", "curate"):
            async with on_socket(store.service, secret, allowed) as bus:
                await StoreClient(bus).refresh_use()
