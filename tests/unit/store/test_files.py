"""The one place that writes: never over another file, never half, and never again after a failed fsync (I2)."""

import asyncio
import errno
import os
import resource
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bead.errors import DamagedFile, Unavailable, WritesStopped
from bead_store import disk as writing
from bead_store import files, layout
from bead_store.asking import ask_refusing_disk
from bead_store.disk import Disk
from bead_store.lanes import Lane
from bead_store.lock import HomeLock
from bead_store.review import ReviewFiles
from tests.syscalls import recorded


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


def test_a_probe_says_full_until_there_is_room_and_leaves_nothing(small_disk: Path) -> None:
    disk = Disk()
    (small_disk / "another program's").write_bytes(bytes(56 << 10))
    with pytest.raises(Unavailable, match="disk is full"):
        disk.create(small_disk / "new", b"x" * 20_000)

    with pytest.raises(Unavailable, match="disk is full"):
        disk.probe(small_disk)
    assert disk.refusing and "full" in disk.refusing
    (small_disk / "another program's").unlink()
    disk.probe(small_disk)

    assert disk.refusing is None
    assert list(small_disk.iterdir()) == []


async def test_a_full_disk_that_gets_room_is_well_again_without_another_write(small_disk: Path) -> None:
    disk, lane = Disk(), Lane("test")
    (small_disk / "another program's").write_bytes(bytes(56 << 10))
    with pytest.raises(Unavailable, match="disk is full"):
        disk.create(small_disk / "new", b"x" * 20_000)
    asked = asyncio.Event()
    probe, loop = disk.probe, asyncio.get_running_loop()

    def noted(folder: Path) -> None:
        probe(folder)
        loop.call_soon_threadsafe(asked.set)  # not after a refusal, which raises

    disk.probe = noted  # type: ignore[method-assign]  # to hear of it
    asking = asyncio.ensure_future(ask_refusing_disk(disk, small_disk, lane, pause_s=0.01))
    (small_disk / "another program's").unlink()
    async with asyncio.timeout(5):
        await asked.wait()
    asking.cancel()
    lane.close()

    assert disk.refusing is None


def test_a_probe_never_makes_a_failed_fsync_good(tmp_path: Path) -> None:
    disk = Disk()
    disk.refusing = "the disk is full"
    with recorded(writing, fail={"fsync": OSError(errno.EIO, "Input/output error")}), pytest.raises(WritesStopped):
        disk.probe(tmp_path)
    with pytest.raises(WritesStopped):
        disk.probe(tmp_path)

    assert disk.stopped and list(tmp_path.iterdir()) == []


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


BROKEN = {"close": OSError(errno.EIO, "Input/output error")}


def test_disk_that_complains_when_a_file_is_closed_changes_nothing_that_was_read_or_synced(tmp_path: Path) -> None:
    """Some network file systems do; what counts was said by the read or the fsync before."""
    disk = Disk()
    with recorded(files, fail=BROKEN):
        disk.create(tmp_path / "file", b"data")
        disk.append(tmp_path / "log", b"line\n")
        disk.sync_appended()
        assert files.read(tmp_path / "file", 10) == b"data"

    assert disk.is_settled
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "log"]


async def test_lock_is_given_back_when_closing_it_fails(tmp_path: Path) -> None:
    with recorded(files, fail=BROKEN):
        async with HomeLock(tmp_path / ".lock", 0.0):
            pass

    async with HomeLock(tmp_path / ".lock", 0.0) as lock:
        assert not lock.is_settled, "nobody has said that everything is on the disk"
        lock.note_settled()
    async with HomeLock(tmp_path / ".lock", 0.0) as lock:
        assert lock.is_settled
    async with HomeLock(tmp_path / ".lock", 0.0) as lock:
        assert not lock.is_settled, "the holder before may have died"


@contextmanager
def no_more_files() -> Iterator[None]:
    """This process may open nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_process_that_may_open_no_more_files_says_so_and_takes_nothing_for_gone_or_damaged(tmp_path: Path) -> None:
    (tmp_path / "v1.md").write_bytes(b"data")
    disk = Disk()
    queue = ReviewFiles(tmp_path, disk, "home")

    for ask in (
        lambda: files.read(tmp_path / "v1.md", 10),
        lambda: layout.versions_in(tmp_path),
        lambda: queue.items(),
        lambda: queue.damage(),
        lambda: disk.append(tmp_path / "log", b"x"),
        lambda: disk.create(tmp_path / "new", b"x"),
    ):
        with no_more_files():
            error = _error_of(ask)
        assert type(error) is Unavailable
        assert "Too many open files" in error.message and str(tmp_path) in error.message
    assert disk.stopped is None
    disk.append(tmp_path / "log", b"x")
    disk.sync_appended()


def _error_of(ask: Callable[[], object]) -> BaseException:
    """Caught by hand: pytest opens files to tell of one, and may not now."""
    try:
        ask()
    except BaseException as error:
        return error
    raise AssertionError("it was answered")


def test_new_log_gets_its_name_synced_though_its_folder_could_not_be_opened_at_first(tmp_path: Path) -> None:
    disk = Disk()
    disk.make_directory(tmp_path / "raw")
    with recorded(writing, fail_open_of=tmp_path / "raw"), pytest.raises(Unavailable):
        disk.append(tmp_path / "raw" / "log", b"lost\n")

    with recorded(writing) as calls:
        disk.append(tmp_path / "raw" / "log", b"kept\n")
        disk.sync_appended()
    assert sorted(calls.synced) == [tmp_path / "raw", tmp_path / "raw" / "log"]
    assert (tmp_path / "raw" / "log").read_bytes() == b"kept\n"


def test_bytes_that_the_disk_has_lost_are_not_read_from_the_kernels_memory(tmp_path: Path) -> None:
    """After a failed fsync the page counts as clean: the next start would find there what a power cut takes."""
    disk = Disk()
    disk.append(tmp_path / "log", b"line\n")
    with recorded(writing, fail={"fsync": OSError(errno.EIO, "Input/output error")}) as calls:
        with pytest.raises(WritesStopped):
            disk.sync_appended()

    assert calls.dropped == calls.synced
    assert len(calls.synced) == 1, "a failed fsync is never tried again, and stops the others"
    assert not disk.is_settled


def test_nothing_is_synced_any_more_once_the_disk_has_lost_something(tmp_path: Path) -> None:
    """A group fsync may be under way when another file's fails: its file may be the one that was lost."""
    disk = Disk()
    disk.append(tmp_path / "log", b"line\n")
    with recorded(writing, fail={"fsync": OSError(errno.EIO, "Input/output error")}), pytest.raises(WritesStopped):
        disk.overwrite(tmp_path / "log", [(0, b"LINE")])

    with recorded(writing) as calls, pytest.raises(WritesStopped):
        disk.sync_appended()
    assert calls.synced == []
