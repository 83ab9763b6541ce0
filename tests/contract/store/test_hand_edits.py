"""A person edits files while the store runs: noticed, accepted and audited within two seconds, by events or sweeps."""

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bead.errors import BeadError, DamagedFile, NotFound
from bead.facts import FactVersion, Trust
from bead.home import Home
from bead.turns import Role
from bead.wire.store import AppendTurn, Change, ChangeKind, Mark, Rekey
from bead_store.audit import first_broken_line
from tests.contract.store.editors import EDITORS, in_place, soon, touch, vim
from tests.contract.store.opening import Open, bytes_unchanged, opened, write_by_hand

FIELD = Path(__file__).parents[2] / "vectors" / "field"
KEY = "user/editor"
GOOD = "---\nkey: {}\ntype: user\n---\n{}\n"


@pytest.fixture(params=["events", "sweep"])
async def either(home: Home, request: pytest.FixtureRequest) -> AsyncIterator[Open]:
    async with opened(home, watch=request.param) as running:
        await _watching(running)
        yield running


@pytest.fixture
async def store(home: Home) -> AsyncIterator[Open]:
    async with opened(home, watch="events") as running:
        await _watching(running)
        yield running


async def _watching(store: Open) -> None:
    """The watcher is at work once it tells about a file: from then on two seconds count."""
    write_by_hand(store.home, "user/probe", 1, GOOD.format("user/probe", "probe"))
    await soon(lambda: _body(store, "user/probe"), lambda body: body == "probe", within_s=10)
    await soon(lambda: _audited(store), lambda lines: len(lines) == 1)


async def _body(store: Open, key: str = KEY) -> str:
    """The text of a fact, or the code of what its key answers."""
    try:
        return (await store.client.current_fact(key)).body
    except BeadError as error:
        return error.code


async def _audited(store: Open) -> list[tuple[str, int]]:
    """Verb and version of each line."""
    text = store.home.audit_log.read_text() if store.home.audit_log.exists() else ""
    assert first_broken_line(text) is None
    return [(line["verb"], line.get("version", 0)) for line in map(json.loads, text.splitlines())]


async def _changed(store: Open, kind: ChangeKind, name: str, after: int) -> Change:
    """The change that is published about `name`."""
    page = await store.client.changes((await store.client.manifest()).epoch, after, wait_s=2.0)
    return next(change for change in page.changes if (change.kind, change.id) == (kind, name))


async def _settled(store: Open) -> None:
    """Everything that was told so far has been looked at: an edit of another key comes after it."""
    path = store.file("user/probe", 1)
    text = f"probe {path.stat().st_mtime_ns}"
    path.write_text(GOOD.format("user/probe", text))
    await soon(lambda: _body(store, "user/probe"), lambda body: body == text, within_s=5)


@pytest.mark.parametrize("save", EDITORS, ids=lambda editor: editor.__name__)
async def test_edit_is_noticed_indexed_and_audited_within_two_seconds(
    store: Open, save: Callable[[Path, str], None]
) -> None:
    await store.write("I use vim")
    path = store.file(KEY, 1)
    before = (await store.client.manifest()).seq
    text = path.read_text().replace("I use vim", "I use helix").replace("\nkey:", "\nmood: good  # mine\nkey:")

    save(path, text)

    await soon(lambda: _body(store), lambda body: body == "I use helix")
    change = await _changed(store, ChangeKind.FACT, KEY, before)
    lines = await soon(lambda: _audited(store), lambda lines: ("edited", 1) in lines)
    assert not change.gone and path.read_text() == text
    await store.client.mark(Mark(key=KEY, pinned=True))
    assert path.read_text() == text.replace("pinned: false", "pinned: true")
    assert [verb for verb, _ in lines] == ["added", "created", "edited"]


async def test_edit_is_found_by_a_sweep_where_no_events_arrive(either: Open) -> None:
    await either.write("I use vim")
    path = either.file(KEY, 1)

    in_place(path, path.read_text().replace("I use vim", "I use vis"))

    await soon(lambda: _body(either), lambda body: body == "I use vis")
    assert (await _audited(either))[-1] == ("edited", 1)


