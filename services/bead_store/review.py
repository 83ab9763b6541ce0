"""The review queue: what a person must decide, one Markdown file an item.

An item's id is a keyed hash of kind, key and value, so that a repeat is queued once and the id alone tells nothing.
What a person decides is carried out by `verdicts`.
"""

import contextlib
import hmac
import re
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from bead.errors import DamagedFile, NotFound, Refused
from bead.facts import FactType, TriggerCard, Trust
from bead.wire.store import ReviewItem
from bead_store import files, header
from bead_store.disk import Disk
from bead_store.frontmatter import MAX_FILE_BYTES, Reader, card_fields, normal_body
from bead_store.header import Bare, flag_text, moment_text

MAX_ITEMS = 1_000
KEY_CONFLICT = "key-conflict"
"""Kind of an item that asks whether a new statement takes the place of what another key says."""
_ID_HEX = 24
_ITEM = re.compile(r"[a-z0-9][a-z0-9._-]{0,119}\Z")


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
    suspicious: bool = False
    """It reads like an instruction to a model."""
    others: tuple[str, ...] = ()
    """Of a merge: keys whose facts fall asleep when it is accepted."""
    new_key: str | None = None
    """Of a rekey: where the fact goes when it is accepted."""
    reason: str | None = None
    """Why it waits, in plain words."""


def stands_for(proposal: Proposal) -> str:
    """What a rejection buries under the key: the text, for a merge or a rekey what would have been done with it."""
    if proposal.new_key:
        return f"rekey {proposal.new_key}"
    return "\n".join(("merge", *proposal.others, proposal.body)) if proposal.others else proposal.body


class ReviewFiles:
    """The items of one queue folder."""

    def __init__(self, folder: Path, disk: Disk, home_id: str) -> None:
        self._folder = folder
        self._disk = disk
        self._home_id = home_id

    def add(self, proposal: Proposal, created: datetime) -> str:
        """Queue `proposal`, durable on return; its id, which an equal one already had.

        Raises:
            Refused: too many items wait.
        """
        item = self._id(proposal)
        if self._path(item).exists():
            self._disk.keep(self._path(item))
        else:
            if len(self._names()) >= MAX_ITEMS:
                raise Refused(f"{MAX_ITEMS} items wait for review already; decide some with 'bead queue'")
            self._put(item, proposal, created)
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

    def ids(self) -> frozenset[str]:
        """What waits, by id; no file is opened."""
        return frozenset(path.stem for path in self._paths())

    def damage(self) -> list[DamagedFile]:
        """Items that cannot be read."""
        found: list[DamagedFile] = []
        for path in self._paths():
            try:
                _parse(path)
            except DamagedFile as error:
                found.append(error)
        return found

    def proposal(self, item: str) -> Proposal:
        """Everything about one item.

        Raises:
            NotFound: no such item waits.
            DamagedFile: it cannot be read.
        """
        path = self._path(item)
        try:
            return _proposal(path)
        except FileNotFoundError:
            raise NotFound(f"nothing waits under '{path.stem}'; 'bead queue list' shows what does") from None

    def take_away(self, item: str) -> None:
        """The item is decided."""
        self._disk.erase(self._path(item))

    def is_half_erased(self, item: str) -> bool:
        """Whether it is there, and what it was taken away for is done."""
        return _holds_nul(self._path(item))

    def finish_erasing(self, item: str | None = None) -> bool:
        """After trouble: take away what was being erased, the item or any; whether it was.

        Only an erasing puts a NUL into an item, in some of its blocks first; what it was taken away for is done.
        """
        found = [path for path in self._paths() if path.stem == (item or path.stem) and _holds_nul(path)]
        for path in found:
            self._disk.erase(path)
        return bool(found)

    def rename(self, old: str, new: str) -> None:
        """Let what waits for `old` wait for `new`; safe to do again after a crash."""
        for item in self.items():
            if item.key == old or old in item.others:
                self._put_renamed(item, old, new)

    def _put_renamed(self, item: ReviewItem, old: str, new: str) -> None:
        proposal = self.proposal(item.id)
        others = tuple(new if other == old else other for other in proposal.others)
        moved = proposal._replace(key=new if proposal.key == old else proposal.key, others=others)
        if moved.new_key != moved.key:  # else it asked for just this
            self._put(self._id(moved), moved, item.created)
        self.take_away(item.id)

    def _id(self, proposal: Proposal) -> str:
        identity = "\0".join((proposal.kind, proposal.key, stands_for(proposal)))
        return hmac.new(self._home_id.encode(), identity.encode(), "sha256").hexdigest()[:_ID_HEX]

    def _put(self, item: str, proposal: Proposal, created: datetime) -> None:
        with contextlib.suppress(FileExistsError):
            self._disk.create(self._path(item), _render(item, proposal, created))

    def _path(self, item: str) -> Path:
        if not _ITEM.match(item):
            raise NotFound("a review item is named by its id; 'bead queue list' shows them")
        return self._folder / f"{item}.md"

    def _paths(self) -> list[Path]:
        return [self._folder / name for name in self._names()]

    def _names(self) -> list[str]:
        return [name for name in files.names_in(self._folder) if name.endswith(".md") and not name.startswith(".")]


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
        "suspicious": flag_text(proposal.suspicious) if proposal.suspicious else None,
        "others": proposal.others,
        "new_key": proposal.new_key,
        "reason": proposal.reason,
        "when": card_fields(proposal.when),
    }
    return header.render(fields, proposal.body)


def _holds_nul(path: Path) -> bool:
    try:
        return b"\0" in files.read(path, MAX_FILE_BYTES)
    except (DamagedFile, FileNotFoundError):
        return False


def _proposal(path: Path) -> Proposal:
    parts, reader = _read(path)
    return Proposal(
        kind=reader.needed("kind"),
        key=reader.needed("key"),
        body=normal_body(parts.body),
        type=reader.choice("type", FactType),
        trust=reader.choice("trust", Trust),
        when=reader.card("when"),
        sources=reader.items("sources"),
        harness=reader.text("harness"),
        suspicious=reader.flag("suspicious"),
        others=reader.items("others"),
        new_key=reader.text("new_key"),
        reason=reader.text("reason"),
    )


def _read(path: Path) -> tuple[header.Parts, Reader]:
    parts = header.split(files.read(path, MAX_FILE_BYTES), path)
    return parts, Reader(header.parse(parts, path), path)


def _parse(path: Path) -> ReviewItem:
    parts, reader = _read(path)
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
        type=reader.choice("type", FactType),
        sources=reader.items("sources"),
        suspicious=reader.flag("suspicious"),
        others=reader.items("others"),
        new_key=reader.text("new_key"),
        reason=reader.text("reason"),
        harness=reader.text("harness"),
    )
