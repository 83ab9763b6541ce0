"""The raw log: one file a session, `store/raw/YYYY/MM/DD/<session>.md`, appended turn by turn (D5, D12).

A turn is scanned for credentials before it is written, and survives the death of any process when it is acknowledged.
How a turn looks in the file is `turnfile`.
"""

import os
import stat
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from bead.errors import BadRequest, DamagedFile, NotFound
from bead.turns import Role
from bead.wire.store import AppendTurn, ChangeKind, SessionView, TurnAppended, TurnView
from bead_store import files, header, turnfile
from bead_store.changes import Changes
from bead_store.disk import Disk
from bead_store.header import moment_text
from bead_store.names import file_name, word
from bead_store.redaction import Wanted, plan, redacted
from bead_store.scan import Scan
from bead_store.seeking import Asked, Kind, seek

MAX_TURN_CHARS = 16 << 20
MAX_SESSION_BYTES = 256 << 20
_ID_CHARS = 1_000
_DEPTH = 4
"""YYYY/MM/DD/<session>.md"""
_OPEN_SESSIONS = 64
"""Sessions whose turn ids are kept in memory; another one is read from its file first."""


class Foreign(NamedTuple):
    """What somebody else has done to a session's file."""

    session: str
    verb: str


@dataclass
class _Session:
    """What is known about a session's file."""

    path: Path
    size: int
    last_ordinal: int
    ordinals: dict[str, int]
    """By turn id."""
    starts: dict[int, int]
    """Where in the file turns begin that were written since it was opened, by ordinal."""
    ends_with_newline: bool


