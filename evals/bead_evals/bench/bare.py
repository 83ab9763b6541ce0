"""The least that keeps a promise about a file: what bead's writes are measured against. No checks, no clean-up."""

import os
from pathlib import Path

from ruamel.yaml import YAML


def new_file(folder: Path, name: str, data: bytes) -> None:
    """Temporary, fsync, link, fsync of the directory: a file that is whole or not there, and stays."""
    temporary = folder / f"t-{name}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, data)
    os.fsync(descriptor)
    os.close(descriptor)
    os.link(temporary, folder / name)
    os.unlink(temporary)
    _sync(folder)


def new_file_in_new_folder(folder: Path, name: str, data: bytes) -> None:
    """The same in a folder that is made for it, and whose name stays too."""
    os.mkdir(folder, 0o700)
    _sync(folder.parent)
    new_file(folder, name, data)


def append(path: Path, data: bytes) -> None:
    """Open, append, fsync."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(descriptor, data)
    os.fsync(descriptor)
    os.close(descriptor)


def parse(path: Path) -> object:
    """Read a file and its header with ruamel.yaml, in Python alone."""
    return YAML(typ="safe", pure=True).load(path.read_text("utf-8").split("---\n", 2)[1])


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
