"""Facts out as JSON lines and in again, through the same rule as every other way in."""

import json
from pathlib import Path

import pytest

from bead_cli.commands.importing import read, whole_key
from tests.unit.cli.desk import Desk


class Alone(Desk):
    """A person with no bead running."""

    def __init__(self, home: Path) -> None:
        self.home = home


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Alone:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return Alone(tmp_path / "home")


def bodies(desk: Desk) -> dict[str, tuple[str, str]]:
    return {fact["key"]: (fact["body"], fact["trust"]) for fact in desk.json("memories", "--all")["facts"]}


def test_what_was_exported_comes_back_in_another_home_and_a_second_time_changes_nothing(
    alone: Alone, tmp_path: Path
) -> None:
    alone.bead("write", "user/editor", "Helix,\nwith \u2028 and ünïcode", "--do", "vim")
    alone.bead("write", "project/shop/deploy-day", "Tuesday")
    file = tmp_path / "facts.jsonl"
    assert alone.json("export", str(file)) == {"facts": 2, "path": str(file)}
    assert file.stat().st_mode & 0o777 == 0o600

    other = Alone(tmp_path / "other")
    assert other.json("import", str(file), "--trust", "user") == {
        "lines": {"created": 2, "other lines": 1},
        "wrong": [],
    }
    assert bodies(other) == bodies(alone)
    assert other.json("show", "user/editor")["when"]["do"] == ["vim"]
    assert other.json("import", str(file), "--trust", "user")["lines"]["unchanged"] == 2


def test_an_import_overrules_nothing_that_the_person_said(alone: Alone, tmp_path: Path) -> None:
    alone.bead("write", "user/editor", "Helix")
    file = tmp_path / "facts.jsonl"
    file.write_text(json.dumps({"_type": "memory", "key": "user/editor", "value": "vim"}))

    assert alone.json("import", str(file))["lines"] == {"queued": 1}
    assert bodies(alone) == {"user/editor": ("Helix", "user_stated")}


def test_a_forgotten_text_stays_out(alone: Alone, tmp_path: Path) -> None:
    alone.bead("write", "user/pet", "my cat is called Minka")
    file = tmp_path / "facts.jsonl"
    file.write_text(json.dumps({"_type": "memory", "key": "user/cat", "value": "My cat is called  Minka"}))
    alone.bead("forget", "user/pet", "--yes")

    assert alone.json("import", str(file))["lines"] == {"forgotten earlier": 1}
    assert bodies(alone) == {}


def test_a_forget_takes_the_text_out_of_the_exported_file(alone: Alone, tmp_path: Path) -> None:
    alone.bead("write", "user/pet", "my cat is called Minka")
    alone.bead("write", "user/editor", "Helix")
    file = tmp_path / "facts.jsonl"
    alone.bead("export", str(file))
    alone.bead("forget", "user/pet", "--yes")

    assert "Minka" not in file.read_text() and "Helix" in file.read_text()
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["key"] for line in lines if line] == ["user/editor"], "a line that was blanked is an empty object"


def test_a_file_that_is_there_is_never_written_over(alone: Alone, tmp_path: Path) -> None:
    alone.bead("write", "user/editor", "Helix")
    file = tmp_path / "facts.jsonl"
    file.write_text("mine")
    assert alone.bead("export", str(file)).code == 1
    assert file.read_text() == "mine"


def test_a_dry_run_writes_nothing(alone: Alone, tmp_path: Path) -> None:
    alone.bead("write", "user/editor", "Helix")
    file = tmp_path / "facts.jsonl"
    file.write_text(json.dumps({"_type": "memory", "key": "user/shell", "value": "fish"}))
    assert alone.json("import", str(file), "--dry-run")["lines"] == {"to write": 1}
    assert set(bodies(alone)) == {"user/editor"}


def test_an_agent_cannot_import_as_the_person(alone: Alone, tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_text(json.dumps({"_type": "memory", "key": "user/shell", "value": "fish"}))
    assert alone.bead("import", str(file), "--trust", "user", environ={"CLAUDECODE": "1"}).code == 1


def test_lines_of_other_kinds_are_counted_and_bad_ones_named_without_their_text() -> None:
    lines = [
        '{"_type": "issue", "id": "bd-1"}',
        '{"_type": "memory", "key": "a", "value": "x"}',
        "not json, and private",
        '{"_type": "memory", "key": "b"}',
        '{"_type": "memory", "key": "user/../etc", "value": "x"}',
        "",
    ]
    found, wrong, others = read(lines, "user")
    assert [memory.key for memory in found] == ["user/a"]
    assert others == 2
    assert [each.partition(":")[0] for each in wrong] == ["line 3", "line 4", "line 5"]
    assert "private" not in "".join(wrong)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("deploy-day", "project/shop/deploy-day"),
        ("Deploy Day!", "project/shop/deploy-day"),
        ("user/editor", "user/editor"),
        ("v1", "project/shop/v1"),
    ],
)
def test_a_key_is_spelled_as_every_other_way_in_spells_it(given: str, kept: str) -> None:
    if given == "v1":
        assert whole_key(given, "project/shop") != kept  # a name that a version file has is no key
    else:
        assert whole_key(given, "project/shop") == kept
