"""What a person does on the page is done, and leaves the same audit lines as the same thing done by a command."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bead.age.hybrid import Identity
from bead.clients.vault import VaultClient
from bead.errors import NotFound
from bead.facts import Status, TriggerCard, Trust
from bead.home import Home
from bead.wire.store import ConfirmForget, ForgetKeys, Mark, Rekey, WriteFact
from bead.wire.vault import NewVault
from tests.web.person import Person
from tests.web.running import SESSION, Running, running

FACT = "/fact/user/editor"


def audited(home: Home) -> list[tuple[str, dict[str, object]]]:
    """Verb and numbers of every line; ids are random."""
    lines = [json.loads(line) for line in home.audit_log.read_text().splitlines()]
    return [
        (line["verb"], {k: v for k, v in line.items() if k not in ("at", "verb", "what", "prev")}) for line in lines
    ]


async def test_an_edit_is_a_new_version_in_the_persons_words(person: Person) -> None:
    await person.page.write("user/editor", "vim", trust=Trust.AGENT_OBSERVED)
    sent = await person.fill(
        FACT, "/edit/user/editor", body="helix", version="1", type="user", say="which editor", do="", see="", unless=""
    )
    fact = await person.page.store.current_fact("user/editor")
    assert (sent.status, sent.headers["Location"]) == (303, FACT)
    assert (fact.version, fact.body, fact.trust) == (2, "helix", Trust.USER_STATED)
    assert fact.when == TriggerCard(say=("which editor",))
    assert "Saved as version 2" in (await person.see(FACT)).text


async def test_an_edit_of_what_was_changed_meanwhile_is_not_taken(person: Person) -> None:
    await person.page.write("user/editor", "vim")
    await person.page.write("user/editor", "helix")
    await person.fill(FACT, "/edit/user/editor", body="emacs", version="1", type="user")
    assert (await person.page.store.current_fact("user/editor")).body == "helix"


async def test_an_empty_edit_changes_nothing(person: Person) -> None:
    await person.page.write("user/editor", "vim")
    sent = await person.fill(FACT, "/edit/user/editor", body="  \r\n ", version="1", type="user")
    assert sent.status == 400
    assert (await person.page.store.current_fact("user/editor")).body == "vim"


async def test_a_fact_is_remembered_under_a_key_made_from_its_words(person: Person) -> None:
    sent = await person.fill("/facts", "/remember", body="I work in Lisbon", scope="user", name="")
    assert sent.headers["Location"] == "/fact/user/i-work-in-lisbon"
    assert (await person.page.store.current_fact("user/i-work-in-lisbon")).trust is Trust.USER_STATED


async def test_a_forget_shows_its_list_first_and_takes_exactly_that(person: Person) -> None:
    await person.page.write("user/editor", "helix the canary")
    await person.page.write("user/editor-theme", "another fact")
    preview = await person.fill(FACT, "/forget", key="user/editor", back=FACT)
    assert preview.status == 200 and "Forget 1 fact" in preview.text
    assert (await person.page.store.current_fact("user/editor")).version == 1

    action = "/forget/confirm"
    fields = [("token", preview.token(action)), ("key", "user/editor"), ("confirm", preview.value("confirm"))]
    receipt = await person.send(action, fields)
    again = await person.send(action, fields)

    assert (receipt.status, again.status) == (200, 409)
    assert "Forgotten" in receipt.text and "canary" not in receipt.text
    with pytest.raises(NotFound):
        await person.page.store.current_fact("user/editor")
    assert (await person.page.store.current_fact("user/editor-theme")).body == "another fact"


async def test_a_confirmation_is_not_taken_for_another_list(person: Person) -> None:
    await person.page.write("user/editor", "helix")
    await person.page.write("user/city", "Lisbon")
    preview = await person.fill(FACT, "/forget", key="user/editor")
    fields = [("token", preview.token("/forget/confirm")), ("confirm", preview.value("confirm")), ("key", "user/city")]
    assert (await person.send("/forget/confirm", fields)).status == 409
    assert (await person.page.store.current_fact("user/city")).body == "Lisbon"


async def test_an_accepted_item_is_written_in_the_persons_words(person: Person) -> None:
    item = await waiting(person.page)
    await person.fill("/review", f"/review/{item}", decision="accept", back="/review")
    fact = await person.page.store.current_fact("user/editor")
    assert (fact.body, fact.trust) == ("emacs", Trust.USER_STATED)
    assert (await person.page.store.review_queue()).items == ()


async def test_an_edited_item_is_written_edited_and_is_not_proposed_again(person: Person) -> None:
    item = await waiting(person.page)
    await person.fill("/review", f"/review/{item}", decision="edit", body="emacs at work", back="/review")
    fact = await person.page.store.current_fact("user/editor")
    assert (fact.body, fact.trust) == ("emacs at work", Trust.USER_STATED)
    assert (await person.page.store.review_queue()).items == ()


async def test_a_rejected_item_leaves_the_fact_as_it_was(person: Person) -> None:
    item = await waiting(person.page)
    await person.fill("/review", f"/review/{item}", decision="reject", back="https://evil.example/")
    assert (await person.page.store.current_fact("user/editor")).body == "helix"
    assert (await person.page.store.review_queue()).items == ()


async def test_many_items_of_one_agent_are_decided_after_a_list_of_them(person: Person) -> None:
    await waiting(person.page)
    await waiting(person.page, "nano")
    seen = await person.see("/review")
    fields = [("token", seen.token("/review/bulk")), ("agent", "claude-code"), ("decision", "reject")]
    preview = await person.send("/review/bulk", fields)
    assert "Reject 2 proposals" in preview.text
    assert len((await person.page.store.review_queue()).items) == 2

    action = "/review/bulk/confirm"
    items = [("item", item.id) for item in (await person.page.store.review_queue()).items]
    done = await person.send(action, [("token", preview.token(action)), ("decision", "reject"), *items])
    assert done.headers["Location"] == "/review"
    assert (await person.page.store.review_queue()).items == ()


async def waiting(page: Running, body: str = "emacs") -> str:
    """An item that says something else than the person did."""
    await page.write("user/editor", "helix")
    request = WriteFact(key="user/editor", body=body, trust=Trust.AGENT_OBSERVED, harness="claude-code")
    return str((await page.store.write_fact(request)).review_id)


Act = Callable[[Running], Awaitable[object]]
OnPage = Callable[[Person], Awaitable[object]]


async def forget_by_bus(page: Running) -> None:
    preview = await page.store.preview_forget(ForgetKeys(keys=("user/editor",)))
    await page.store.forget(ConfirmForget(keys=("user/editor",), confirm=str(preview.confirm)))


async def forget_by_page(person: Person) -> None:
    preview = await person.fill(FACT, "/forget", key="user/editor")
    fields = [("token", preview.token("/forget/confirm")), ("key", "user/editor")]
    await person.send("/forget/confirm", [*fields, ("confirm", preview.value("confirm"))])


async def accept_by_bus(page: Running) -> None:
    await page.store.accept((await page.store.review_queue()).items[0].id)


async def decide_by_page(person: Person, decision: str) -> None:
    item = (await person.page.store.review_queue()).items[0].id
    await person.fill("/review", f"/review/{item}", decision=decision)


SAME: dict[str, tuple[Act, OnPage]] = {
    "edit": (
        lambda page: page.write("user/editor", "kakoune"),
        lambda person: person.fill(FACT, "/edit/user/editor", body="kakoune", version="1", type="user"),
    ),
    "pin": (
        lambda page: page.store.mark(Mark(key="user/editor", pinned=True)),
        lambda person: person.fill(FACT, "/mark/user/editor", mark="pin"),
    ),
    "reinforce": (
        lambda page: page.store.mark(Mark(key="user/asleep", status=Status.CURRENT)),
        lambda person: person.fill("/fact/user/asleep", "/mark/user/asleep", mark="reinforce"),
    ),
    "rekey": (
        lambda page: page.store.rekey(Rekey(old="user/editor", new="user/tools")),
        lambda person: person.fill(FACT, "/rekey/user/editor", new="tools"),
    ),
    "accept": (accept_by_bus, lambda person: decide_by_page(person, "accept")),
    "forget": (forget_by_bus, forget_by_page),
}


@pytest.mark.parametrize("action", SAME)
async def test_an_action_leaves_the_audit_lines_of_the_command(action: str, tmp_path: Path) -> None:
    by_bus, by_page = SAME[action]
    lines = []
    for name in ("bus", "page"):
        async with running(Home(tmp_path / name)) as page:
            await waiting(page)
            await page.write("user/asleep", "zzz")
            await page.store.mark(Mark(key="user/asleep", status=Status.DORMANT))
            await (by_bus(page) if name == "bus" else by_page(await Person.come_in(page)))
            lines.append(audited(page.home))
    assert lines[0] == lines[1] and len(lines[0]) > 4


async def test_a_turn_is_forgotten_after_a_list_of_what_holds_it(person: Person) -> None:
    await person.page.say("the canary sings at noon")
    await person.page.say("an innocent turn")
    page = f"/sessions/{SESSION}"
    token = (await person.see(page)).token("/forget/selected")
    preview = await person.send("/forget/selected", [("token", token), ("session", SESSION), ("turn", "1")])
    assert preview.status == 200 and "1 turn" in preview.text
    assert (await person.page.store.session(SESSION)).turns[0].text == "the canary sings at noon"

    action = "/forget/selected/confirm"
    fields = [("token", preview.token(action)), ("confirm", preview.value("confirm"))]
    receipt = await person.send(action, [*fields, ("match", "\r\nthe canary sings at noon")])
    assert (receipt.status, "canary" in receipt.text) == (200, False)
    assert [turn.text for turn in (await person.page.store.session(SESSION)).turns] == [
        "[forgotten]",
        "an innocent turn",
    ]


async def test_a_session_is_forgotten_whole(person: Person) -> None:
    await person.page.say("the canary sings at noon")
    await person.page.say("another session stays", session="other")
    seen = await person.see(f"/sessions/{SESSION}")
    preview = await person.send("/forget/selected", [("token", seen.token("/forget/selected")), ("session", SESSION)])
    action = "/forget/selected/confirm"
    fields = [("token", preview.token(action)), ("confirm", preview.value("confirm")), ("session", SESSION)]
    assert (await person.send(action, fields)).status == 200
    assert (await person.see(f"/sessions/{SESSION}")).text.count("canary") == 0
    assert [turn.text for turn in (await person.page.store.session("other")).turns] == ["another session stays"]


async def test_a_sealed_fact_shows_no_text_and_its_key_only(person: Person) -> None:
    await person.page.write("user/bank-pin", "the canary is 4711")
    refused = await person.fill("/fact/user/bank-pin", "/seal/user/bank-pin")
    assert refused.status == 409  # there is no vault yet
    assert (await person.page.store.current_fact("user/bank-pin")).version == 1

    await VaultClient(person.page.bus).create(
        NewVault(recipient=str(Identity.generate().recipient()), identity=b"sealed")
    )
    assert (await person.fill("/fact/user/bank-pin", "/seal/user/bank-pin")).status == 303
    for path in ("/facts", "/facts?q=canary", "/fact/user/bank-pin"):
        assert "canary is" not in (await person.see(path)).text
    assert "<b>bank-pin</b>" in (await person.see("/facts")).text
