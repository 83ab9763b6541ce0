"""The one place that writes: never over another file, never half, and never again after a failed fsync (I2)."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from bead.errors import DamagedFile, Unavailable, WritesStopped
from bead_store import files
from bead_store.files import Disk


def leftovers(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.name.startswith(files.TEMPORARY_PREFIX)]


def test_create_makes_private_folders_and_file_and_leaves_no_temporary(tmp_path: Path) -> None:
    Disk().create(tmp_path / "a" / "b" / "file", b"data")

    assert (tmp_path / "a" / "b" / "file").read_bytes() == b"data"
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a" / "b" / "file").stat().st_mode) == 0o600
    assert leftovers(tmp_path) == []


def test_create_never_writes_over_another(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")

    with pytest.raises(FileExistsError):
        Disk().create(tmp_path / "file", b"yours")

    assert (tmp_path / "file").read_bytes() == b"mine"
    assert leftovers(tmp_path) == []


def test_replace_puts_the_whole_new_file_in_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old and longer")

    Disk().replace(tmp_path / "file", b"new")

    assert (tmp_path / "file").read_bytes() == b"new"
    assert leftovers(tmp_path) == []


def test_append_goes_to_the_file_that_is_there_now(tmp_path: Path) -> None:
    """An editor saves by renaming another file into place; what is appended after that must not go to the old one."""
    disk = Disk()
    disk.append(tmp_path / "log", b"one\n")
    (tmp_path / "new").write_bytes(b"edited\n")
    os.replace(tmp_path / "new", tmp_path / "log")

    disk.append(tmp_path / "log", b"two\n")
    disk.sync_appended()

    assert (tmp_path / "log").read_bytes() == b"edited\ntwo\n"


def test_synced_appends_keep_no_descriptor(tmp_path: Path) -> None:
    disk = Disk()
    before = len(os.listdir("/proc/self/fd"))
    for number in range(50):
        disk.append(tmp_path / f"log-{number}", b"x")
    disk.sync_appended()

    assert len(os.listdir("/proc/self/fd")) == before


def test_symbolic_link_device_and_large_file_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    (tmp_path / "target").write_bytes(b"x" * 11)
    os.mkfifo(tmp_path / "pipe")

    for name in ("link", "pipe", "target"):
        with pytest.raises(DamagedFile):
            files.read(tmp_path / name, 10)
    assert files.read(tmp_path / "target", 11) == b"x" * 11


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system of 64 KiB, where the machine lets us make one."""
    folder = tmp_path / "small"
    folder.mkdir()
    if os.system(f"mount -t tmpfs -o size=64k,nr_inodes=24 tmpfs {folder} 2>/dev/null") != 0:
        pytest.skip("this machine lets us mount nothing")
    yield folder
    os.system(f"umount {folder}")


def test_a_disk_that_became_read_only_is_said_until_a_write_works_again(small_disk: Path) -> None:
    disk = Disk()
    disk.create(small_disk / "one", b"x")
    os.system(f"mount -o remount,ro {small_disk}")
    with pytest.raises(Unavailable):
        disk.replace(small_disk / "one", b"y")
    assert disk.refusing and "Read-only" in disk.refusing
    os.system(f"mount -o remount,rw {small_disk}")
    disk.append(small_disk / "log", b"y")
    assert disk.refusing is None
    disk.sync_appended()


def test_full_disk_is_said_so_and_leaves_nothing_half_written(small_disk: Path) -> None:
    disk = Disk()
    disk.append(small_disk / "log", b"whole\n")
    (small_disk / "file").write_bytes(b"old")

    with pytest.raises(Unavailable, match="disk is full"):
        disk.create(small_disk / "new", b"x" * 200_000)
    with pytest.raises(Unavailable, match="disk is full"):
        disk.replace(small_disk / "file", b"x" * 200_000)
    with pytest.raises(Unavailable, match="disk is full"):
        disk.append(small_disk / "log", b"x" * 200_000)

    assert sorted(path.name for path in small_disk.iterdir()) == ["file", "log"]
    assert (small_disk / "log").read_bytes() == b"whole\n"
    assert (small_disk / "file").read_bytes() == b"old"
    assert disk.stopped is None
    assert disk.refusing and "full" in disk.refusing and str(small_disk) not in disk.refusing
    disk.create(small_disk / "new", b"fits")
    assert disk.refusing is None
    disk.sync_appended()


def test_failed_fsync_stops_every_further_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk()
    (tmp_path / "file").write_bytes(b"old")
    calls: list[int] = []

    def failing(descriptor: int) -> None:
        calls.append(descriptor)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(WritesStopped):
        disk.replace(tmp_path / "file", b"new")
    monkeypatch.undo()

    for write in (disk.create, disk.replace, disk.append):
        with pytest.raises(WritesStopped):
            write(tmp_path / "other", b"x")
    assert len(calls) == 1, "a failed fsync is never tried again"
    assert disk.stopped and os.listdir(tmp_path) == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"
    assert leftovers(tmp_path) == []