class RawLog:
    """Sessions of one home; appended to from the turns' lane only."""

    def __init__(
        self,
        folder: Path,
        owner: str,
        *,
        disk: Disk,
        scan: Scan,
        changes: Changes,
        without_forgotten: Callable[[str], str] = str,
    ) -> None:
        self._folder = folder
        self._owner = owner
        self._disk = disk
        self._scan = scan
        self._changes = changes
        self._without_forgotten = without_forgotten
        self._paths: OrderedDict[str, Path] = OrderedDict()
        """By session, the one written last at the end."""
        self._open: OrderedDict[str, _Session] = OrderedDict()
        self._seen: dict[str, int] = {}
        """How each session's file looked when somebody else had written it, see `files.stamp`."""

    def load(self) -> None:
        """Learn which sessions there are; no file is opened."""
        found: list[tuple[int, str, Path]] = []
        for path in self._folder.glob("[0-9]*/[0-9]*/[0-9]*/*.md"):
            state = path.lstat()
            if file_name(path.stem) == path.stem and stat.S_ISREG(state.st_mode):
                found.append((state.st_mtime_ns, path.stem, path))
                self._seen[path.stem] = files.stamp(state)
        self._paths = OrderedDict((session, path) for _, session, path in sorted(found))

    def notice(self, path: Path) -> Foreign | None:
        """Look at a file that somebody else may have changed; what was done to it, told to readers already."""
        name = path.stem
        if file_name(name) != name or path.suffix != ".md" or len(path.relative_to(self._folder).parts) != _DEPTH:
            return None
        known = self._paths.get(name)
        stamp = files.stamp_of(str(path))
        is_ours = self._disk.wrote(stamp) if stamp else known is None
        if is_ours or known not in (None, path) or (stamp and stamp == self._seen.get(name)):
            return None
        self._open.pop(name, None)
        if stamp:
            self._paths[name], self._seen[name] = path, stamp
        else:
            del self._paths[name]
            self._seen.pop(name, None)
        self._changes.publish(ChangeKind.TURN, name, gone=not stamp)
        return Foreign(name, "added" if known is None else "edited" if stamp else "removed")

    def append(self, request: AppendTurn) -> TurnAppended:
        """Write one turn unless its id is there already.

        Raises:
            BadRequest: the time or the size is not one a turn can have.
            Unavailable: the disk refused, or the credential rules are not loaded.
        """
        at = _moment(request.at)
        text = self._without_forgotten(self._scan.clean_turn(request.text)).replace("\0", "\ufffd")
        if len(text) > MAX_TURN_CHARS:
            raise BadRequest(f"a turn has at most {MAX_TURN_CHARS} characters")
        name = file_name(request.session)
        session = self._session(name, at)
        turn_id = word(request.turn_id)
        if turn_id in session.ordinals:
            self._disk.require_health()
            return TurnAppended(source=self._source(session, session.ordinals[turn_id]), already_there=True)
        ordinal = session.last_ordinal + 1
        record = turnfile.Record(
            ordinal=ordinal,
            role=Role(request.role).value,
            at=moment_text(at),
            turn_id=turn_id,
            project=word(request.project) if request.project else None,
            is_complete=request.complete,
            text=text,
        )
        written = turnfile.render(record, word(request.model) if request.model else None)
        if session.size == 0:
            written = self._header(name, at, request) + written
        # A file that was just opened may hold what a person has changed in it: then readers look at all of it.
        is_only_longer = session.last_ordinal == 0 or session.last_ordinal in session.starts
        session.starts[ordinal] = self._write(session, written)
        session.last_ordinal = session.ordinals[turn_id] = ordinal
        self._paths[name] = session.path
        self._paths.move_to_end(name)
        self._changes.publish(ChangeKind.TURN, name, added=ordinal if is_only_longer else None)
        return TurnAppended(source=self._source(session, ordinal))

    def sessions(self, limit: int | None) -> tuple[str, ...]:
        """Known sessions, the one written last first; all of them for None."""
        names = list(self._paths)[::-1]
        return tuple(names[:limit])

    def path_of(self, session: str) -> Path | None:
        """The file of a known session; any thread may ask."""
        return self._paths.get(file_name(session))

    def read(self, session: str, after: int = 0) -> SessionView:
        """The turns of one session with a greater ordinal than `after`; the newest without reading the whole file.

        Raises:
            NotFound: no such session.
            DamagedFile: its file cannot be read.
        """
        name = file_name(session)
        path = self._paths.get(name)
        try:
            data = (self._end(name, path, after) or files.read(path, MAX_SESSION_BYTES)) if path else None
        except FileNotFoundError:
            data = None
        if path is None or data is None:
            raise NotFound("no session has that id")
        file = self._file(path)
        records = (record for record in turnfile.scan(data).records if record.ordinal > after)
        return SessionView(session=name, turns=tuple(_view(name, record, file) for record in records))

    def states(self) -> list[tuple[str, str]]:
        """Each session with a text that differs whenever its file does."""
        found: list[tuple[str, str]] = []
        for session, path in list(self._paths.items()):
            try:
                state = path.stat()
            except FileNotFoundError:
                continue
            found.append((session, f"{state.st_size:x}-{state.st_mtime_ns:x}"))
        return found

    def paths_in(self, folder: Path) -> list[Path]:
        """Session files in `folder` and below that are known, or are there; any thread may ask."""
        known = [path for path in list(self._paths.values()) if path.is_relative_to(folder)]
        return list({*known, *(path for path in folder.rglob("*.md") if path.is_file())})

    def clean(self, session: str, ordinals: frozenset[int]) -> Counter[str]:
        """Replace the credentials in these turns by markers, each counted by its rule; durable on return.

        Raises:
            NotFound, DamagedFile: the file has gone away or cannot be read.
        """
        path = self._paths.get(session)
        try:
            data = files.read(path, MAX_SESSION_BYTES) if path else b""
        except FileNotFoundError:
            data = b""
        if path is None or not data:
            raise NotFound("no session has that id")
        scanned = turnfile.scan(data)
        counts: Counter[str] = Counter()
        pieces: list[bytes] = []
        at = 0
        for record, (start, end) in zip(scanned.records, scanned.spans, strict=True):
            if record.ordinal in ordinals:
                text, found = self._scan.redacted(record.text)
                if found:
                    counts += found
                    pieces += [data[at:start], turnfile.escape(text).encode("utf-8", "replace")]
                    at = end
        if counts:
            self._disk.replace_erasing(path, b"".join([*pieces, data[at:]]))
            self._open.pop(session, None)
            self._changes.publish(ChangeKind.TURN, session)
        return counts

    def find(self, *wanted: Wanted, unread: list[str]) -> Iterator[tuple[str, tuple[frozenset[int], ...]]]:
        """Sessions that hold something of what is wanted, with the turns to redact for each; any thread may ask.

        Turn 0 stands for what is between the turns, or torn. What cannot be read is added to `unread`, with the reason.
        """
        known = list(self._paths.items())
        asked = [Asked(Kind.SESSION, str(path), _size(path), self._file(path)) for _, path in known]
        for found in seek(asked, wanted):
            if found.unread:
                unread.append(found.unread)
            else:
                yield known[found.number][0], found.answers

    def redact(self, session: str, wanted: Wanted) -> int:
        """Overwrite the turns of one session that are wanted, where they lie; durable on return. How many those were.

        Marker lines stay, so a retry of the same turn is still known and is not captured again.
        """
        path = self._paths.get(session)
        try:
            data = files.read(path, MAX_SESSION_BYTES) if path else b""
        except FileNotFoundError:
            data = b""
        if path is None or not data:
            return 0
        found = list(plan(data, self._file(path), wanted))
        whole = turnfile.scan(data).whole_bytes
        if whole == len(data) and all(part.fits for part in found):
            if found:
                self._disk.overwrite(path, [(part.start, turnfile.forgotten(part.size)) for part in found])
        else:  # a text shorter than what is said instead, or a torn end, which was never acknowledged
            self._disk.replace_erasing(path, redacted(data[:whole], found))
            self._open.pop(session, None)
        if found:
            self._changes.publish(ChangeKind.TURN, session)
        return len({part.ordinal for part in found})

    def file_of(self, session: str) -> str | None:
        """How facts name the file of a session; None where there is no such session."""
        path = self._paths.get(file_name(session))
        return self._file(path) if path else None

    def texts(self, session: str, ordinals: frozenset[int]) -> list[str]:
        """What these turns say; nothing where the file cannot be read. Any thread may ask."""
        path = self._paths.get(session)
        try:
            data = files.read(path, MAX_SESSION_BYTES) if path else b""
        except (FileNotFoundError, DamagedFile):
            return []
        return [record.text for record in turnfile.scan(data).records if record.ordinal in ordinals]

    def source_of(self, session: str, ordinal: int) -> str:
        """How a fact names a turn of a known session."""
        return f"{self._file(self._paths[session])}#turn-{ordinal}"

    def strays(self, wanted: Wanted) -> Iterator[Path]:
        """Files among the sessions that are none of bead's, a sync tool's copies say, and hold a value."""
        known = {str(path) for path in self._paths.values()}
        paths = [
            f"{folder}/{name}"
            for folder, _, names in os.walk(self._folder)
            for name in names
            if f"{folder}/{name}" not in known and not name.startswith(files.TEMPORARY_PREFIX)
        ]
        for found in seek([Asked(Kind.TEXT, path, _size(path)) for path in paths], [wanted]):
            if found.answers:
                yield Path(paths[found.number])

    def _end(self, name: str, path: Path, after: int) -> bytes:
        """The file from turn `after` + 1 on; empty when its place is not known or a person has moved it."""
        session = self._open.get(name)
        start = session.starts.get(after + 1) if session else None
        data = files.read(path, MAX_SESSION_BYTES, start) if start else b""
        return data if turnfile.is_turn(data, after + 1) else b""

    def _session(self, name: str, at: datetime) -> _Session:
        path = self._paths.get(name) or self._folder / f"{at:%Y/%m/%d}" / f"{name}.md"
        session = self._open.get(name)
        if session is None or session.path != path or session.size != _size(path):
            session = self._open[name] = self._read_session(path)
        self._open.move_to_end(name)
        while len(self._open) > _OPEN_SESSIONS:
            self._open.popitem(last=False)
        return session

    def _read_session(self, path: Path) -> _Session:
        """Learn a file's turns and cut what a crash left half written at its end, before anything is added (I2)."""
        try:
            data = files.read(path, MAX_SESSION_BYTES)
        except FileNotFoundError:
            data = b""
        scanned = turnfile.scan(data)
        whole = scanned.whole_bytes if scanned.records or b"\n## turn-" in data else _torn_header(data, path)
        if whole < len(data):
            self._disk.truncate(path, whole)
        return _Session(
            path=path,
            size=whole,
            last_ordinal=max((record.ordinal for record in scanned.records), default=0),
            ordinals={record.turn_id: record.ordinal for record in scanned.records},
            starts={},
            ends_with_newline=whole == 0 or data[whole - 1 : whole] == b"\n",
        )

    def _write(self, session: _Session, text: str) -> int:
        """Append `text`; where it begins."""
        data = (text if session.ends_with_newline else f"\n{text}").encode("utf-8", "replace")
        if session.size + len(data) > MAX_SESSION_BYTES:
            raise BadRequest(f"a session's file has at most {MAX_SESSION_BYTES} bytes")
        self._disk.append(session.path, data)
        start = session.size + (not session.ends_with_newline)
        session.size += len(data)
        session.ends_with_newline = True
        return start

    def _header(self, name: str, at: datetime, request: AppendTurn) -> str:
        fields: dict[str, header.Written] = {
            "session": name,
            "owner": self._owner,
            "started": moment_text(at),
            "harness": word(request.harness) if request.harness else None,
            "project": word(request.project) if request.project else None,
            "project_id": request.project_id[:_ID_CHARS] if request.project_id else None,
        }
        return header.render(fields, "").decode("utf-8", "replace")

    def _source(self, session: _Session, ordinal: int) -> str:
        return f"{self._file(session.path)}#turn-{ordinal}"

    def _file(self, path: Path) -> str:
        return f"raw/{path.relative_to(self._folder).as_posix()}"


def _torn_header(data: bytes, path: Path) -> int:
    """0 when `data` is a beginning of ours without any turn, so that it is written anew."""
    if data and not (data.startswith(b"---\nsession:") or b"---\nsession:".startswith(data)) and data.strip(b"\0"):
        raise files.damaged(path, 1, "is no session file of bead's; move it away")
    return 0


def _view(session: str, record: turnfile.Record, file: str) -> TurnView:
    return TurnView(
        session=session,
        ordinal=record.ordinal,
        role=Role(record.role),
        at=_told_moment(record.at),
        project=record.project,
        text=record.text,
        source=f"{file}#turn-{record.ordinal}",
        complete=record.is_complete,
    )


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadRequest("a turn's time must be like 2026-11-05T09:12:00Z") from None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _told_moment(text: str) -> datetime:
    """A time out of a file, the epoch where a person's edit has spoilt it."""
    try:
        return _moment(text)
    except BadRequest:
        return datetime.fromtimestamp(0, UTC)


def _size(path: Path | str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
