"""What setup keeps of a person's files: nothing kept is lost, whatever order files come and go in."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from bead.errors import HomeUnusable
from bead_cli.setup.journal import Journal
from bead_cli.setup.steps import Step, do
from bead_cli.setup.undoing import BLOCK, WHOLE, undo


def step(path: Path, data: bytes, kind: str = BLOCK) -> Step:
    return Step(path, "a file", lambda before: data, {"kind": kind})


def edit(path: Path, text: bytes) -> Path:
    path.write_bytes(text)
    return path


@pytest.fixture
def journal(tmp_path: Path) -> Callable[[], Journal]:
    """The notes as they are on disk now."""
    return lambda: Journal(tmp_path / ".bead")


def test_what_is_kept_of_one_file_is_never_written_over_by_another(
    tmp_path: Path, journal: Callable[[], Journal]
) -> None:
    one, two, three = (edit(tmp_path / name, name.encode()) for name in ("one", "two", "three"))
    for path in (one, two):
        do(step(path, b"bead's"), journal(), dry_run=False)
    undo(journal(), journal().entries[str(one)])
    do(step(three, b"bead's"), journal(), dry_run=False)

    for path in (two, three):
        undo(journal(), journal().entries[str(path)])
    assert [path.read_bytes() for path in (one, two, three)] == [b"one", b"two", b"three"]


def test_a_second_time_writes_nothing_not_even_the_notes(tmp_path: Path, journal: Callable[[], Journal]) -> None:
    path = edit(tmp_path / "profile", b"mine")
    do(step(path, b"bead's"), journal(), dry_run=False)
    times = {each: each.stat().st_mtime_ns for each in tmp_path.rglob("*") if each.is_file()}
    assert do(step(path, b"bead's"), journal(), dry_run=False).state == "unchanged"
    journal().keep()
    assert {each: each.stat().st_mtime_ns for each in tmp_path.rglob("*") if each.is_file()} == times


def test_the_notes_and_what_they_keep_are_the_person_s_alone(tmp_path: Path, journal: Callable[[], Journal]) -> None:
    do(step(edit(tmp_path / "settings", b"a credential"), b"bead's"), journal(), dry_run=False)
    kept = list((tmp_path / ".bead" / "setup").iterdir())
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}
    assert stat.S_IMODE((tmp_path / ".bead" / "setup").stat().st_mode) == 0o700


def test_a_file_that_would_be_bead_s_whole_is_not_put_over_a_person_s(
    tmp_path: Path, journal: Callable[[], Journal]
) -> None:
    path = edit(tmp_path / "bead.service", b"mine")
    assert do(step(path, b"bead's", WHOLE), journal(), dry_run=False).state == "refused"
    assert path.read_bytes() == b"mine"
    assert journal().entries == {}


def test_a_mode_and_a_link_survive_there_and_back(tmp_path: Path, journal: Callable[[], Journal]) -> None:
    real = edit(tmp_path / "real", b"mine")
    real.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to("real")
    do(step(link, b"bead's"), journal(), dry_run=False)
    assert (link.is_symlink(), real.read_bytes(), stat.S_IMODE(real.stat().st_mode)) == (True, b"bead's", 0o640)
    undo(journal(), journal().entries[str(link)])
    assert (link.is_symlink(), real.read_bytes(), stat.S_IMODE(real.stat().st_mode)) == (True, b"mine", 0o640)


def test_what_was_kept_and_is_damaged_leaves_the_file_alone(tmp_path: Path, journal: Callable[[], Journal]) -> None:
    path = edit(tmp_path / "profile", b"mine")
    do(step(path, b"bead's"), journal(), dry_run=False)
    edit(next((tmp_path / ".bead" / "setup").glob("*.before")), b"damaged")
    with pytest.raises(HomeUnusable):
        undo(journal(), journal().entries[str(path)])
    assert path.read_bytes() == b"bead's"


def test_folders_that_were_made_go_and_one_that_is_used_stays(tmp_path: Path, journal: Callable[[], Journal]) -> None:
    paths = [tmp_path / "made" / name / "file" for name in ("empty", "used")]
    for path in paths:
        do(step(path, b"bead's"), journal(), dry_run=False)
    edit(paths[1].parent / "mine", b"")
    for path in paths:
        undo(journal(), journal().entries[str(path)])
    assert not paths[0].parent.exists()
    assert [each.name for each in paths[1].parent.iterdir()] == ["mine"]
