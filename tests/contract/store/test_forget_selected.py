"""Forget by text and by session: what the preview shows goes, and what was forgotten is not captured again."""

import json
from pathlib import Path

import pytest

from bead.conversations import Block, BlockKind
from bead.errors import BadRequest, NotConfirmed, Refused, Tombstoned
from bead.facts import Trust
from bead.turns import Role
from bead.wire.forget import ConfirmSelected, SelectForget
from bead.wire.store import AppendTurn, CommitBlocks, FindConversation, ForgetReceipt, WriteFact
from bead_store.copies import Copies
from bead_store.disk import Disk
from tests.bytescan import traces
from tests.contract.store.opening import Open

CANARY = "zebra-lantern-7741 Xylophonquartz"
AT = "2026-11-05T09:12:00Z"


async def say(store: Open, text: str, turn_id: str, session: str = "s") -> str:
    turn = AppendTurn(session=session, turn_id=turn_id, role=Role.USER, text=text, at=AT)
    return (await store.client.append_turn(turn)).source


async def texts(store: Open, session: str = "s") -> list[str]:
    return [turn.text for turn in (await store.client.session(session)).turns]


async def forget(store: Open, **what: object) -> ForgetReceipt:
    preview = await store.client.preview_selected(SelectForget.model_validate(what))
    assert preview.confirm is not None
    return await store.client.forget_selected(ConfirmSelected.model_validate({**what, "confirm": preview.confirm}))


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


async def test_text_goes_from_every_place_and_its_neighbours_stay(store: Open) -> None:
    await store.write(f"The door opens with {CANARY}.", "user/door")
    await store.write("The door opens at nine.", "user/door")
    await store.write("zebra-lantern-7742 is another one", "user/neighbour")
    await say(store, f"we said {CANARY.upper()}, then went on", "t1")
    await say(store, "the weather is fine", "t2")
    block = Block("p", BlockKind.RECALL, f"- {CANARY}", ("other",))
    await store.client.commit_blocks(
        CommitBlocks(conversation="s-t", generation=0, owner="me", project="shop", blocks=(block,))
    )
    below = store.home.root / "store"
    put(below / "drafts" / "d.md", f"---\nid: d\n---\n{CANARY}\n")
    put(below / "traces-of-old" / "x.jsonl", json.dumps({"cue": CANARY, "kept": "this"}) + "\n")
    put(below / "reports" / "2026-11-30.md", f"one\n{CANARY}\nthree\n")

    preview = await store.client.preview_selected(SelectForget(match=CANARY))
    receipt = await forget(store, match=f"  {CANARY.lower()} ")

    assert {hit.place for hit in preview.hits} == {
        "facts", "raw turns", "conversation blocks", "drafts", "other files",
    }  # fmt: skip
    assert receipt.forgot == ("user/door",)
    assert traces(store.home.root, CANARY) == []
    assert traces(store.home.root, "Xylophonquartz") == []
    assert (await store.client.current_fact("user/neighbour")).body == "zebra-lantern-7742 is another one"
    assert await texts(store) == ["[forgotten]", "the weather is fine"]
    left = json.loads((below / "traces-of-old" / "x.jsonl").read_text())
    assert (left["cue"].strip(), left["kept"]) == ("[forgotten]", "this")
    assert (below / "reports" / "2026-11-30.md").read_text().split()[::2] == ["one", "three"]
    assert (store.home.receipts / f"{receipt.id}.json").exists()


@pytest.mark.parametrize("text", ["", "  ", "ab", " . ", "!?"])
async def test_text_that_says_too_little_is_refused(local: Open, text: str) -> None:
    with pytest.raises(BadRequest):
        await local.client.preview_selected(SelectForget(match=text))


