"""Real file systems for the tests, each undone at the end of its block: images, loop devices, mounts, logged disks."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.torture.blockdev import DISK

IMAGE_MB = 24
_READY_S = 15.0
_TOOLS = {"mkfs.ext4": "e2fsprogs", "losetup": "mount", "mount": "mount", "fusermount3": "fuse3"}


class LoggedDisk(NamedTuple):
    """A loop device whose writes and flushes are logged."""

    device: str
    log: Path


def require_tools() -> None:
    """Raise RuntimeError, with what is missing, unless disks can be made here."""
    missing = sorted({package for tool, package in _TOOLS.items() if shutil.which(tool) is None})
    if missing:
        raise RuntimeError(f"the power cut tests need more programs: apt-get install {' '.join(missing)}")
    if os.geteuid() != 0:
        raise RuntimeError("the power cut tests mount file systems: they need root")
    if not Path("/dev/fuse").exists():
        raise RuntimeError("the power cut tests need /dev/fuse: modprobe fuse")


def make_ext4(image: Path) -> None:
    """A journalled file system in a file."""
    with image.open("wb") as file:
        file.truncate(IMAGE_MB << 20)
    run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", str(image))


@contextmanager
def logged(image: Path, folder: Path) -> Iterator[LoggedDisk]:
    """`image` behind a disk that keeps a log in `folder`."""
    mountpoint, log = folder / "fuse", folder / "log"
    mountpoint.mkdir()
    log.touch()
    with (folder / "fuse.err").open("wb") as errors:
        command = [sys.executable, "-m", "tests.torture.blockdev", str(image), str(log), str(mountpoint)]
        server = subprocess.Popen(command, stderr=errors)
    try:
        _wait_for(mountpoint / DISK, server, folder / "fuse.err")
        device = run("losetup", "-f", "--show", str(mountpoint / DISK)).strip()
        try:
            yield LoggedDisk(device, log)
        finally:
            run("losetup", "-d", device)
    finally:
        if server.poll() is None:
            run("fusermount3", "-u", str(mountpoint))
            server.wait(_READY_S)


@contextmanager
def mounted(source: str, target: Path, options: Sequence[str] = (), kind: str = "ext4") -> Iterator[Path]:
    """`source` mounted at `target`, which is made when it is missing."""
    target.mkdir(exist_ok=True)
    run("mount", "-t", kind, "-o", ",".join(options) or "defaults", source, str(target))
    try:
        yield target
    finally:
        run("umount", str(target))


def run(*command: str) -> str:
    """What a command prints.

    Raises:
        RuntimeError: it failed; the text holds what it said.
    """
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return done.stdout


def _wait_for(path: Path, server: "subprocess.Popen[bytes]", errors: Path) -> None:
    deadline = time.monotonic() + _READY_S
    while not path.exists():
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the logged disk does not start: {errors.read_text()[-1000:]}")
        time.sleep(0.02)  # a mount made by another process has no event to wait for