async def test_edit_keeps_the_trust_it_had_whatever_the_file_says(store: Open) -> None:
    await store.write("seen by an agent", trust=Trust.AGENT_OBSERVED)
    path = store.file(KEY, 1)

    in_place(path, path.read_text().replace("agent_observed", "user_stated").replace("seen by", "made up by"))

    await soon(lambda: _body(store), lambda body: body == "made up by an agent")
    await soon(lambda: _text(path), lambda text: "trust: agent_observed" in text)
    assert (await store.client.current_fact(KEY)).trust is Trust.AGENT_OBSERVED


async def _text(path: Path) -> str:
    return await asyncio.to_thread(path.read_text)


async def test_trust_survives_a_time_in_which_the_file_could_not_be_read(store: Open) -> None:
    await store.write("seen by an agent", trust=Trust.AGENT_OBSERVED)
    path = store.file(KEY, 1)
    whole = path.read_text()
    in_place(path, "broken")
    await soon(lambda: _body(store), lambda body: body == "damaged-file", within_s=3)

    in_place(path, whole.replace("agent_observed", "user_stated"))

    fact = await soon(lambda: _fact(store), lambda fact: fact is not None)
    assert fact is not None and fact.trust is Trust.AGENT_OBSERVED


async def _fact(store: Open) -> FactVersion | None:
    try:
        return await store.client.current_fact(KEY)
    except DamagedFile:
        return None


async def test_half_saved_file_is_waited_for_and_never_seen(store: Open) -> None:
    """nano writes in steps: what is empty or cut for a second is no damage, and the old text answers meanwhile."""
    await store.write("I use vim")
    path = store.file(KEY, 1)
    whole = path.read_text().replace("vim", "helix")
    seen: set[str] = set()

    async def watched_body() -> str:
        seen.add(body := await _body(store))
        return body

    with path.open("w") as file:
        file.write(whole[:20])
        file.flush()
        with pytest.raises(AssertionError, match="vim"):
            await soon(watched_body, lambda body: body != "I use vim", within_s=1.0)
        file.write(whole[20:])
    await soon(watched_body, lambda body: body == "I use helix")

    assert seen == {"I use vim", "I use helix"}
    await soon(lambda: _audited(store), lambda lines: lines[-1] == ("edited", 1))


async def test_unreadable_highest_version_makes_its_key_unavailable_within_two_seconds(either: Open) -> None:
    await either.write("old value")
    await either.write("new value")
    path = either.file(KEY, 2)
    await soon(lambda: _text(either.file(KEY, 1)), lambda text: "status: superseded" in text)
    in_place(path, "---\nkey: user/editor\n\tstatus: current\n---\nnew value\n")

    with bytes_unchanged(path, either.file(KEY, 1)):
        await soon(lambda: _body(either), lambda body: body == "damaged-file", within_s=2.5)
        report = await either.client.damage()
        health = await either.client.health()

    assert [(file.path, file.line) for file in report.files] == [(str(path), 3)]
    assert any("1 file" in words for words in health.degraded)
    assert KEY not in {entry.id for entry in (await either.client.manifest()).entries}


async def test_repaired_file_is_back_within_two_seconds(store: Open) -> None:
    await store.write("I use vim")
    path = store.file(KEY, 1)
    whole = path.read_text()
    in_place(path, "")
    await soon(lambda: _body(store), lambda body: body == "damaged-file", within_s=2.5)

    in_place(path, whole)

    await soon(lambda: _body(store), lambda body: body == "I use vim")
    assert (await store.client.damage()).files == ()


async def test_version_added_by_hand_is_the_current_one_with_the_trust_of_its_key(store: Open) -> None:
    answer = await store.write("one")

    write_by_hand(store.home, KEY, 7, GOOD.format(KEY, "seven"))

    await soon(lambda: _body(store), lambda body: body == "seven")
    fact = await store.client.current_fact(KEY)
    await soon(lambda: _audited(store), lambda lines: lines[-1] == ("added", 7))
    assert (fact.version, fact.uid, fact.trust) == (7, answer.uid, Trust.USER_STATED)


async def test_key_added_by_hand_in_a_new_folder_is_noticed(either: Open) -> None:
    write_by_hand(either.home, "project/shop/api/limits", 1, GOOD.format("project/shop/api/limits", "ten a second"))

    await soon(lambda: _body(either, "project/shop/api/limits"), lambda body: body == "ten a second")


