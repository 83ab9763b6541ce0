"""Facts out as a folder of Markdown and as a section of a CLAUDE.md; a forget finds both again."""

import re
import shutil
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.unit.cli.desk import Desk


class Alone(Desk):
    """A person with no bead running."""

    def __init__(self, home: Path) -> None:
        self.home = home


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with three facts, which every test gets a copy of."""
    folder = tmp_path_factory.mktemp("written")
    desk = Alone(folder / "home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.chdir(folder)
        desk.bead("write", "user/pet", "my cat is called Minka")
        desk.bead("write", "user/index", "no: yes, 2026-01-01 # not a comment\nsecond line")
        desk.bead("write", "project/shop/deploy-day", "Tuesday")
    return desk.home


@pytest.fixture
def alone(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Alone:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    shutil.copytree(written, tmp_path / "home")
    return Alone(tmp_path / "home")


def header(path: Path) -> dict[str, object]:
    text = path.read_text()
    found = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    assert found, text
    fields: dict[str, object] = YAML(typ="safe", pure=True).load(found[1])
    return fields


def test_every_fact_is_a_concept_of_the_format_and_every_folder_has_its_index(alone: Alone, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert alone.json("export", "--okf", str(folder)) == {"facts": 3, "path": str(folder)}

    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
    assert found == {
        "index.md", "user/index.md", "project/index.md", "project/shop/index.md",
        "user/pet.md", "user/index-fact.md", "project/shop/deploy-day.md",
    }  # fmt: skip
    for name in found:
        if not name.endswith("index.md"):
            assert header(folder / name)["type"] in ("user", "project")
    assert header(folder / "index.md") == {"okf_version": "0.2"}
    odd = folder / "user" / "index-fact.md"
    assert header(odd)["title"] == "no: yes, 2026-01-01 # not a comment"
    assert odd.read_text().endswith("no: yes, 2026-01-01 # not a comment\nsecond line\n")
    links = [
        (page, target) for page in folder.rglob("index.md") for target in re.findall(r"\]\((.*?)\)", page.read_text())
    ]
    assert links and all((page.parent / target).is_file() for page, target in links)


def test_nothing_is_written_over(alone: Alone, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.md").write_text("mine")
    assert alone.bead("export", "--okf", str(tmp_path / "out")).code == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.md"]


def test_a_forget_takes_the_fact_out_of_the_folder(alone: Alone, tmp_path: Path) -> None:
    alone.bead("export", "--okf", str(tmp_path / "out"))
    alone.bead("forget", "user/pet", "--yes")
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file() and b"Minka" in path.read_bytes()]
    assert (tmp_path / "out" / "project" / "shop" / "deploy-day.md").exists()


MINE = "\ufeff# Mine\r\n\r\nbytes\twith tabs  \r\n"


def test_a_section_is_kept_up_to_date_and_the_rest_stays_byte_for_byte(alone: Alone, tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_bytes(MINE.encode())
    file.chmod(0o640)
    assert alone.json("export", "--claude-md", str(file), "--project", "shop")["verb"] == "updated"
    assert alone.json("export", "--claude-md", str(file), "--project", "shop")["verb"] == "unchanged"
    assert file.read_bytes().startswith(MINE.encode()) and b"\r\n- Tuesday\r\n" in file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o640

    alone.bead("write", "project/shop/deploy-day", "Wednesday")
    alone.bead("export", "--claude-md", str(file), "--project", "shop")
    text = file.read_bytes()
    assert b"Tuesday" not in text and b"Wednesday" in text and text.startswith(MINE.encode())


def test_outside_of_a_project_it_holds_what_is_yours_and_a_link_is_followed(alone: Alone, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("# Agents\n")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    assert alone.json("export", "--claude-md", str(tmp_path / "CLAUDE.md"))["facts"] == 2
    assert (tmp_path / "CLAUDE.md").is_symlink()
    text = (tmp_path / "AGENTS.md").read_text()
    assert "- my cat is called Minka" in text and "Tuesday" not in text
    assert "- no: yes, 2026-01-01 # not a comment\n  second line" in text


def test_a_forget_blanks_the_line_in_the_section_and_leaves_the_persons_own(alone: Alone, tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_text("# Mine\nMy cat is called Minka, I say so myself.\n")
    alone.bead("export", "--claude-md", str(file))
    done = alone.bead("forget", "user/pet", "--yes")
    text = file.read_text()
    assert text.startswith("# Mine\nMy cat is called Minka, I say so myself.\n")
    assert text.count("Minka") == 1 and "second line" in text
    assert "your own words there hold it" in done.out + done.err


def test_a_file_with_one_marker_is_left_alone(alone: Alone, tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("<!-- bead:begin -->\nmine\n")
    assert alone.bead("export", "--claude-md", str(tmp_path / "CLAUDE.md")).code == 1
    (tmp_path / "B.md").write_bytes(b"\xff\xfe")
    assert alone.bead("export", "--claude-md", str(tmp_path / "B.md")).code == 2
    assert (tmp_path / "CLAUDE.md").read_text() == "<!-- bead:begin -->\nmine\n"
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["B.md", "CLAUDE.md"]


def test_what_bead_wrote_does_not_come_back_as_an_import(alone: Alone, tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_text("- tea at four every day\n")
    alone.bead("export", "--claude-md", str(file))
    done = alone.bead("import", "--from", "claude-md", str(file), "--dry-run", "--json").document
    assert done["memories"] == 1
