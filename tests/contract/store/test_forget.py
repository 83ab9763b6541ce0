"""Forget takes exactly what was named, everywhere, after a look at it (I5, I6, I7)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bead.conversations import Block, BlockKind, roll
from bead.errors import InvalidKey, NotConfirmed, NotFound, StaleConversation, Tombstoned, Unavailable
from bead.facts import Trust
from bead.turns import Role
from bead.wire.store import (
    AppendTurn,
    ChangeKind,
    CommitBlocks,
    ConfirmForget,
    FindConversation,
    ForgetKeys,
    ForgetReceipt,
    IndexState,
    Mark,
    Verb,
)
from bead_store.disk import Disk
from bead_store.raw import RawLog
from bead_store.redaction import Wanted
from tests.bytescan import traces
from tests.contract.store.opening import Open

KEY = "project/shop/deploy-day"
VALUE = "Deploys go out on Thursdays."
POSITIONS = tuple(roll("me", "shop", [["first prompt"], ["second"]]))


async def forget(store: Open, *keys: str) -> ForgetReceipt:
    preview = await store.client.preview_forget(ForgetKeys(keys=keys))
    assert preview.confirm is not None
    return await store.client.forget(ConfirmForget(keys=keys, confirm=preview.confirm))


async def say(store: Open, text: str, turn_id: str, session: str = "s") -> str:
    turn = AppendTurn(session=session, turn_id=turn_id, role=Role.USER, text=text, at="2026-11-05T09:12:00Z")
    return (await store.client.append_turn(turn)).source


async def texts(store: Open, session: str = "s") -> list[str]:
    return [turn.text for turn in (await store.client.session(session)).turns]


async def commit(store: Open, *blocks: Block, generation: int = 0, session: str = "s") -> None:
    await store.client.commit_blocks(
        CommitBlocks(conversation=f"{session}-t", generation=generation, owner="me", project="shop", blocks=blocks)
    )


async def find(store: Open, session: str = "s") -> tuple[int, tuple[Block, ...]]:
    asked = FindConversation(owner="me", project="shop", session=session, thread="t", positions=POSITIONS)
    found = await store.client.find_conversation(asked)
    return found.generation, found.blocks


async def test_forgotten_key_is_gone_with_every_version(store: Open) -> None:
    await store.write("Deploys go out on Tuesdays.", KEY)
    await store.write(VALUE, KEY)

    receipt = await forget(store, KEY)

    assert (receipt.forgot, receipt.missing, receipt.index) == ((KEY,), (), IndexState.NO_INDEX)
    for read in (store.client.current_fact, store.client.history):
        with pytest.raises(NotFound):
            await read(KEY)
    assert (await store.client.list_facts()).facts == ()


async def test_only_the_named_key_goes_never_what_lies_below_or_beside_it(store: Open) -> None:
    for key in (KEY, f"{KEY}/evening", f"{KEY}s", "project/shop/deploy", "user/deploy-day"):
        await store.write(f"a value of {key}", key)

    await forget(store, KEY)

    kept = [fact.key for fact in (await store.client.list_facts()).facts]
    assert kept == ["project/shop/deploy", f"{KEY}/evening", f"{KEY}s", "user/deploy-day"]


@pytest.mark.parametrize("key", ["project/shop/*", "project/shop/", "../x", "project/shop"])
async def test_what_is_no_key_is_refused(local: Open, key: str) -> None:
    await local.write(VALUE, KEY)

    with pytest.raises(InvalidKey):
        await local.client.preview_forget(ForgetKeys(keys=(key,)))


async def test_preview_shows_what_is_there_and_changes_nothing(store: Open) -> None:
    source = await say(store, "we talked about it", "cited")
    await say(store, "note: DEPLOYS go\n  out on thursdays", "folded")
    await say(store, "something else", "other")
    fact = await store.write(VALUE, KEY, sources=(source,))
    await store.write("Deploys go out on Tuesdays.", KEY, trust=Trust.AGENT_OBSERVED)
    await store.write(f"Remember: {VALUE}", "user/copy")
    await commit(store, Block(POSITIONS[0], BlockKind.RECALL, "a block", (fact.uid,)))
    before = await store.client.manifest()

    preview = await store.client.preview_forget(ForgetKeys(keys=(KEY, "user/nothing", KEY)))

    [hit] = preview.hits
    assert (hit.key, hit.uid, hit.project, hit.versions) == (KEY, fact.uid, "shop", 1)
    assert (hit.turns, hit.blocks, hit.queue, hit.also_in) == (2, 1, 1, ("user/copy",))
    assert (preview.missing, preview.turns) == (("user/nothing",), 2)
    assert (await store.client.manifest()).entries == before.entries


async def test_preview_of_nothing_has_no_word_to_confirm_with(store: Open) -> None:
    preview = await store.client.preview_forget(ForgetKeys(keys=("user/nothing",)))

    assert (preview.hits, preview.missing, preview.confirm) == ((), ("user/nothing",), None)


async def test_confirmation_works_once_and_for_its_own_list_only(store: Open) -> None:
    await store.write("one", "user/a")
    await store.write("two", "user/b")
    preview = await store.client.preview_forget(ForgetKeys(keys=("user/a",)))
    assert preview.confirm is not None

    for keys, word in (
        (("user/a", "user/b"), preview.confirm),
        (("user/a",), preview.confirm),
        (("user/b",), "made-up"),
    ):
        with pytest.raises(NotConfirmed):
            await store.client.forget(ConfirmForget(keys=keys, confirm=word))

    assert len((await store.client.list_facts()).facts) == 2


async def test_confirmation_is_void_when_the_fact_has_changed_since(store: Open) -> None:
    await store.write("one", "user/a")
    preview = await store.client.preview_forget(ForgetKeys(keys=("user/a",)))
    await store.write("two", "user/a")

    with pytest.raises(NotConfirmed):
        await store.client.forget(ConfirmForget(keys=("user/a",), confirm=preview.confirm or ""))

    assert (await store.client.current_fact("user/a")).body == "two"


async def test_confirmation_outlives_a_mark_on_the_fact(store: Open) -> None:
    """The nightly job marks facts, and old versions are marked after a write was answered."""
    await store.write("one", "user/a")
    preview = await store.client.preview_forget(ForgetKeys(keys=("user/a",)))
    await store.client.mark(Mark(key="user/a", pinned=True))

    receipt = await store.client.forget(ConfirmForget(keys=("user/a",), confirm=preview.confirm or ""))

    assert receipt.forgot == ("user/a",)


async def test_turns_that_hold_the_value_or_are_cited_say_forgotten_and_nothing_else(store: Open) -> None:
    cited = await say(store, "this is where it came from", "t1")
    await say(store, "deploys GO out on\tthursdays, they said", "t2")
    await say(store, "the weather is fine", "t3")
    await store.write(VALUE, KEY, sources=(cited,))

    await forget(store, KEY)

    assert await texts(store) == ["[forgotten]", "[forgotten]", "the weather is fine"]
    turn = AppendTurn(session="s", turn_id="t2", role=Role.USER, text=VALUE, at="2026-11-05T09:12:00Z")
    assert (await store.client.append_turn(turn)).already_there, "a retry is not captured again"
    await say(store, "going on", "t4")
    assert (await texts(store))[-1] == "going on"


async def test_value_as_json_spells_it_is_found_in_a_tool_call(local: Open) -> None:
    value = 'Say "grüezi" at the door\nand ring twice'
    await say(
        local,
        '[tool remember]\n{"text": "Say \\"gr\\u00fcezi\\" at the door\\nand ring twice"}\n[end of tool text]',
        "t1",
    )
    await say(
        local, '[tool remember]\n{"text": "Say \\"grüezi\\" at the door\\nand ring twice"}\n[end of tool text]', "t2"
    )
    await local.write(value, "user/door")

    await forget(local, "user/door")

    assert await texts(local) == ["[forgotten]", "[forgotten]"]


async def test_very_short_value_takes_only_the_turns_it_cites(local: Open) -> None:
    cited = await say(local, "we write it in Go", "t1")
    await say(local, "going home", "t2")
    await local.write("Go", "user/language", sources=(cited,))

    await forget(local, "user/language")

    assert await texts(local) == ["[forgotten]", "going home"]


async def test_short_turn_is_forgotten_and_the_session_goes_on(store: Open) -> None:
    await say(store, "Helix!", "t1")
    await say(store, "and more", "t2")
    await store.write("helix", "user/editor")

    await forget(store, "user/editor")
    source = await say(store, "after", "t3")

    assert source.endswith("#turn-3")
    assert await texts(store) == ["[forgotten]", "and more", "after"]


async def test_blocks_with_the_fact_or_its_text_go_and_the_others_keep_their_bytes(store: Open) -> None:
    fact = await store.write(VALUE, KEY)
    kept = Block(POSITIONS[0], BlockKind.PINNED, "<pinned ✓/>", ("other",))
    gone = Block(POSITIONS[1], BlockKind.RECALL, "- it", (fact.uid,))
    await commit(store, kept, gone)
    await commit(store, Block(POSITIONS[0], BlockKind.RECALL, f"- [x] {VALUE}"), session="text")
    await commit(store, kept, session="untouched")

    await forget(store, KEY)

    assert await find(store) == (2, (kept,))
    assert (await find(store, "text"))[0] == 2
    assert await find(store, "untouched") == (1, (kept,))
    with pytest.raises(StaleConversation):
        await commit(store, gone, generation=1)


async def test_block_of_a_forgotten_fact_is_refused_also_in_a_new_conversation(store: Open) -> None:
    """A request that was on its way when it was forgotten must not bring it back."""
    fact = await store.write(VALUE, KEY)
    await forget(store, KEY)

    with pytest.raises(StaleConversation):
        await commit(store, Block(POSITIONS[0], BlockKind.RECALL, "- it", (fact.uid,)), session="new")


async def test_review_items_of_the_key_and_of_the_text_go(store: Open) -> None:
    await store.write(VALUE, KEY)
    await store.write("another", KEY, trust=Trust.AGENT_OBSERVED)
    await store.write("helix", "user/editor")
    await store.write(f"said: {VALUE}", "user/editor", trust=Trust.AGENT_OBSERVED)
    await store.write("emacs", "user/editor", trust=Trust.AGENT_OBSERVED)

    await forget(store, KEY)

    assert [item.body for item in (await store.client.review_queue()).items] == ["emacs"]


@pytest.mark.parametrize("trust", [Trust.AGENT_OBSERVED, Trust.DREAM_INFERRED])
async def test_forgotten_value_is_refused_under_any_key_in_any_spelling(store: Open, trust: Trust) -> None:
    await store.write("Deploys go out on Tuesdays.", KEY)
    await store.write(VALUE, KEY)
    await forget(store, KEY)

    for again in (VALUE, "deploys  GO out on thursdays", "Deploys go out on Tuesdays!"):
        with pytest.raises(Tombstoned):
            await store.write(again, "user/again", trust=trust)
    with pytest.raises(Tombstoned):
        await store.write("harmless", "user/again", trust=trust, when={"say": [VALUE]})

    assert (await store.client.list_facts()).facts == ()


async def test_person_who_states_it_again_restores_it_for_everybody(store: Open) -> None:
    before = await store.write(VALUE, KEY)
    await forget(store, KEY)

    answer = await store.write(VALUE, KEY)

    assert (answer.verb, answer.version) == (Verb.CREATED, 1)
    assert answer.uid != before.uid
    assert (await store.write(VALUE, "user/agent", trust=Trust.AGENT_OBSERVED)).verb is Verb.CREATED


async def test_feed_says_that_the_fact_is_gone_and_the_turns_have_changed(store: Open) -> None:
    await say(store, VALUE, "t1")
    await store.write(VALUE, KEY)
    start = await store.client.manifest()

    await forget(store, KEY)

    page = await store.client.changes(start.epoch, start.seq)
    told = {(change.kind, change.id, change.gone) for change in page.changes}
    assert {(ChangeKind.FACT, KEY, True), (ChangeKind.TURN, "s", False)} <= told


async def test_receipt_names_each_place_and_counts_truly(local: Open) -> None:
    await say(local, VALUE, "t1")
    fact = await local.write(VALUE, KEY)
    await local.write("another", KEY, trust=Trust.AGENT_OBSERVED)
    await commit(local, Block(POSITIONS[0], BlockKind.RECALL, "a block", (fact.uid,)))

    receipt = await forget(local, KEY, "user/nothing")

    assert receipt.missing == ("user/nothing",)
    removed = {place.place: place.removed for place in receipt.places}
    assert {
        name: removed[name] for name in ("tombstones", "facts", "raw turns", "conversation blocks", "review queue")
    } == {
        "tombstones": 1,
        "facts": 1,
        "raw turns": 1,
        "conversation blocks": 1,
        "review queue": 1,
    }
    assert receipt.level in (1, 2)
    assert receipt.file_system


async def test_copies_and_links_in_the_folder_of_the_key_go_and_what_they_lead_to_stays(local: Open) -> None:
    outside = local.home.root.parent / "outside.md"
    outside.write_text(VALUE)
    await local.write(VALUE, KEY)
    folder = local.file(KEY, 1).parent
    (folder / "v1 2.md").write_text(VALUE)
    (folder / "link.md").symlink_to(outside)
    (folder / "hard.md").hardlink_to(outside)

    receipt = await forget(local, KEY)

    assert not folder.exists()
    assert outside.read_text() == VALUE
    assert [("hard.md" in left) for place in receipt.places for left in place.left if "link)" in left] == [True]
    assert traces(local.home.root, VALUE) == []


async def test_damaged_fact_can_be_forgotten_and_the_receipt_says_what_was_not_looked_for(local: Open) -> None:
    await local.write("one", "user/a")
    local.file("user/a", 1).write_text(f"no header, but {VALUE}")

    receipt = await forget(local, "user/a")

    assert traces(local.home.root, VALUE) == []
    [facts] = [place for place in receipt.places if place.place == "facts"]
    assert (facts.removed, len(facts.left)) == (1, 1)


async def test_what_a_person_wrote_between_turns_goes_and_a_strange_copy_is_named(local: Open) -> None:
    source = await say(local, "hello", "t1")
    path = local.home.root / "store" / source.partition("#")[0]
    path.write_text(path.read_text() + f"my own note:\n{VALUE}\n\n")
    await say(local, "again", "t2")
    copy = path.with_name("S 2.md")
    copy.write_text(VALUE)
    await local.write(VALUE, KEY)

    receipt = await forget(local, KEY)

    assert await texts(local) == ["hello", "again"]
    [turns] = [place for place in receipt.places if place.place == "raw turns"]
    assert [str(copy) in left for left in turns.left] == [True]
    assert [trace.split(":")[0] for trace in traces(local.home.root, VALUE)][:1] == [
        str(copy.relative_to(local.home.root))
    ]


async def test_torn_end_of_a_session_that_holds_the_value_is_overwritten(local: Open) -> None:
    source = await say(local, "hello", "t1")
    path = local.home.root / "store" / source.partition("#")[0]
    with path.open("a") as file:
        file.write(f"## turn-2 user 2026-11-05T09:12:00Z t2\n{VALUE}")
    await local.write(VALUE, KEY)

    await forget(local, KEY)

    assert traces(local.home.root, VALUE) == []
    assert await texts(local) == ["hello"]


async def test_damaged_line_of_a_conversation_goes_only_when_it_holds_the_text(local: Open) -> None:
    fact = await local.write(VALUE, KEY)
    for session in ("a", "b"):
        await commit(local, Block(POSITIONS[0], BlockKind.RECALL, "kept", ("other",)), session=session)
    for session, text in (("a", VALUE), ("b", "else")):
        with (local.home.sessions / f"{session}-t.jsonl").open("a") as file:
            file.write(f"{{broken {text}\n")
    unharmed = (local.home.sessions / "b-t.jsonl").read_bytes()

    await forget(local, KEY)

    assert (local.home.sessions / "b-t.jsonl").read_bytes() == unharmed
    assert traces(local.home.root, VALUE) == []
    assert [block.text for block in (await find(local, "a"))[1]] == ["kept"]
    assert fact.uid in local.home.audit_log.read_text()


async def test_no_key_and_no_value_is_in_logs_tombstones_intents_or_audit(
    local: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    await local.write(VALUE, "user/quetzalcoatlus")
    await forget(local, "user/quetzalcoatlus")
    await local.write(VALUE, "user/other")

    told = capsys.readouterr()
    kept = local.home.audit_log.read_text() + local.home.tombstones.read_text() + told.out + told.err
    for text in ("quetzalcoatlus", "hursday", "user/"):
        assert text not in kept
    assert "forgot" in kept and "restored" in kept


async def test_captured_turn_during_the_forget_is_found_too(local: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    await say(local, "hello", "t1")
    await local.write(VALUE, KEY)
    real = RawLog.find

    def find_and_be_late(self: RawLog, *wanted: Wanted, unread: list[str]) -> Iterator[tuple[str, object]]:
        yield from real(self, *wanted, unread=unread)
        for session in ("s", "new"):
            self.append(
                AppendTurn(session=session, turn_id="late", role=Role.USER, text=VALUE, at="2026-11-05T09:12:00Z")
            )

    preview = await local.client.preview_forget(ForgetKeys(keys=(KEY,)))
    monkeypatch.setattr(RawLog, "find", find_and_be_late)
    await local.client.forget(ConfirmForget(keys=(KEY,), confirm=preview.confirm or ""))

    assert await texts(local) == ["hello", "[forgotten]"]
    assert await texts(local, "new") == ["[forgotten]"]


async def test_disk_that_refuses_half_way_leaves_an_intent_that_the_next_forget_finishes(
    local: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say(local, VALUE, "t1")
    await local.write(VALUE, KEY)
    await local.write("other", "user/other")
    real = Disk.overwrite

    def full(self: Disk, path: Path, spans: object) -> None:
        raise Unavailable("the disk is full")

    monkeypatch.setattr(Disk, "overwrite", full)
    with pytest.raises(Unavailable):
        await forget(local, KEY)
    assert any("not finished" in words for words in (await local.client.health()).degraded)
    with pytest.raises(NotFound):
        await local.client.current_fact(KEY)

    monkeypatch.setattr(Disk, "overwrite", real)
    await forget(local, "user/other")

    assert traces(local.home.root, VALUE) == []
    assert list(local.home.intents.glob("*")) == []
    assert (await local.client.health()).degraded == ()