async def test_version_deleted_by_hand_leaves_the_one_before_it(store: Open) -> None:
    await store.write("one")
    await store.write("two")

    store.file(KEY, 2).unlink()

    fact = await soon(lambda: store.client.current_fact(KEY), lambda fact: fact.body == "one", within_s=2.5)
    assert (fact.status, fact.trust) == ("current", Trust.USER_STATED)
    await soon(lambda: _audited(store), lambda lines: lines[-1] == ("removed", 2))


async def test_key_deleted_by_hand_is_gone(either: Open) -> None:
    await either.write("one")
    before = (await either.client.manifest()).seq

    shutil.rmtree(either.home.facts / KEY)

    await soon(lambda: _body(either), lambda body: body == "not-found", within_s=2.5)
    assert (await _changed(either, ChangeKind.FACT, KEY, before)).gone


async def test_folder_that_is_moved_away_takes_its_keys_along(store: Open, tmp_path: Path) -> None:
    await store.write("one", "user/tools/editor")
    await store.write("two", "user/tools/shell")

    (store.home.facts / "user/tools").rename(tmp_path / "away")

    for key in ("user/tools/editor", "user/tools/shell"):
        await soon(partial(_body, store, key), lambda body: body == "not-found", within_s=2.5)


async def test_touch_and_chmod_are_no_edits(either: Open) -> None:
    await either.write("one")
    path = either.file(KEY, 1)
    before = (await either.client.manifest()).seq

    touch(path)
    path.chmod(0o400)
    await _settled(either)

    page = await either.client.changes((await either.client.manifest()).epoch, before)
    assert {change.id for change in page.changes} == {"user/probe"}
    assert "edited" not in [verb for verb, _ in (await _audited(either))[:-1]]


async def test_own_writes_are_never_taken_for_edits(either: Open) -> None:
    for number in range(5):
        await either.write(f"text {number}")
        await either.client.mark(Mark(key=KEY, pinned=number % 2 == 0))
    await _settled(either)

    assert [verb for verb, _ in await _audited(either)].count("edited") == 1


async def test_files_of_editors_and_sync_tools_are_no_versions(store: Open) -> None:
    await store.write("the value")
    names = json.loads((FIELD / "B59" / "names.json").read_text("utf-8"))["sync_conflict_files"]
    for name in names:
        (store.home.facts / KEY / name).write_text(GOOD.format(KEY, "a copy"))
    await _settled(store)

    notes = {Path(note.path).name for note in (await store.client.damage()).notes}
    assert await _body(store) == "the value"
    assert set(names) - notes == {".DS_Store"}


async def test_damaged_tree_that_is_copied_in_is_named_file_by_file(store: Open) -> None:
    shutil.copytree(FIELD / "B36" / "facts", store.home.facts, dirs_exist_ok=True)
    files = sorted((store.home.facts / "project").rglob("*.md"))

    with bytes_unchanged(*files):
        await soon(lambda: _damaged_names(store), lambda names: len(names) == 8, within_s=3)

    assert await _damaged_names(store) == ["alias", "dup", "empty", "latin1", "nul", "tab", "unclosed", "winpath"]
    for name in ("a", "b", "c"):
        assert await _body(store, f"project/shop-api/{name}") not in ("not-found", "damaged-file")


async def _damaged_names(store: Open) -> list[str]:
    return sorted(Path(file.path).parent.name for file in (await store.client.damage()).files)


async def test_header_is_seen_behind_marks_and_odd_line_ends(store: Open) -> None:
    """Nine spellings of one fact, each saved over the file by an editor; one of them has no text and is reported."""
    key = "user/editor"
    path = store.file(key, 1)
    path.parent.mkdir(parents=True)
    for spelling in sorted((FIELD / "B46").iterdir()):
        data = spelling.read_bytes()
        assert f"key: {key}" in data.decode("utf-8-sig")
        path.write_bytes(data)
        if spelling.name == "closing-fence-at-eof.md":
            await soon(lambda: _body(store, key), lambda body: body == "damaged-file", within_s=2.5)
            assert [file.path for file in (await store.client.damage()).files] == [str(path)]
            continue
        await soon(lambda: _is_read(store, key), bool)

        await store.client.mark(Mark(key=key, pinned=True))

        changed = path.read_bytes()
        line = b"pinned: true\r\n" if b"pinned: true\r\n" in changed else b"pinned: true\n"
        assert changed.replace(line, b"") == data, spelling.name
        path.unlink()
        await soon(lambda: _body(store, key), lambda body: body == "not-found", within_s=2.5)


