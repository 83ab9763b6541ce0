"""The files of drafts: `store/drafts/<id>.md`, each with a header that is bead's alone (D3).

An id is a keyed hash of the memory, so that the same memory has one draft and the id alone tells nothing. Nothing in a
body becomes a header: bead's stands before it, and lines that look like a fence carry a backslash. What is decided
about a draft is `drafts`.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from bead.errors import DamagedFile, NotFound
from bead.wire.drafts import DRAINED, is_drained_tag
from bead_store import files, header
from bead_store.disk import Disk
from bead_store.frontmatter import MAX_FILE_BYTES, Reader, normal_body
from bead_store.header import Bare, flag_text, moment_text

_ID = re.compile(r"[0-9a-f]{24}\Z")


class Kept(NamedTuple):
    """One draft as its file has it."""

    id: str
    body: str
    """Escaped, at most 8 KiB."""
    tags: tuple[str, ...]
    created: datetime
    project: str | None
    suspicious: bool

    def values(self, kind: str) -> tuple[str, ...]:
        """What stands behind the tags `kind:`."""
        return tuple(tag.partition(":")[2] for tag in self.tags if tag.startswith(f"{kind}:"))


class DraftFiles:
    """One folder of drafts; written from the facts' lane, read from any thread."""

    def __init__(self, folder: Path, disk: Disk, now: Callable[[], datetime]) -> None:
        self._folder = folder
        self._disk = disk
        self._now = now

    def read(self, id: str) -> Kept:
        """One draft.

        Raises:
            NotFound: there is none.
            DamagedFile: it cannot be read.
        """
        path = self._path(id)
        try:
            data = files.read(path, MAX_FILE_BYTES)
        except FileNotFoundError:
            raise NotFound(f"no draft waits under '{id}'; 'bead drafts list' shows what does") from None
        parts = header.split(data, path)
        reader = Reader(header.parse(parts, path), path)
        created = reader.moment("created")
        if created is None:
            raise files.damaged(path, 1, "has no field 'created' in its header")
        tags = reader.items("tags")
        if DRAINED not in tags or not all(is_drained_tag(tag) for tag in tags):
            raise files.damaged(path, 1, "has tags that no draft has")
        body = normal_body(parts.body)
        return Kept(path.stem, body, tags, created, reader.text("project"), reader.flag("suspicious"))

    def all(self) -> list[Kept]:
        """Every draft that can be read."""
        found: list[Kept] = []
        for id in self.ids():
            with suppress(NotFound, DamagedFile):
                found.append(self.read(id))
        return found

    def damage(self) -> list[DamagedFile]:
        """Drafts that cannot be read."""
        found: list[DamagedFile] = []
        for id in self.ids():
            try:
                self.read(id)
            except DamagedFile as error:
                found.append(error)
            except NotFound:
                continue
        return found

    def ids(self) -> list[str]:
        """Of the files there."""
        return sorted(
            name[:-3] for name in files.names_in(self._folder) if name.endswith(".md") and _ID.match(name[:-3])
        )

    def put(self, draft: Kept) -> None:
        """Write it, in the place of what was there; durable on return."""
        data = _render(draft)
        try:
            self._disk.create(self._path(draft.id), data)
        except FileExistsError:
            self._disk.replace_erasing(self._path(draft.id), data)

    def take_away(self, id: str) -> None:
        """Overwrite and remove it."""
        self._disk.erase(self._path(id))

    def is_half_erased(self, id: str) -> bool:
        """Whether it is there and its erasing has begun: only that puts a NUL into a draft."""
        try:
            return b"\0" in files.read(self._path(id), MAX_FILE_BYTES)
        except (FileNotFoundError, DamagedFile):
            return False

    def _path(self, id: str) -> Path:
        if not _ID.match(id):
            raise NotFound("a draft is named by its id; 'bead drafts list' shows them")
        return self._folder / f"{id}.md"


def _render(draft: Kept) -> bytes:
    fields: dict[str, header.Written] = {
        "id": Bare(draft.id),
        "source": DRAINED,
        "tags": draft.tags,
        "project": draft.project,
        "created": moment_text(draft.created),
        "suspicious": flag_text(True) if draft.suspicious else None,
    }
    return header.render(fields, draft.body)
