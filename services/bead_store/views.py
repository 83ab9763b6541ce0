"""What a person looks at: pages of facts, sessions, uses, days and audit lines, put together from the store's parts.

Reads only, in the lane for reads. The columns that are filtered and sorted by are kept beside the catalogue, for a
packed fact costs some microseconds to open; a row is read again when its entry is another one.
"""

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from bead import keys
from bead.errors import DamagedFile, NotFound
from bead.facts import FactType, FactVersion, Status, Trust
from bead.turns import Role
from bead.wire.views import (
    AuditLine,
    AuditPage,
    BrowseFacts,
    Count,
    Day,
    Days,
    FactPage,
    Named,
    Names,
    Order,
    Report,
    ReportList,
    SentBlock,
    SessionBlocks,
    SessionPage,
    SessionSummary,
    Use,
    Uses,
)
from bead_store import files, header, turnfile
from bead_store.audit import lines_of
from bead_store.catalogue import Catalogue
from bead_store.conversations import Conversations
from bead_store.frontmatter import Reader
from bead_store.raw import RawLog
from bead_store.reading import Entry
from bead_store.use import Use as UseLog

MAX_DAYS = 62
_OPENING_CHARS = 160
_HEAD_BYTES = 16 << 10
_MAX_USES = 200
_MAX_COUNTED_BYTES = 32 << 20
"""A larger session counts as one session without turns; reading it would take seconds."""
_TURN_DAY = re.compile(rb"^## turn-\d+ (?:user|assistant) (\d{4}-\d\d-\d\d)T", re.MULTILINE)
_REPORT = re.compile(r"(\d{4}-\d\d-\d\d)\.md\Z")
_MAX_REPORT_BYTES = 4 << 20
_NEVER = datetime(1, 1, 1, tzinfo=UTC)


class _Row(NamedTuple):
    """What is filtered and sorted by."""

    entry: Entry
    uid: str
    scope: str
    type: FactType
    trust: Trust
    status: Status
    pinned: bool
    valid_from: datetime
    last_injected: datetime