async def _is_read(store: Open, key: str) -> bool:
    return await _body(store, key) not in ("not-found", "damaged-file")


async def test_credential_in_an_edit_is_replaced_by_its_marker(store: Open) -> None:
    await store.write("the token is in the vault")
    path = store.file(KEY, 1)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

    vim(path, path.read_text().replace("in the vault", secret))

    await soon(lambda: _text(path), lambda text: secret not in text)
    assert "[REDACTED:" in await soon(lambda: _body(store), lambda body: "REDACTED" in body)
    await soon(lambda: _audited(store), lambda lines: lines[-1][0] == "redacted")


async def test_edit_that_a_write_comes_across_first_is_audited_all_the_same(local: Open) -> None:
    """Nothing watches here: the write itself sees that the file is another one."""
    await local.write("one")
    path = local.file(KEY, 1)
    in_place(path, path.read_text().replace("one", "ein"))

    answer = await local.write("two")

    assert answer.replaced == "ein"
    assert [verb for verb, _ in await _audited(local)] == ["created", "edited", "superseded"]


async def test_deletion_that_a_write_comes_across_first_is_audited_and_nothing_of_ours_is(local: Open) -> None:
    await local.write("one")
    await local.write("two")
    local.file(KEY, 2).unlink()

    answer = await local.write("three")
    await local.client.rekey(Rekey(old=KEY, new="user/tool"))

    assert (answer.version, answer.replaced) == (2, "one")
    verbs = [verb for verb, _ in await _audited(local)]
    assert verbs == ["created", "superseded", "removed", "superseded", "rekeyed"]


# -- sessions ------------------------------------------------------------------------------------------------------


async def _turn(store: Open, number: int, text: str) -> str:
    turn = AppendTurn(
        session="s1", turn_id=f"t{number}", role=Role.USER, text=text, at=f"2026-11-05T09:{number:02}:00Z"
    )
    return (await store.client.append_turn(turn)).source


async def _turns(store: Open) -> list[str]:
    try:
        return [turn.text for turn in (await store.client.session("s1")).turns]
    except NotFound:
        return []


@pytest.mark.parametrize("save", [vim, in_place], ids=lambda editor: editor.__name__)
async def test_edited_session_is_told_to_readers_as_a_whole_and_audited(
    store: Open, save: Callable[[Path, str], None]
) -> None:
    source = await _turn(store, 1, "the first turn")
    await _turn(store, 2, "the second turn")
    path = store.home.raw.parent / source.partition("#")[0]
    before = (await store.client.manifest()).seq

    save(path, path.read_text().replace("first", "1st"))

    change = await _changed(store, ChangeKind.TURN, "s1", before)
    assert (change.gone, change.first) == (False, None)
    assert await _turns(store) == ["the 1st turn", "the second turn"]
    await soon(lambda: _audited(store), lambda lines: lines[-1][0] == "turns-edited")
    assert (await _turn(store, 3, "the third turn")).endswith("#turn-3")


async def test_session_that_is_deleted_by_hand_is_gone_and_one_put_there_is_read(either: Open) -> None:
    source = await _turn(either, 1, "the first turn")
    path = either.home.raw.parent / source.partition("#")[0]
    text = path.read_text()
    before = (await either.client.manifest()).seq

    path.unlink()
    assert (await _changed(either, ChangeKind.TURN, "s1", before)).gone
    path.write_text(text)

    await soon(lambda: _turns(either), lambda turns: turns == ["the first turn"])


async def test_own_turns_are_never_taken_for_edits(store: Open) -> None:
    for number in range(5):
        await _turn(store, number, f"turn {number}")
    await _settled(store)

    assert [verb for verb, _ in await _audited(store) if verb.startswith("turns-")] == []


