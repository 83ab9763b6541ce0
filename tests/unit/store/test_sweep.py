"""The sweep finds what was written, added and removed by time and size, and the watcher knows when it has to sweep."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bead_store.sweep import Sweep
from bead_store.watching import mount_kind, why_no_events

MOUNTS = """\
22 1 8:1 / / rw,relatime - ext4 /dev/vda rw
40 22 0:33 / /home/me/shared rw - virtiofs share rw
41 22 0:34 / /home/me/my\\040disk rw - fuse.sshfs host:/ rw
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a/v1.md", "b/v1.md", "b/v2.md", "deep/er/v1.md"):
        write(tmp_path / name, "text")
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def wait_for_the_clock_of_files(root: Path) -> None:
    """Until a file written now has a later time than one written before: that clock ticks every few milliseconds."""
    probe = root.parent / "clock"
    probe.write_text("")
    before = probe.stat().st_mtime_ns
    while probe.stat().st_mtime_ns == before:
        probe.write_text("")


def begun(root: Path) -> Sweep:
    sweep = Sweep([str(root)])
    assert sweep.begin(time.time_ns() + 10**12) == []
    return sweep


def grow(root: Path) -> str:
    write(root / "a/v1.md", "longer text")
    return "a/v1.md"


def same_size_later(root: Path) -> str:
    write(root / "a/v1.md", "TEXT")
    os.utime(root / "a/v1.md", ns=(0, time.time_ns() + 10**9))
    return "a/v1.md"


def same_size_and_time_by_rename(root: Path) -> str:
    state = (root / "a/v1.md").stat()
    write(root / "a/new", "TEXT")
    os.utime(root / "a/new", ns=(state.st_atime_ns, state.st_mtime_ns))
    (root / "a/new").rename(root / "a/v1.md")
    return "a/v1.md"


def add(root: Path) -> str:
    write(root / "a/v2.md", "text")
    return "a/v2.md"


def add_deep(root: Path) -> str:
    write(root / "new/and/deep/v1.md", "text")
    return "new/and/deep/v1.md"


def remove(root: Path) -> str:
    (root / "b/v2.md").unlink()
    return "b/v2.md"


def move_folder_away(root: Path) -> str:
    (root / "deep").rename(root.parent / f"{root.name}-away")
    return "deep/er/v1.md"


CHANGES = [grow, same_size_later, same_size_and_time_by_rename, add, add_deep, remove, move_folder_away]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_each_change_is_found_once(root: Path, change: Callable[[Path], str]) -> None:
    sweep = begun(root)

    name = change(root)

    assert list(sweep.changed()) == [str(root / name)]
    assert list(sweep.changed()) == []


def test_what_came_and_went_between_two_sweeps_names_its_folder(root: Path) -> None:
    sweep = begun(root)
    wait_for_the_clock_of_files(root)
    (root / "a/v2.md").write_text("text")
    (root / "a/v2.md").unlink()

    assert list(sweep.changed()) == [str(root / "a")]


def test_own_temporaries_are_never_told(root: Path) -> None:
    sweep = begun(root)
    (root / "a/.tmp-0123").write_text("half")

    assert [path for path in sweep.changed() if ".tmp-" in path] == []


def test_first_look_tells_what_was_written_since_the_store_began_to_read(root: Path) -> None:
    os.utime(root / "a/v1.md", ns=(0, 0))
    since = time.time_ns()
    wait_for_the_clock_of_files(root)
    write(root / "b/v1.md", "edited meanwhile")

    assert Sweep([str(root)]).begin(since) == [str(root / "b/v1.md")]


def test_root_that_appears_later_is_found(tmp_path: Path) -> None:
    sweep = begun(tmp_path / "raw")
    write(tmp_path / "raw/s.md", "text")

    assert list(sweep.changed()) == [str(tmp_path / "raw/s.md")]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/.bead", "ext4"),
        ("/home/me/shared/.bead", "virtiofs"),
        ("/home/me/shared-not", "ext4"),
        ("/home/me/my disk/x", "fuse.sshfs"),
    ],
)
def test_mount_of_a_home_is_known(tmp_path: Path, path: str, kind: str) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)

    assert mount_kind(path, str(mounts)) == kind
    why = why_no_events([path], str(mounts))
    assert (why is None) == (kind == "ext4") and (why is None or kind in why)


def test_where_the_system_does_not_tell_mounts_events_are_believed_in(tmp_path: Path) -> None:
    assert why_no_events(["/home/me"], str(tmp_path / "absent")) is None