class Views:
    """One home's; every method may be called from any thread, one at a time."""

    def __init__(
        self,
        catalogue: Catalogue,
        raw: RawLog,
        conversations: Conversations,
        use: UseLog,
        *,
        raw_folder: Path,
        reports_folder: Path,
        audit_log: Path,
        now: Callable[[], datetime],
    ) -> None:
        self._catalogue = catalogue
        self._raw = raw
        self._conversations = conversations
        self._use = use
        self._raw_folder = raw_folder
        self._reports_folder = reports_folder
        self._audit_log = audit_log
        self._now = now
        self._rows: dict[str, _Row] = {}
        self._counted: dict[Path, tuple[int, int, Counter[str]]] = {}
        """By file: size, time of change, turns by day."""

    # -- facts ---------------------------------------------------------------------------------------------------------

    def facts(self, request: BrowseFacts) -> FactPage:
        """One page of the facts that meet the request."""
        rows = self._current_rows()
        chosen = rows.values() if request.keys is None else [rows[key] for key in request.keys if key in rows]
        found = [row for row in chosen if _meets(row, request)]
        if request.text:
            found = [row for row in found if _contains(row, request.text.casefold())]
        if request.keys is None:
            _sort(found, request.order)
        page = found[request.offset : request.offset + request.limit]
        facts = tuple(fact for row in page if (fact := row.entry.fact))
        scopes = Counter(row.scope for row in rows.values())
        counts = tuple(Count(name=name, count=count) for name, count in sorted(scopes.items()))
        return FactPage(facts=facts, total=len(found), stored=len(rows), scopes=counts)

    def names(self, uids: Iterable[str]) -> Names:
        """Which facts these are."""
        wanted = frozenset(uids)
        rows = (row for row in self._current_rows().values() if row.uid in wanted)
        return Names(facts=tuple(Named(uid=row.uid, key=row.entry.key, version=row.entry.highest) for row in rows))

    def _current_rows(self) -> dict[str, _Row]:
        known, rows = self._rows, {}
        for entry in self._catalogue.entries():
            row = known.get(entry.key)
            if row is None or row.entry is not entry:
                fact = entry.fact
                row = _row(entry, fact) if fact else None
            if row:
                rows[entry.key] = row
        self._rows = rows
        return rows

    # -- sessions and blocks -------------------------------------------------------------------------------------------

    def sessions(self, offset: int, limit: int) -> SessionPage:
        """A page of sessions, the one written last first."""
        names = self._raw.sessions(None)
        found = (self._summary(name) for name in names[offset : offset + limit])
        return SessionPage(sessions=tuple(each for each in found if each), total=len(names))

    def _summary(self, session: str) -> SessionSummary | None:
        path = self._raw.path_of(session)
        if path is None:
            return None
        try:
            state = path.stat()
            with path.open("rb") as file:
                head = file.read(_HEAD_BYTES)
        except OSError:
            return None
        project, harness = _told_by(head, path)
        return SessionSummary(
            session=session,
            written_at=datetime.fromtimestamp(state.st_mtime, UTC),
            size_bytes=state.st_size,
            project=project,
            harness=harness,
            opening=_opening(head),
        )

    def blocks(self, session: str) -> SessionBlocks:
        """What was inserted into this session's requests."""
        names = sorted(name for name in self._conversations.names() if name.startswith(f"{session}-"))
        found: list[SentBlock] = []
        for name in names:
            with contextlib.suppress(DamagedFile):
                found += (
                    SentBlock(
                        conversation=name,
                        kind=block.kind,
                        position=block.position,
                        text=block.text,
                        fact_uids=block.fact_uids,
                        fact_versions=block.fact_versions,
                    )
                    for block in self._conversations.blocks(name)
                )
        return SessionBlocks(session=session, blocks=tuple(found))

    def uses(self, uid: str) -> Uses:
        """Where a fact was injected: moments that are still noted first, then conversations that hold it."""
        noted = [
            Use(conversation=conversation, kind=kind, at=at, version=version)
            for at, conversation, kind, version in self._use.of(uid)
        ]
        dated = {(use.conversation, use.kind) for use in noted}
        held = [
            Use(conversation=name, kind=block.kind, at=None, version=_version_of(uid, block.told))
            for name, block in self._conversations.holding(uid)
            if (name, block.kind) not in dated
        ]
        used = self._use.used(uid)
        found = [*reversed(noted), *held][:_MAX_USES]
        return Uses(uses=tuple(use.model_copy(update={"used": use.conversation in used}) for use in found))

    # -- days and the audit log ----------------------------------------------------------------------------------------

    def days(self, count: int) -> Days:
        """The last `count` days with today, oldest first."""
        today = self._now().date()
        wanted = [today - timedelta(days=back) for back in range(count - 1, -1, -1)]
        turns, sessions = self._turns_by_day(wanted)
        learnt = Counter(row.valid_from.date() for row in self._current_rows().values())
        injected = Counter(at.date() for at in self._use.moments())
        return Days(
            days=tuple(
                Day(day=day, turns=turns[day.isoformat()], sessions=sessions[day.isoformat()],
                    learnt=learnt[day], injected=injected[day])
                for day in wanted
            )
        )  # fmt: skip

    def _turns_by_day(self, days: list[date]) -> tuple[Counter[str], Counter[str]]:
        turns: Counter[str] = Counter()
        sessions: Counter[str] = Counter()
        counted: dict[Path, tuple[int, int, Counter[str]]] = {}
        for day in days:
            for path in self._raw.paths_in(self._raw_folder / f"{day:%Y/%m/%d}"):
                with contextlib.suppress(OSError, DamagedFile):
                    counted[path] = self._count(path)
                    turns += counted[path][2]
                    sessions.update(counted[path][2].keys())
        self._counted = counted
        return turns, sessions

    def _count(self, path: Path) -> tuple[int, int, Counter[str]]:
        state = path.stat()
        known = self._counted.get(path)
        if known and known[:2] == (state.st_size, state.st_mtime_ns):
            return known
        data = files.read(path, _MAX_COUNTED_BYTES) if state.st_size <= _MAX_COUNTED_BYTES else b""
        return state.st_size, state.st_mtime_ns, Counter(found.decode() for found in _TURN_DAY.findall(data))

    def reports(self) -> ReportList:
        """Days with a report, newest first."""
        names = files.names_in(self._reports_folder)
        days = (found[1] for name in names if (found := _REPORT.match(name)))
        return ReportList(reports=tuple(sorted(days, reverse=True)))

    def report(self, day: str) -> Report:
        """One report.

        Raises:
            NotFound: that day has none.
        """
        if not _REPORT.match(f"{day}.md"):
            raise NotFound("a report is named by its day, 2026-11-30")
        try:
            data = files.read(self._reports_folder / f"{day}.md", _MAX_REPORT_BYTES)
        except FileNotFoundError:
            raise NotFound(f"there is no report of {day}") from None
        return Report(day=day, text=data.decode("utf-8", "replace"))

    def audit(self, before: int | None, limit: int, what: str | None, verb: str | None) -> AuditPage:
        """A page of the log, newest first; a line that is no JSON is shown as what it is."""
        lines = list(lines_of(self._audit_log))
        last = len(lines) if before is None else min(before - 1, len(lines))
        found: list[AuditLine] = []
        for number in range(last, 0, -1):
            line = _audit_line(number, lines[number - 1])
            if (what is None or line.what == what) and (verb is None or line.verb == verb):
                if len(found) == limit:
                    return AuditPage(lines=tuple(found), total=len(lines), next_before=found[-1].number)
                found.append(line)
        return AuditPage(lines=tuple(found), total=len(lines))