# -- the watcher itself --------------------------------------------------------------------------------------------


async def test_watcher_that_is_killed_is_told_by_health_and_started_again(store: Open) -> None:
    for pid in _children_watching(store.home):
        pid.kill()

    await soon(lambda: _degraded(store), lambda words: "watching process" in words)
    await store.write("one")
    path = store.file(KEY, 1)
    in_place(path, path.read_text().replace("one", "two"))
    await soon(lambda: _body(store), lambda body: body == "two", within_s=10)
    await soon(lambda: _degraded(store), lambda words: words == "", within_s=10)


async def _degraded(store: Open) -> str:
    return "; ".join((await store.client.health()).degraded)


def _children_watching(home: Home) -> list[Any]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if "bead_store.watching" in line and str(home.facts) in line:
            found.append(_Child(int(folder.name)))
    assert found, "a process watches this home"
    return found


class _Child:
    def __init__(self, pid: int) -> None:
        self._pid = pid

    def kill(self) -> None:
        import os
        import signal

        os.kill(self._pid, signal.SIGKILL)


async def test_no_watcher_is_left_behind(home: Home) -> None:
    async with opened(home, watch="events") as store:
        await _watching(store)
        assert _children_watching(home)
    with pytest.raises(AssertionError, match="a process watches"):
        await asyncio.to_thread(_children_watching, home)


async def settled_trust(store: Open, key: str, trust: Trust) -> None:
    """Wait until the fact has this trust."""
    async with asyncio.timeout(10):
        seq, epoch = 0, ""
        while (await store.client.current_fact(key)).trust is not trust:
            page = await store.client.changes(epoch, seq, wait_s=5)
            epoch, seq = page.epoch, page.seq


@pytest.mark.parametrize("as_version", ["the same file", "a new one"])
async def test_trust_that_is_raised_while_bead_is_off_goes_back_at_the_next_start(home: Home, as_version: str) -> None:
    async with opened(home) as store:
        await store.write("They use vim.", key="user/editor", trust=Trust.AGENT_OBSERVED)
        first = store.file("user/editor", 1)
    text = first.read_text().replace("agent_observed", "user_stated").replace("vim", "emacs")
    if as_version == "a new one":
        first.with_name("v2.md").write_text(text.replace("@v1", "@v2").replace("version: 1", "version: 2"))
    else:
        first.write_text(text)

    async with opened(home) as store:
        await settled_trust(store, "user/editor", Trust.AGENT_OBSERVED)
        assert (await store.client.current_fact("user/editor")).body == "They use emacs."
    assert '"edited"' in home.audit_log.read_text()


async def test_an_edit_while_bead_is_off_that_raises_nothing_is_left_alone(home: Home) -> None:
    async with opened(home) as store:
        await store.write("I use vim.", key="user/editor")
        await store.write("They drink tea.", key="user/tea", trust=Trust.AGENT_OBSERVED)
        await store.write("They drink tea.", key="user/tea")
        own, tea = store.file("user/editor", 1), store.file("user/tea", 1)
    for path in (own, tea):
        path.write_text(path.read_text().replace("vim", "helix").replace("tea.", "coffee."))
    kept = own.read_bytes(), tea.read_bytes()
    text = own.read_text().replace("user/editor", "user/new").replace("helix", "emacs")
    write_by_hand(home, "user/new", 1, re.sub(r"(?m)^uid: .*$", "uid: 0123456789abcdef0123456789abcdef", text))

    async with opened(home) as store:
        await store.write("later", key="user/later")  # behind what the start looks at
        assert (await store.client.current_fact("user/new")).trust is Trust.USER_STATED
    assert (own.read_bytes(), tea.read_bytes()) == kept


async def test_after_an_end_that_was_not_clean_no_trust_is_taken_back(home: Home) -> None:
    async with opened(home) as store:
        await store.write("They use vim.", key="user/editor", trust=Trust.AGENT_OBSERVED)
        path = store.file("user/editor", 1)
    path.write_text(path.read_text().replace("agent_observed", "user_stated"))
    home.lock.write_bytes(b"")

    async with opened(home) as store:
        await store.write("later", key="user/later")
    assert "user_stated" in path.read_text()
