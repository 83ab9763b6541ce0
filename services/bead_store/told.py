"""What a key's files tell a forget, however damaged they are: texts, sources, the key. Reads files, writes none."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from bead.errors import DamagedFile
from bead_store import files, header, layout
from bead_store.frontmatter import MAX_FILE_BYTES, Reader, normal_body
from bead_store.redaction import Wanted, look_for


class Version(NamedTuple):
    """What one version's file says."""

    body: str
    sources: tuple[str, ...]
    is_whole: bool
    key: str | None = None

    def __repr__(self) -> str:  # a body is a person's text
        return f"Version(is_whole={self.is_whole})"


def told(path: Path) -> Version:
    """What the file says; nothing where it cannot be read."""
    try:
        data = files.read(path, MAX_FILE_BYTES)
        parts = header.split(data, path)
    except (DamagedFile, FileNotFoundError):
        return Version("", (), is_whole=False)
    try:
        fields = Reader(header.parse(parts, path), path)
        sources, key = fields.items("sources"), fields.text("key")
    except DamagedFile:
        sources, key = (), None
    return Version(normal_body(parts.body).strip(), sources, is_whole=True, key=key)


def files_of(directory: Path) -> list[Path]:
    """Everything in a key's folder that is no folder: other files first, the highest version last.

    While the highest version is there, the key and its uid are known, so a crash in between is found again.
    """
    try:
        names = [entry.name for entry in os.scandir(directory) if not entry.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [directory / name for name in sorted(names, key=lambda name: (layout.version_number(name) or 0, name))]


def state(directory: Path) -> list[str]:
    """What a person saw in the preview: the texts, whatever marks they get in between."""
    found: list[str] = []
    for path in files_of(directory):
        version, seen = told(path), path.lstat()
        found.append(f"{path.name} {version.body if version.is_whole else (seen.st_size, seen.st_mtime_ns)}")
    return found


def wanted_of(
    paths: Iterable[Path],
    uids: Iterable[str],
    *,
    turns: Iterable[str] = (),
    texts: Iterable[str] = (),
    whole: Iterable[str] = (),
) -> Wanted:
    """What to look for: the bodies of these files and these texts, the turns they and `turns` name, whole sessions."""
    versions = [told(path) for path in paths]
    return look_for(
        (*(version.body for version in versions if version.body), *texts),
        (*turns, *(source for version in versions for source in version.sources)),
        uids,
        whole,
    )