def _row(entry: Entry, fact: FactVersion) -> _Row:
    return _Row(
        entry, fact.uid, keys.parse(entry.key).scope, fact.type, fact.trust, fact.status, fact.pinned, fact.valid_from,
        fact.last_injected or _NEVER,
    )  # fmt: skip


def _meets(row: _Row, request: BrowseFacts) -> bool:
    return (
        (request.scope is None or row.scope == request.scope)
        and (request.type is None or row.type is request.type)
        and (request.trust is None or row.trust is request.trust)
        and (request.status is None or row.status is request.status)
        and (request.pinned is None or row.pinned is request.pinned)
    )


def _contains(row: _Row, text: str) -> bool:
    fact = row.entry.fact
    return text in row.entry.key or (fact is not None and text in fact.body.casefold())


def _sort(rows: list[_Row], order: Order) -> None:
    rows.sort(key=lambda row: row.entry.key)
    if order is Order.NEWEST:
        rows.sort(key=lambda row: row.valid_from, reverse=True)
    elif order is Order.USED:
        rows.sort(key=lambda row: row.last_injected, reverse=True)


def _told_by(head: bytes, path: Path) -> tuple[str | None, str | None]:
    """Project and harness as the file's header says."""
    try:
        reader = Reader(header.parse(header.split(head, path), path), path)
        return reader.text("project"), reader.text("harness")
    except DamagedFile:
        return None, None


def _opening(head: bytes) -> str:
    for record in _records(head):
        if record.role == Role.USER.value and record.text.strip():
            return " ".join(record.text.split())[:_OPENING_CHARS]
    return ""


def _records(head: bytes) -> Iterator[turnfile.Record]:
    """The turns of a file's begin; a long first one is closed where the begin ends."""
    yield from turnfile.scan(head).records
    if found := re.search(rb"^## turn-(\d+) ", head, re.MULTILINE):
        yield from turnfile.scan(head + b"\n<!-- /turn-%s -->\n" % found[1]).records


def _version_of(uid: str, told: Iterable[str]) -> int | None:
    for each in told:
        name, _, version = each.partition("@")
        if name == uid:
            return int(version) if version.isdigit() else None
    return None


def _audit_line(number: int, text: str) -> AuditLine:
    try:
        fields = json.loads(text)
        at, verb, what = (str(fields.pop(name)) for name in ("at", "verb", "what"))
        fields.pop("prev", None)
    except (ValueError, KeyError, AttributeError, TypeError):
        return AuditLine(number=number, at="", verb="unreadable", what="", details={})
    details = {name: value if isinstance(value, int) else str(value) for name, value in fields.items()}
    return AuditLine(number=number, at=at, verb=verb, what=what, details=details)
