"""Files as people, editors and sync tools leave them: the good ones work, the others are named and left alone."""

import json
import shutil
from pathlib import Path

import pytest

from bead.errors import DamagedFile, InvalidKey
from bead.facts import Status, TriggerCard
from bead.home import Home
from bead.wire.store import Mark, WriteFact
from bead_store.home import prepare
from tests.contract.store.opening import Open, bytes_unchanged, opened, values, write_by_hand

FIELD = Path(__file__).parents[2] / "vectors" / "field"
GOOD = "---\nkey: user/editor\ntype: user\n---\n{}\n"
VALUES = [line for line in (FIELD / "B11/values.txt").read_text("utf-8").split("\n") if line]
NAMES = json.loads((FIELD / "B59" / "names.json").read_text("utf-8"))


@pytest.fixture
def damaged_tree(home: Home) -> Home:
    prepare(home)
    shutil.copytree(FIELD / "B36" / "facts", home.facts, dirs_exist_ok=True)
    header = "---\nid: project/shop-api/huge@v1\nkey: project/shop-api/huge\ntype: project\n---\n"
    write_by_hand(home, "project/shop-api/huge", 1, header + "x" * 200_000 + "\n")
    return home


async def test_good_facts_work_and_each_damaged_file_is_named_with_line_and_reason(damaged_tree: Home) -> None:
    files = sorted(damaged_tree.facts.rglob("*.md"))
    with bytes_unchanged(*files):
        async with opened(damaged_tree) as store:
            facts = (await store.client.list_facts()).facts
            report = await store.client.damage()
            health = await store.client.health()

    assert [fact.key.rsplit("/")[-1] for fact in facts] == ["a", "b", "c", "huge"]
    assert {Path(file.path).parent.name: file.line for file in report.files} == {
        "alias": 5,
        "dup": 7,
        "empty": 1,
        "latin1": 10,
        "nul": 10,
        "tab": 6,
        "unclosed": 1,
        "winpath": 5,
    }
    assert all(file.reason and "italic" not in file.reason and "agent" not in file.reason for file in report.files)
    assert [Path(note.path).name for note in report.notes] == ["vFinal.md"]
    assert health.ready and "8 files cannot be read" in health.degraded[0]


async def test_damaged_highest_version_never_revives_the_older_value(home: Home) -> None:
    async with opened(home) as store:
        await store.write("old value")
        await store.write("new value")
    path = home.facts / "user/editor/v2.md"
    path.write_text("---\nkey: user/editor\n\tstatus: current\n---\nnew value\n")
    with bytes_unchanged(path):
        async with opened(home) as store:
            with pytest.raises(DamagedFile) as refusal:
                await store.client.current_fact("user/editor")
            with pytest.raises(DamagedFile):
                await store.write("third value")
            with pytest.raises(DamagedFile):
                await store.client.mark(Mark(key="user/editor", pinned=True))
            assert (await store.client.list_facts()).facts == ()
            assert (await store.client.manifest()).entries == ()
            assert values((await store.client.history("user/editor")).versions) == [(1, "old value")]
            assert [fact.status for fact in (await store.client.history("user/editor")).versions] == [Status.SUPERSEDED]

    assert refusal.value.facts["path"] == str(path) and refusal.value.facts["line"]
    assert "new value" not in refusal.value.message


async def test_damaged_older_version_does_not_matter(local: Open) -> None:
    await local.write("old value")
    await local.write("new value")
    local.file("user/editor", 1).write_text("broken")

    await local.write("newest value")

    assert values((await local.client.history("user/editor")).versions) == [(2, "new value"), (3, "newest value")]


async def test_only_exact_version_names_count_and_copies_are_reported(home: Home) -> None:
    async with opened(home) as store:
        await store.write("the value")
    for name in [*NAMES["sync_conflict_files"], "v02.md", "V2.md", "v2.MD", "v0.md", "v2.md.age", "v9999999999.md"]:
        (home.facts / "user/editor" / name).write_text(GOOD.format("a copy"))

    async with opened(home) as store:
        fact = await store.client.current_fact("user/editor")
        notes = {Path(note.path).name for note in (await store.client.damage()).notes}
        answer = await store.write("the next value")

    assert (fact.version, fact.body, answer.version) == (1, "the value", 2)
    assert set(NAMES["sync_conflict_files"]) - notes == {".DS_Store"}


