"""Field case B09: one repository is one project, two repositories are two."""

import csv
import subprocess
from pathlib import Path

import pytest

from bead.git import identify
from bead.keys import parse
from bead.projects import Identity, identity, normal_remote, same_project, scope_name

CASES = Path(__file__).parents[2] / "vectors" / "field" / "B09" / "cases.tsv"
HOME = "/home/dev"


def resolved() -> dict[str, Identity | None]:
    with CASES.open(encoding="utf-8", newline="") as rows:
        cases = list(csv.DictReader(rows, delimiter="\t"))
    found = {}
    for case in cases:
        remote = None if case["git_remote"] in ("-", None) else case["git_remote"]
        main_tree = case["cwd"] if case["git_common_dir"] in ("-", None) else case["git_common_dir"][: -len("/.git")]
        found[case["cwd"]] = identity(main_tree, HOME, remote=remote)
    return found


def test_worktrees_and_sub_folders_are_the_same_project() -> None:
    ids = resolved()
    same = ["/home/dev/work/app", "/home/dev/work/app/services/web", "/home/dev/wt/app-hotfix"]
    assert len({ids[path] for path in same}) == 1


def test_folders_of_one_name_with_other_remotes_are_other_projects() -> None:
    ids = resolved()
    assert ids["/home/dev/work/app"] != ids["/home/dev/play/app"]
    assert ids["/home/dev/test-app"] != ids["/home/dev/test/app"]


def test_home_and_root_are_no_project() -> None:
    ids = resolved()
    assert ids["/"] is None
    assert ids[HOME] is None


def test_both_spellings_of_an_accent_are_one_project() -> None:
    assert identity("/home/dev/caf\u00e9", HOME) == identity("/home/dev/cafe\u0301", HOME)


def test_every_project_has_a_valid_scope() -> None:
    for found in resolved().values():
        if found:
            assert parse(f"project/{scope_name(found.name)}/x")


@pytest.mark.parametrize(
    "url",
    [
        "git@host.example:acme/app.git",
        "ssh://git@host.example:22/acme/app",
        "https://user@HOST.example/acme/app.git/",
        "https://host.example//acme/app",
    ],
)
def test_every_spelling_of_a_remote_is_one_identity(url: str) -> None:
    assert normal_remote(url) == "host.example/acme/app"


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main", *arguments],
        cwd=directory,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "shop"
    path.mkdir()
    git(path, "init")
    git(path, "commit", "--allow-empty", "-m", "first")
    return path


def test_a_real_repository_without_remote_is_known_by_its_root_commit(repository: Path) -> None:
    found = identify(str(repository))
    assert found is not None
    assert found.name == "shop"
    assert found.id.startswith("root:")


def test_a_real_worktree_and_sub_folder_are_the_same_project(repository: Path, tmp_path: Path) -> None:
    (repository / "web").mkdir()
    git(repository, "worktree", "add", str(tmp_path / "hotfix"))

    found = {identify(str(path)) for path in (repository, repository / "web", tmp_path / "hotfix")}
    assert found == {identify(str(repository))}

    assert len(found) == 1


def test_a_real_remote_wins_over_the_root_commit(repository: Path) -> None:
    git(repository, "remote", "add", "origin", "git@host.example:acme/app.git")
    found = identify(str(repository))
    assert found is not None
    assert (found.id, found.name) == ("remote:host.example/acme/app", "app")
    assert [id.partition(":")[0] for id in found.ids] == ["remote", "root", "path"]


@pytest.mark.parametrize(
    ("change", "known", "seen"),
    [
        ("a remote is added", "root:C path:/a", "remote:R root:C path:/a"),
        ("the remote's address is changed", "remote:R root:C path:/a", "remote:S root:C path:/a"),
        ("the address is changed before the first commit", "remote:R path:/a", "remote:S root:C path:/a"),
        ("the remote is removed", "remote:R root:C path:/a", "root:C path:/a"),
        ("the folder is moved", "root:C path:/a", "root:C path:/b"),
        ("the folder is cloned", "remote:R root:C path:/a", "remote:R root:C path:/b"),
        ("a folder becomes a repository", "path:/a", "root:C path:/a"),
        ("the first commit is amended", "root:C path:/a", "root:D path:/a"),
        ("the history is written anew and pushed", "remote:R root:C path:/a", "remote:R root:D path:/a"),
        ("a local repository is pushed and cloned elsewhere", "root:C path:/a", "remote:R root:C path:/b"),
        ("git says nothing this time", "remote:R root:C path:/a", "path:/a"),
    ],
)
def test_a_project_stays_itself_when(change: str, known: str, seen: str) -> None:
    assert same_project([["path:/other"], known.split()], seen.split()) == 1


@pytest.mark.parametrize(
    ("difference", "known", "seen"),
    [
        ("a fork elsewhere", "remote:R root:C path:/a", "remote:S root:C path:/b"),
        ("another clone at the same place", "remote:R root:C path:/a", "remote:S root:D path:/a"),
        ("a new repository at a clone's place", "remote:R root:C path:/a", "root:D path:/a"),
        ("a clone at a local repository's place", "root:C path:/a", "remote:R root:D path:/a"),
        ("nothing in common", "remote:R root:C path:/a", "root:D path:/b"),
    ],
)
def test_another_project_is(difference: str, known: str, seen: str) -> None:
    assert same_project([known.split()], seen.split()) is None


def test_the_remote_decides_between_two_known_forks() -> None:
    forks = [["remote:R", "root:C", "path:/a"], ["remote:S", "root:C", "path:/b"]]
    assert same_project(forks, ["remote:S", "root:C", "path:/a"]) == 1
    assert same_project(forks, ["root:C", "path:/b"]) == 1
    assert same_project(forks, ["root:C", "path:/c"]) is None


def test_a_plain_folder_is_known_by_its_path(tmp_path: Path) -> None:
    assert identify(str(tmp_path)) == Identity(f"path:{tmp_path}", tmp_path.name)
