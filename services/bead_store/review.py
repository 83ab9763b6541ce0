"""The review queue: what a person must decide, one Markdown file an item.

An item's id is a keyed hash of kind, key and value, so that a repeat is queued once and the id alone tells nothing.
Accepting and rejecting are a person's, through `facts`.
"""

import hmac
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from bead.errors import DamagedFile, Refused
from bead.facts import FactType, TriggerCard, Trust
from bead.wire.store import ReviewItem
from bead_store import files, header
from bead_store.frontmatter import MAX_FILE_BYTES, Reader, card_fields, normal_body
from bead_store.header import Bare, moment_text

MAX_ITEMS = 1_000
_ID_HEX = 24


class Proposal(NamedTuple):
    """What waits, and everything an accept needs to write it."""

    kind: str
    key: str
    body: str
    type: FactType
    trust: Trust
    when: TriggerCard
    sources: tuple[str, ...]
    harness: str | None


class ReviewFiles:
    """The items of one queue folder."""

    def __init__(self, folder: Path, disk: files.Disk, home_id: str) -> None:
        self._folder = folder
        self._disk = disk
        self._home_id = home_id

    def add(self, proposal: Proposal, created: datetime) -> str:
        """Queue `proposal`, durable on return; its id, which an equal one already had.

        Raises:
            Refused: too many items wait.
        """
        identity = "\0".join((proposal.kind, proposal.key, proposal.body))
        item = hmac.new(self._home_id.encode(), identity.encode(), "sha256").hexdigest()[:_ID_HEX]
        path = self._folder / f"{item}.md"
        if path.exists():
            return item
        if len(self._paths()) >= MAX_ITEMS:
            raise Refused(f"{MAX_ITEMS} items wait for review already; decide some with 'bead queue'")
        try:
            self._disk.create(path, _render(item, proposal, created))
        except FileExistsError:
            pass
        return item

    def items(self) -> tuple[ReviewItem, ...]:
        """Every readable item, oldest first."""
        found: list[ReviewItem] = []
        for path in self._paths():
            try:
                found.append(_parse(path))
            except (DamagedFile, FileNotFoundError):
                continue
        return tuple(sorted(found, key=lambda item: (item.created, item.id)))

    def damage(self) -> list[DamagedFile]:
        """Items that cannot be read."""
        found: list[DamagedFile] = []
        for path in self._paths():
            try:
                _parse(path)
            except DamagedFile as error:
                found.append(error)
        return found

    def _paths(self) -> list[Path]:
        return [path for path in self._folder.glob("*.md") if not path.name.startswith(".")]


def _render(item: str, proposal: Proposal, created: datetime) -> bytes:
    fields: dict[str, header.Written] = {
        "id": Bare(item),
        "kind": proposal.kind,
        "key": Bare(proposal.key),
        "type": Bare(proposal.type),
        "trust": Bare(proposal.trust),
        "created": moment_text(created),
        "sources": proposal.sources,
        "harness": proposal.harness,
        "when": card_fields(proposal.when),
    }
    return header.render(fields, proposal.body)


def _parse(path: Path) -> ReviewItem:
    parts = header.split(files.read(path, MAX_FILE_BYTES), path)
    reader = Reader(header.parse(parts, path), path)
    created = reader.moment("created")
    if created is None:
        raise files.damaged(path, 1, "has no field 'created' in its header")
    return ReviewItem(
        id=path.stem,
        kind=reader.needed("kind"),
        key=reader.needed("key"),
        body=normal_body(parts.body),
        trust=reader.choice("trust", Trust),
        created=created,
    )
