"""Credentials in files that exist already: found by the rules of today, replaced in place by their markers (I12).

A hand edit can bring one, and a new rule can know what an old one did not. Facts are changed in the facts' lane and
sessions in the turns' lane, each only when a look outside the lane has found something. Counts name rules, never text.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Set
from functools import partial
from pathlib import Path

from bead.errors import DamagedFile, NotFound
from bead.wire.store import ChangeKind, RescanProgress
from bead_store import files, header, layout
from bead_store.audit import Audit
from bead_store.catalogue import Catalogue
from bead_store.changes import Changes
from bead_store.disk import Disk
from bead_store.frontmatter import MAX_FILE_BYTES, Place, parse_fact
from bead_store.lanes import Lane
from bead_store.raw import RawLog
from bead_store.scan import Scan

Counts = Counter[str]
"""Replaced credentials by the rule that found them."""


class Credentials:
    """Looks through one home's facts, sessions, and the other files that hold what somebody said."""

    def __init__(
        self,
        facts: Path,
        *,
        catalogue: Catalogue,
        sessions: RawLog,
        scan: Scan,
        disk: Disk,
        audit: Audit,
        changes: Changes,
        fact_lane: Lane,
        turn_lane: Lane,
        slow_lane: Lane,
        others: Callable[[], list[Path]] = list,
    ) -> None:
        """`others` are files with a header and a text: episodes, drafts, review items."""
        self._facts = facts
        self._catalogue = catalogue
        self._sessions = sessions
        self._scan = scan
        self._disk = disk
        self._audit = audit
        self._changes = changes
        self._fact_lane = fact_lane
        self._turn_lane = turn_lane
        self._slow_lane = slow_lane
        self._others = others
        self.on_other: Callable[[Path], None] = lambda path: None
        """Told of such a file when it says something else now; from the facts' lane."""
        self._progress = RescanProgress(running=False, done=0, total=0, redacted={}, skipped=0)

    @property
    def progress(self) -> RescanProgress:
        """How far the newest run is."""
        return self._progress

    def begin(self) -> bool:
        """Whether a run may start now; when one is at work, that one counts."""
        if self._progress.running:
            return False
        self._progress = RescanProgress(running=True, done=0, total=0, redacted={}, skipped=0)
        return True

    async def run(self) -> None:
        """Scan every version of every fact, every session, and every other file."""
        others = await self._slow_lane.run(self._others)
        work: list[Callable[[Counts], Awaitable[None]]] = [
            *(partial(self._key, entry.key) for entry in self._catalogue.entries()),
            *(partial(self._session, session) for session in self._sessions.sessions(None)),
            *(partial(self._other, path) for path in others),
        ]
        counts: Counts = Counter()
        skipped = 0
        try:
            for done, look in enumerate(work):
                self._tell(done, len(work), counts, skipped)
                try:
                    await look(counts)
                except (DamagedFile, NotFound, FileNotFoundError):
                    skipped += 1
            self._tell(len(work), len(work), counts, skipped)
        finally:
            self._progress = self._progress.model_copy(update={"running": False})

    def redact_fact(self, key: str, version: int) -> Counts:
        """Replace what the text or the card of one version holds; in the facts' lane. The caller tells readers."""
        try:
            data, _, place = self._catalogue.read_version(key, version)
        except DamagedFile:
            return Counter()
        clean, counts = self._cleaned(data, place)
        if counts:
            self._disk.replace_erasing(place.path, clean)
        return counts

    async def _key(self, key: str, counts: Counts) -> None:
        if await self._slow_lane.run(self._holds_any, key):
            counts.update(await self._fact_lane.run(self._redact_key, key))

    def _holds_any(self, key: str) -> bool:
        for version in layout.versions_in(layout.directory_of(self._facts, key)):
            data, _, place = self._catalogue.read_version(key, version)
            if self._cleaned(data, place)[1]:
                return True
        return False

    def _redact_key(self, key: str) -> Counts:
        counts: Counts = Counter()
        for version in layout.versions_in(layout.directory_of(self._facts, key)):
            found = self.redact_fact(key, version)
            if found:
                counts.update(found)
                self._audit.record("redacted", self._catalogue.uid(key), version=version)
        if counts:
            self._catalogue.refresh(key)
            self._changes.publish(ChangeKind.FACT, key)
        return counts

    def _cleaned(self, data: bytes, place: Place) -> tuple[bytes, Counts]:
        """The file without credentials; a header is left alone when it would say something else about the fact."""
        parts = header.split(data, place.path)
        head, body = parts.text[: parts.body_start], parts.body
        clean_body, counts = self._scan.redacted(body)
        clean_head, more = self._scan.redacted(head)
        if more and self._is_same_fact(data, (clean_head + body).encode(), place):
            return (clean_head + clean_body).encode(), counts + more
        return (head + clean_body).encode(), counts

    def _is_same_fact(self, data: bytes, changed: bytes, place: Place) -> bool:
        old = parse_fact(data, place)
        try:
            new = parse_fact(changed, place)
        except DamagedFile:
            return False
        free = {"when": old.when, "sources": old.sources, "harness": old.harness}
        return new.model_copy(update=free) == old

    async def _session(self, session: str, counts: Counts) -> None:
        ordinals = await self._slow_lane.run(self._turns_with_any, session)
        if ordinals:
            counts.update(await self._turn_lane.run(self._sessions.clean, session, ordinals))
            await self._fact_lane.run(self._audit.record, "turns-redacted", session, turns=len(ordinals))

    async def _other(self, path: Path, counts: Counts) -> None:
        if (await self._slow_lane.run(self._cleaned_other, path))[1]:
            counts.update(await self._fact_lane.run(self._redact_other, path))

    def _redact_other(self, path: Path) -> Counts:
        clean, counts = self._cleaned_other(path)
        if counts:
            self._disk.replace_erasing(path, clean)
            self._audit.record("redacted", path.stem)
            self.on_other(path)
        return counts

    def _cleaned_other(self, path: Path) -> tuple[bytes, Counts]:
        """The file without credentials; a header is left alone when it would have other fields or be none."""
        parts = header.split(files.read(path, MAX_FILE_BYTES), path)
        head, fields = parts.text[: parts.body_start], header.parse(parts, path)
        clean_body, counts = self._scan.redacted(parts.body)
        clean_head, more = self._scan.redacted(head)
        if more and _has_fields(clean_head, path, fields.keys()):
            return (clean_head + clean_body).encode(), counts + more
        return (head + clean_body).encode(), counts

    def _turns_with_any(self, session: str) -> frozenset[int]:
        turns = self._sessions.read(session).turns
        return frozenset(turn.ordinal for turn in turns if self._scan.redacted(turn.text)[1])

    def _tell(self, done: int, total: int, counts: Counts, skipped: int) -> None:
        self._progress = RescanProgress(running=True, done=done, total=total, redacted=dict(counts), skipped=skipped)


def _has_fields(head: str, path: Path, names: Set[str]) -> bool:
    try:
        return header.parse(header.split(head.encode(), path), path).keys() == names
    except DamagedFile:
        return False