async def test_odd_names_are_refused_or_stored_under_exactly_that_key(local: Open) -> None:
    """`con` and `trailing.` are ordinary names where bead runs; everything that could become another one is refused."""
    for name in [*NAMES["reserved_or_odd"], *NAMES["nfc_vs_nfd"], "user/Editor"]:
        if name in ("con", "nul", "trailing."):
            assert (await local.write("x", name)).key == f"user/{name}"
        else:
            with pytest.raises(InvalidKey):
                await local.write("x", name)

    assert {path.parent.name for path in local.home.facts.rglob("*.md")} == {"con", "nul", "trailing."}


async def test_folder_that_is_no_key_is_reported(home: Home) -> None:
    prepare(home)
    write_by_hand(home, "user/Editor", 1, GOOD.format("x"))
    async with opened(home) as store:
        assert (await store.client.list_facts()).facts == ()
        assert [note.path for note in (await store.client.damage()).notes] == [str(home.facts / "user/Editor")]


async def test_symbolic_link_is_never_followed(home: Home, tmp_path: Path) -> None:
    prepare(home)
    (tmp_path / "secret").write_text(GOOD.format("a secret"))
    (home.facts / "user/editor").mkdir(parents=True)
    (home.facts / "user/editor/v1.md").symlink_to(tmp_path / "secret")
    (home.facts / "user/linked").symlink_to(tmp_path)

    async with opened(home) as store:
        with pytest.raises(DamagedFile, match="symbolic link"):
            await store.client.current_fact("user/editor")
        assert (await store.client.list_facts()).facts == ()


async def test_fact_written_by_hand_is_read_and_keeps_its_name(home: Home) -> None:
    prepare(home)
    write_by_hand(home, "user/editor", 1, GOOD.format("I use vim"))
    async with opened(home) as store:
        first = await store.client.current_fact("user/editor")
    async with opened(home) as store:
        answer = await store.write("I use helix")

    assert first.body == "I use vim" and len(first.uid) == 32
    assert (answer.uid, answer.version, answer.replaced) == (first.uid, 2, "I use vim")


async def test_version_put_there_by_hand_is_seen_by_the_next_write(local: Open) -> None:
    await local.write("one")
    write_by_hand(local.home, "user/editor", 5, GOOD.format("five"))

    answer = await local.write("six")

    assert (answer.version, answer.replaced) == (6, "five")


async def test_rewrite_keeps_what_a_person_added(home: Home) -> None:
    text = "---\r\n# my notes\r\nkey: user/editor   # where\r\nmood: good\r\ntype: user\r\n---\r\nI use vim\r\n"
    prepare(home)
    path = write_by_hand(home, "user/editor", 1, "")
    path.write_bytes(text.encode())
    async with opened(home) as store:
        await store.client.mark(Mark(key="user/editor", pinned=True))

    assert path.read_bytes().decode() == text.replace("type: user\r\n", "type: user\r\npinned: true\r\n")


async def test_values_that_yaml_would_change_survive(home: Home) -> None:
    stated = {f"user/k{number}": value for number, value in enumerate(VALUES)}
    async with opened(home) as store:
        for key, value in stated.items():
            card = {part: [value] for part in ("say", "do", "see", "unless")}
            fields = {"body": value, "key": key, "when": card, "sources": [value], "harness": value}
            await store.client.write_fact(WriteFact.model_validate(fields))
    async with opened(home) as store:
        for key, value in stated.items():
            await store.client.mark(Mark(key=key, pinned=True))
            fact = await store.client.current_fact(key)

            assert (fact.body, fact.harness, fact.sources) == (value, value, (value,))
            assert fact.when == TriggerCard(say=(value,), do=(value,), see=(value,), unless=(value,))