async def test_text_that_is_in_too_much_is_refused_with_the_numbers(
    local: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bead_store.forgetlook.MOST_TURNS", 2)
    for number in range(3):
        await say(local, f"the door {number}", f"t{number}")

    with pytest.raises(Refused) as refused:
        await local.client.preview_selected(SelectForget(match="the door"))

    assert "3 turns" in refused.value.message and "2" in refused.value.message


async def test_preview_of_a_text_that_is_nowhere_has_no_word(store: Open) -> None:
    preview = await store.client.preview_selected(SelectForget(match="nowhere at all"))

    assert (preview.hits, preview.confirm) == ((), None)


async def test_confirmation_is_void_when_the_text_is_somewhere_else_too_by_now(store: Open) -> None:
    await say(store, CANARY, "t1")
    preview = await store.client.preview_selected(SelectForget(match=CANARY))
    await say(store, f"once more: {CANARY}", "t2")

    with pytest.raises(NotConfirmed):
        await store.client.forget_selected(ConfirmSelected(match=CANARY, confirm=preview.confirm or ""))

    assert CANARY in (await texts(store))[0]


async def test_paraphrase_goes_only_when_its_key_is_named(store: Open) -> None:
    await say(store, CANARY, "t1")
    await store.write("The lamp with the stripes opens it.", "user/paraphrase")
    await store.write("The lamp hangs.", "user/lamp")

    receipt = await forget(store, match=CANARY, keys=["user/paraphrase"])

    assert receipt.forgot == ("user/paraphrase",)
    assert [fact.key for fact in (await store.client.list_facts()).facts] == ["user/lamp"]


async def test_session_goes_with_what_was_learnt_only_there(store: Open) -> None:
    source = await say(store, "I moved to Basel last week", "t1", "gone")
    other = await say(store, "Basel it is", "t1", "kept")
    await store.write("Lives in Basel.", "user/city", sources=(source,))
    await store.write("Likes trams.", "user/trams", sources=(source, other))
    await store.write("Uses helix.", "user/editor")
    block = Block("p", BlockKind.RECALL, "- something else", ("other",))
    for session in ("gone", "kept"):
        await store.client.commit_blocks(
            CommitBlocks(conversation=f"{session}-t", generation=0, owner="me", project="shop", blocks=(block,))
        )
    put(store.home.episodes / "2026/11/05/e.md", f"---\nid: e\nsources: [{source}]\n---\na day\n")
    put(store.home.episodes / "2026/11/05/summed.md", "---\nid: summed\nsession: gone\n---\na move\n")

    receipt = await forget(store, session="gone")

    assert receipt.forgot == ("user/city",)
    assert await texts(store, "gone") == ["[forgotten]"]
    assert await texts(store, "kept") == ["Basel it is"]
    assert sorted(path.name for path in store.home.sessions.glob("*.jsonl")) == ["kept-t.jsonl"]
    assert list(store.home.episodes.rglob("*.md")) == [], "what sums it up goes too, whether it cites a turn or not"
    turn = AppendTurn(session="gone", turn_id="t1", role=Role.USER, text="I moved to Basel last week", at=AT)
    assert (await store.client.append_turn(turn)).already_there


async def test_conversations_of_a_session_go_whatever_letters_its_name_has(store: Open) -> None:
    await say(store, "I moved to Basel last week", "t1", "ses_6A1b")
    found = await store.client.find_conversation(
        FindConversation(owner="me", project="shop", session="ses_6A1b", thread="main", positions=("p",))
    )
    block = Block("p", BlockKind.RECALL, "- something else", ("other",))
    await store.client.commit_blocks(
        CommitBlocks(conversation=found.id, generation=0, owner="me", project="shop", blocks=(block,))
    )
    assert len(list(store.home.sessions.glob("*.jsonl"))) == 1

    await forget(store, session="ses_6A1b")

    assert list(store.home.sessions.glob("*.jsonl")) == []


async def test_forgotten_words_are_not_captured_again_until_the_person_states_them(store: Open) -> None:
    await store.write(f"The door opens with {CANARY}.", "user/door")
    await forget(store, match=CANARY)

    await say(store, f"he said: {CANARY.upper()}, and left", "t1", "resumed")
    await say(store, json.dumps({"text": f"line\n{CANARY}"}), "t2", "resumed")
    await say(store, "zebra-lantern-7742 is fine", "t3", "resumed")

    assert await texts(store, "resumed") == [
        "he said: [forgotten] and left", '{"text": "line\\n[forgotten]"}', "zebra-lantern-7742 is fine",
    ]  # fmt: skip
    assert traces(store.home.root, "Xylophonquartz") == []
    with pytest.raises(Tombstoned):
        await store.client.write_fact(WriteFact(body=CANARY, key="user/again"))

    await store.write(f"Remember {CANARY}", "user/again")
    await say(store, f"as I said: {CANARY}", "t4", "resumed")
    assert (await texts(store, "resumed"))[-1] == f"as I said: {CANARY}"


async def test_whole_turn_said_again_is_left_out_and_its_innocent_sentences_are_not(store: Open) -> None:
    text = f"Please run the tests again. My code is {CANARY}. Thanks for all of that."
    await say(store, text, "t1")
    await forget(store, match=CANARY)

    await say(store, text, "t1", "fork")
    await say(store, "Please run the tests again.", "t2", "fork")

    assert await texts(store, "fork") == ["[forgotten]", "Please run the tests again."]


async def test_export_is_forgotten_in_and_one_that_is_away_is_named(store: Open, tmp_path: Path) -> None:
    copies = Copies(store.home.copies, Disk())
    export, away = tmp_path / "facts.jsonl", tmp_path / "away.jsonl"
    export.write_text(json.dumps({"body": CANARY, "key": "user/x"}) + "\n")
    assert copies.note("export", export) == copies.note("export", export)
    copies.note("export", away)
    await store.write(CANARY, "user/x")

    receipt = await forget(store, match=CANARY)

    assert CANARY not in export.read_text()
    assert json.loads(export.read_text())["key"] == "user/x"
    [place] = [place for place in receipt.places if place.place == "exports and backups"]
    assert (place.looked_at, place.removed) == (2, 1)
    assert str(away) in place.left[0]
    assert [bool(copy.owes) for copy in copies.known()] == [False, True]


async def test_line_of_an_export_goes_whole_for_its_key_is_made_of_its_words(store: Open, tmp_path: Path) -> None:
    export = tmp_path / "facts.jsonl"
    facts = {"user/zebra-lantern": CANARY, "user/other": "It stays.", "user/short": "x"}
    lines = [json.dumps({"_type": "memory", "key": key, "value": value}) for key, value in facts.items()]
    export.write_text("".join(f"{line}\n" for line in lines))
    Copies(store.home.copies, Disk()).note("export", export)
    await store.write(CANARY, "user/zebra-lantern")
    await store.write("x", "user/short")

    await forget(store, match=CANARY, keys=["user/short"])

    assert "zebra" not in export.read_text()
    assert [json.loads(line).get("key") for line in export.read_text().splitlines()] == [None, "user/other", None]


async def test_receipt_that_is_kept_names_no_key_and_no_text(store: Open) -> None:
    await store.write(CANARY, "user/quetzalcoatlus", trust=Trust.USER_STATED)

    receipt = await forget(store, match=CANARY)

    kept = (store.home.receipts / f"{receipt.id}.json").read_text()
    assert json.loads(kept)["places"]
    assert traces(store.home.receipts, "quetzalcoatlus") == []
