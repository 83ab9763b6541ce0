"""Old text under new rules: credentials are replaced in place, counted by rule, and a person's exceptions hold."""

from pathlib import Path

from bead.home import Home
from bead.settings import ScanSettings
from bead.turns import Role
from bead.wire.store import AppendTurn, ChangeKind, RescanProgress
from bead_store.audit import first_broken_line
from bead_store.home import prepare
from tests.contract.store.editors import soon
from tests.contract.store.opening import Open, bytes_unchanged, opened, write_by_hand

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
RULE = "github-pat"
HEAD = "---\nkey: {}\ntype: user   # mine\nmood: good\n{}---\n{}\n"


def home_with_secrets(home: Home) -> tuple[Path, Path, Path]:
    """Two facts and a session that an older version, with fewer rules, has let through."""
    prepare(home)
    in_body = write_by_hand(home, "user/in-body", 1, HEAD.format("user/in-body", "", f"the token is {SECRET}, ok?"))
    card = f'when:\n  do:\n    - "curl -H {SECRET}"\n'
    in_card = write_by_hand(home, "user/in-card", 1, HEAD.format("user/in-card", card, "use the token"))
    session = home.raw / "2026/11/05/s1.md"
    session.parent.mkdir(parents=True)
    session.write_text(
        "---\nsession: s1\nowner: me\n---\n"
        f"## turn-1 user 2026-11-05T09:00:00Z t1\nuse {SECRET} here\n<!-- /turn-1 -->\n\n"
        "## turn-2 assistant 2026-11-05T09:00:01Z t2\n\\## turn-9 is quoted\n<!-- /turn-2 -->\n\n"
    )
    return in_body, in_card, session


async def rescanned(store: Open) -> RescanProgress:
    assert (await store.client.rescan()).running
    return await soon(store.client.rescan_progress, lambda progress: not progress.running, within_s=10)


async def test_credentials_in_old_facts_and_turns_are_replaced_and_counted(home: Home) -> None:
    in_body, in_card, session = home_with_secrets(home)
    fine = write_by_hand(home, "user/fine", 1, HEAD.format("user/fine", "", "nothing secret"))
    async with opened(home) as store:
        before = (await store.client.manifest()).seq
        with bytes_unchanged(fine):
            progress = await rescanned(store)
        changes = (await store.client.changes((await store.client.manifest()).epoch, before)).changes

    assert progress.redacted == {RULE: 3} and (progress.done, progress.total, progress.skipped) == (4, 4, 0)
    marker = f"[REDACTED:{RULE}]"
    assert in_body.read_text() == HEAD.format("user/in-body", "", f"the token is {marker}, ok?")
    assert SECRET not in in_card.read_text() and "type: user   # mine\nmood: good\n" in in_card.read_text()
    assert f"use {marker} here\n" in session.read_text() and "\\## turn-9 is quoted\n" in session.read_text()
    assert {(change.kind, change.id) for change in changes} == {
        (ChangeKind.FACT, "user/in-body"),
        (ChangeKind.FACT, "user/in-card"),
        (ChangeKind.TURN, "s1"),
    }
    log = home.audit_log.read_text()
    assert first_broken_line(log) is None and log.count('"redacted"') == 2 and log.count('"turns-redacted"') == 1


async def test_no_byte_of_a_replaced_credential_is_left_in_the_home(home: Home) -> None:
    home_with_secrets(home)
    async with opened(home) as store:
        await rescanned(store)

    assert [path for path in home.root.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()] == []


async def test_conversation_goes_on_after_a_scan(home: Home) -> None:
    home_with_secrets(home)
    async with opened(home) as store:
        await rescanned(store)
        turn = AppendTurn(session="s1", turn_id="t3", role=Role.USER, text="go on", at="2026-11-05T09:01:00Z")

        source = (await store.client.append_turn(turn)).source

        assert source.endswith("#turn-3")
        assert [turn.ordinal for turn in (await store.client.session("s1")).turns] == [1, 2, 3]


async def test_credentials_in_episodes_drafts_review_items_and_old_versions_are_replaced(home: Home) -> None:
    prepare(home)
    day = home.episodes / "2026/11/05"
    day.mkdir(parents=True)
    said = f"the token is {SECRET}, ok?"
    texts = (day / "e1.md", home.drafts / "0123456789abcdef.md", home.queue / "q1.md")
    for path in texts:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\nid: {path.stem}\nmood: good   # mine\n---\n{said}\n")
    old = write_by_hand(home, "user/tool", 1, HEAD.format("user/tool", "", said))
    write_by_hand(home, "user/tool", 2, HEAD.format("user/tool", "", "there is no token"))
    damaged = day / "e2.md"
    damaged.write_text(f"no header {SECRET}")
    async with opened(home) as store:
        before = (await store.client.manifest()).seq
        with bytes_unchanged(damaged):
            progress = await rescanned(store)
        changes = (await store.client.changes((await store.client.manifest()).epoch, before)).changes
        named = [each.path for each in (await store.client.damage()).files]

    assert progress.redacted == {RULE: 4} and progress.skipped == 1
    assert SECRET not in old.read_text()
    for path in texts:
        assert path.read_text() == f"---\nid: {path.stem}\nmood: good   # mine\n---\n{said}\n".replace(
            SECRET, f"[REDACTED:{RULE}]"
        )
    assert (ChangeKind.EPISODE, "e1") in {(change.kind, change.id) for change in changes}
    assert str(damaged) in named


async def test_second_scan_finds_nothing(home: Home) -> None:
    paths = home_with_secrets(home)
    async with opened(home) as store:
        await rescanned(store)
        with bytes_unchanged(*paths):
            assert (await rescanned(store)).redacted == {}


async def test_what_a_person_allows_stays(home: Home) -> None:
    paths = home_with_secrets(home)
    async with opened(home, scan=ScanSettings(allow=("^ghp_a1B2",))) as store:
        with bytes_unchanged(*paths):
            assert (await rescanned(store)).redacted == {}


async def test_rule_that_is_off_finds_nothing(home: Home) -> None:
    """The general rule for tokens may still find what the telling one leaves."""
    home_with_secrets(home)
    async with opened(home, scan=ScanSettings(rules_off=(RULE,))) as store:
        assert RULE not in (await rescanned(store)).redacted


async def test_damaged_files_are_left_alone_and_counted(home: Home) -> None:
    prepare(home)
    broken = write_by_hand(home, "user/broken", 1, f"no header {SECRET}")
    async with opened(home) as store:
        with bytes_unchanged(broken):
            progress = await rescanned(store)

    assert (progress.skipped, progress.redacted) == (1, {})


async def test_audit_that_was_changed_names_its_first_bad_line(home: Home) -> None:
    async with opened(home) as store:
        for text in ("one", "two", "three", "four"):
            await store.write(text)
        good = await store.client.verify_audit()
        lines = home.audit_log.read_text().splitlines(keepends=True)
        home.audit_log.write_text("".join([lines[0], lines[1].replace("superseded", "created"), *lines[2:]]))
        changed = await store.client.verify_audit()
        home.audit_log.write_text("".join([lines[0], *lines[2:]]))
        removed = await store.client.verify_audit()

    assert (good.lines, good.first_bad_line) == (4, None)
    assert (changed.lines, changed.first_bad_line) == (4, 3)
    assert (removed.lines, removed.first_bad_line) == (3, 2)
