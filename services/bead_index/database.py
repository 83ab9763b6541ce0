"""`index.db`: the full-text copy of the store on disk (D13).

Ordinary tables and pre-split terms. Blocking; `Worker` gives it a thread of its own. What belongs into it is
`follow`'s to say, how people's results are ordered is `search`'s. A damaged or foreign file raises `Damaged`.
"""

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from bead.errors import Unavailable
from bead.facts import FactVersion
from bead.keys import parse
from bead.text.terms import significant_terms, terms
from bead.turns import spoken
from bead.wire.episodes import EpisodeView
from bead.wire.store import TurnView
from bead_index.chunks import EXCERPT_CHARACTERS, chunks
from bead_index.pace import unhurried
from bead_index.schema import EPISODE, FACT, FULL_TEXT, ID_OF, PIECE, TABLES, TURN, VERSION, Excerpt, Piece

_BUSY_S = 5.0
_LOG_HEAD_BYTES = 32
_ZEROS_BYTES = 1 << 20


class Damaged(Exception):
    """The file cannot be used; it holds nothing that the store does not, so it is thrown away."""


@dataclass(frozen=True, slots=True)
class Position:
    """How far the copy has followed the store; an empty `epoch` means not at all."""

    epoch: str
    seq: int


class IndexFile:
    """One connection: a writing one makes the file and its tables where they are missing, a reading one never."""

    def __init__(self, path: Path, *, writing: bool) -> None:
        """Open `path`.

        Raises:
            Damaged: no database, another schema, or pages that contradict each other.
            Unavailable: the directory or the disk refuses.
        """
        self._path = path
        with _translated(path):
            # Made here, so that it is private from the start whatever the umask; SQLite gives -wal the same mode.
            os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if writing else 0), 0o600))
            os.chmod(path, 0o600)
            self._db = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
            try:
                self._prepare(writing)
            except BaseException:
                self._db.close()
                raise
            self._inode = path.stat().st_ino

    def __repr__(self) -> str:
        return f"IndexFile({str(self._path)!r})"

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def is_missing(self) -> bool:
        """Whether a person has deleted the file that is open here."""
        return self._inode_now() is None

    def is_replaced(self) -> bool:
        """Whether the path names another file by now."""
        return self._inode_now() not in (None, self._inode)

    def position(self) -> Position:
        """How far this copy has come."""
        with _translated(self._path):
            meta = dict(self._db.execute("SELECT name, value FROM meta"))
            return Position(meta.get("epoch", ""), int(meta.get("seq", 0)))

    def facts(self) -> list[FactVersion]:
        """Every fact it holds.

        Raises:
            Damaged: one of them cannot be read.
        """
        with _translated(self._path):
            rows = self._db.execute("SELECT document FROM facts ORDER BY key").fetchall()
        try:
            return [FactVersion.model_validate_json(document) for (document,) in unhurried(rows)]
        except ValueError:
            raise Damaged from None

    def needs_purge(self) -> bool:
        """Whether something was dropped and `purge` has not finished since."""
        with _translated(self._path):
            return bool(self._db.execute("SELECT 1 FROM meta WHERE name = 'unpurged'").fetchone())

    def hashes(self, kind: str) -> dict[str, str | None]:
        """Ids of `kind` with the manifest hash they had; None where the feed has changed them since."""
        table, column = ID_OF[kind]
        with _translated(self._path):
            return dict(self._db.execute(f"SELECT {column}, hash FROM {table}").fetchall())

    def without_hash(self) -> list[tuple[str, str]]:
        """Kind and id of what the feed has changed since the last manifest."""
        each = (f"SELECT '{kind}', {id} FROM {table} WHERE hash IS NULL" for kind, (table, id) in ID_OF.items())
        with _translated(self._path):
            return self._db.execute(" UNION ALL ".join(each)).fetchall()

    def last_ordinals(self, sessions: Iterable[str]) -> dict[str, int]:
        """The last turn it holds of each of `sessions`; 0 where it holds none."""
        query = "SELECT coalesce(max(ordinal), 0) FROM turns WHERE session = ?"
        with _translated(self._path):
            return {session: self._db.execute(query, (session,)).fetchone()[0] for session in sessions}

    def match(
        self,
        words: Collection[str],
        limit: int,
        *,
        beginnings: bool = False,
        older: bool = False,
        as_of: float | None = None,
    ) -> list[Piece]:
        """The best pieces that hold any of `words` (terms as `terms` makes them), or a word that begins with one.

        `older` asks the versions that others have superseded instead; `as_of` only for what held at that time.
        """
        if not words:
            return []
        expression = " OR ".join('"' + word.replace('"', "") + ('"*' if beginnings else '"') for word in words)
        table = FULL_TEXT[older]
        held = "" if as_of is None else "WHERE since <= :at AND (until IS NULL OR until > :at)"
        # Through SQLite's top-N sorter: two to three times faster than `ORDER BY rank`, the same ranking.
        best = f"SELECT rowid AS id, bm25({table}) AS s FROM {table} WHERE {table} MATCH :expression"
        if as_of is None:
            best += " ORDER BY s, rowid LIMIT :limit"
        query = f"SELECT {PIECE}, -s FROM ({best}) JOIN pieces USING (id) {held} ORDER BY s, id LIMIT :limit"
        with _translated(self._path):
            rows = self._db.execute(query, {"expression": expression, "limit": limit, "at": as_of})
            return [Piece(*row) for row in rows]

    def containing(self, text: str, limit: int) -> list[Piece]:
        """The newest pieces in which `text` stands as it is, inside a word too. Reads every piece: a last resort."""
        query = f"SELECT {PIECE}, 0.0 FROM pieces WHERE until IS NULL AND instr(text, ?) ORDER BY id DESC LIMIT ?"
        with _translated(self._path):
            return [Piece(*row) for row in self._db.execute(query, (text, limit))]

    def holders(self, word: str) -> int:
        """How many pieces hold `word`; for people who ask why something was found."""
        with _translated(self._path):
            query = "SELECT count(*) FROM words WHERE words MATCH ?"
            return int(self._db.execute(query, ('"' + word.replace('"', "") + '"',)).fetchone()[0])

    def excerpt_terms(self, project: str, after: int, limit: int) -> list[tuple[int, str]]:
        """Id and terms of the first `limit` excerpts of `project` whose id is greater than `after`."""
        query = "SELECT id, terms FROM excerpts WHERE project = ? AND id > ? ORDER BY id LIMIT ?"
        with _translated(self._path):
            return self._db.execute(query, (project, after, limit)).fetchall()

    def first_excerpt(self, project: str, most: int) -> int:
        """The id from which on `project` has at most `most` excerpts."""
        query = "SELECT id FROM excerpts WHERE project = ? ORDER BY id DESC LIMIT 1 OFFSET ?"
        with _translated(self._path):
            row = self._db.execute(query, (project, most)).fetchone()
            return int(row[0]) + 1 if row else 0

    def excerpts(self, ids: Sequence[int]) -> dict[int, Excerpt]:
        """Those of these excerpts that are still there."""
        wanted = ",".join("?" * len(ids))
        query = f"SELECT id, kind, owner_id, source, since, text, terms FROM excerpts WHERE id IN ({wanted})"
        with _translated(self._path):
            return {row[0]: Excerpt(*row) for row in self._db.execute(query, ids)}

    # -- changes: call within `transaction` ---------------------------------------------------------------------------

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything in the block, or nothing."""
        with _translated(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def set_position(self, position: Position) -> None:
        """Remember how far this copy has come."""
        rows = (("epoch", position.epoch), ("seq", str(position.seq)))
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)

    def demand_purge(self) -> None:
        """Note, in the transaction that drops text, that its bytes must go; outlives a crash before `purge`."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('unpurged', '1')")

    def set_hash(self, kind: str, id: str, value: str) -> None:
        """Note that what is held of `id` is what the manifest describes by this hash."""
        table, column = ID_OF[kind]
        self._db.execute(f"UPDATE {table} SET hash = ? WHERE {column} = ?", (value, id))

    def put_fact(self, fact: FactVersion, hash: str | None = None, older: Sequence[FactVersion] = ()) -> bool:
        """Hold `fact` as the current version of its key, and `older` (oldest first) as what it has superseded.

        True when a fact or a version that was held is no more: it was forgotten, and its bytes must go.
        """
        held = self._db.execute("SELECT document FROM facts WHERE key = ?", (fact.key,)).fetchone()
        is_another = held is not None and json.loads(held[0])["uid"] != fact.uid
        kept = {fact.version, *(version.version for version in older)}
        lost = held is not None and not kept.issuperset(self._versions(fact.key))
        self.drop_fact(fact.key)
        self._db.execute("INSERT INTO facts VALUES (?, ?, ?)", (fact.key, hash, fact.model_dump_json()))
        self._add_fact(fact, fact.key, None)
        for version, newer in zip(older, (*older, fact)[1:], strict=True):
            self._add_fact(version, version.id, newer.valid_from.timestamp())
        return is_another or lost

    def put_episode(self, episode: EpisodeView, hash: str | None = None) -> bool:
        """Hold `episode`; True when another text was held under its id."""
        went = self.drop_episode(episode.id)
        self._db.execute("INSERT INTO episodes VALUES (?, ?)", (episode.id, hash))
        since = episode.created.timestamp()
        for text in chunks(episode.body):
            row = (EPISODE, episode.id, 0, episode.source, episode.project, None, None, None, since, None, text)
            self._add_piece(row, text)
        for text in chunks(episode.body, EXCERPT_CHARACTERS):
            self._add_excerpt((EPISODE, episode.id, 0, episode.source, episode.project or "", since), text)
        return went

    def drop_episode(self, id: str) -> bool:
        """Hold nothing of an episode; True when there was something."""
        self._drop_pieces("kind = ? AND owner_id = ?", (EPISODE, id))
        return self._db.execute("DELETE FROM episodes WHERE id = ?", (id,)).rowcount > 0

    def drop_fact(self, key: str) -> bool:
        """Hold nothing under `key`; True when there was something."""
        self._drop_pieces("kind = ? AND owner_id = ?", (FACT, key))
        return self._db.execute("DELETE FROM facts WHERE key = ?", (key,)).rowcount > 0

    def put_session(self, session: str, turns: Iterable[TurnView], hash: str | None = None, after: int = 0) -> bool:
        """Of turns later than `after` hold exactly these; known ones are left alone. True when text went."""
        newer = "SELECT ordinal, digest FROM turns WHERE session = ? AND ordinal > ?"
        known = dict(self._db.execute(newer, (session, after)))
        self._db.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?)", (session, hash))
        went = False
        for turn in turns:
            digest = _digest(turn)
            before = known.pop(turn.ordinal, None)
            if before != digest:
                went |= before is not None
                self._put_turn(turn, digest)
        for ordinal in known:
            self._drop_turn(session, ordinal)
        return went or bool(known)

    def drop_session(self, session: str) -> bool:
        """Hold nothing of `session`; True when there was something."""
        self._drop_pieces("kind = ? AND owner_id = ?", (TURN, session))
        self._db.execute("DELETE FROM turns WHERE session = ?", (session,))
        return self._db.execute("DELETE FROM sessions WHERE session = ?", (session,)).rowcount > 0

    def purge(self) -> None:
        """Leave no byte of what was dropped: full-text segments merged, freed pages zeroed, the log emptied (I6).

        Raises:
            Unavailable: a reader held the log for five seconds; nothing may be reported as gone yet.
        """
        with _translated(self._path):
            # SQLite before 3.42 has no FTS5 secure-delete, and a table once written with it is unreadable there.
            for table in FULL_TEXT:
                self._db.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
            deadline = time.monotonic() + _BUSY_S
            for step in ("RESTART", "TRUNCATE"):
                while self._db.execute(f"PRAGMA wal_checkpoint({step})").fetchone()[0]:
                    if time.monotonic() > deadline:
                        raise Unavailable(f"{self._path} is being read, so what was forgotten is still in its log")
                    time.sleep(0.01)
                if step == "RESTART":
                    self._zero_log()
            self._db.execute("DELETE FROM meta WHERE name = 'unpurged'")

    # -- inside -------------------------------------------------------------------------------------------------------

    def _zero_log(self) -> None:
        """Overwrite what the log holds: cutting it gives its blocks back with the text in them.

        Everything in it is in the database by now and nobody reads it; only this thread writes. Its head stays.
        """
        try:
            descriptor = os.open(f"{self._path}-wal", os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return
        try:
            at, size = _LOG_HEAD_BYTES, os.fstat(descriptor).st_size
            while at < size:
                at += os.pwrite(descriptor, bytes(min(size - at, _ZEROS_BYTES)), at)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _inode_now(self) -> int | None:
        try:
            return self._path.stat().st_ino
        except OSError:
            return None

    def _prepare(self, writing: bool) -> None:
        # Per connection, and off by default in some builds: deleted text must not stay in free pages.
        self._db.execute("PRAGMA secure_delete = ON")
        self._db.execute("PRAGMA temp_store = MEMORY")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        schema = self._db.execute("PRAGMA user_version").fetchone()[0]
        if schema == VERSION:
            if writing and self._db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise Damaged
        elif schema or self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise Damaged
        elif writing:
            self._db.executescript(f"BEGIN; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
        else:
            raise Unavailable(f"{self._path} is being built; try again soon")

    def _put_turn(self, turn: TurnView, digest: bytes) -> None:
        self._drop_turn(turn.session, turn.ordinal)
        self._db.execute("INSERT INTO turns VALUES (?, ?, ?)", (turn.session, turn.ordinal, digest))
        since = turn.at.timestamp()
        for text in chunks(turn.text):
            row = (TURN, turn.session, turn.ordinal, turn.source, turn.project, None, None, None, since, None, text)
            self._add_piece(row, text)
        for text in chunks(spoken(turn.text), EXCERPT_CHARACTERS):
            self._add_excerpt((TURN, turn.session, turn.ordinal, turn.source, turn.project or "", since), text)

    def _drop_turn(self, session: str, ordinal: int) -> None:
        self._drop_pieces("kind = ? AND owner_id = ? AND ordinal = ?", (TURN, session, ordinal))
        self._db.execute("DELETE FROM turns WHERE session = ? AND ordinal = ?", (session, ordinal))

    def _versions(self, key: str) -> list[int]:
        query = "SELECT version FROM pieces WHERE kind = ? AND owner_id = ?"
        return [version for (version,) in self._db.execute(query, (FACT, key))]

    def _add_fact(self, fact: FactVersion, source: str, until: float | None) -> None:
        scope, name = parse(fact.key)
        project = scope.removeprefix("project/") if scope.startswith("project/") else None
        since = fact.valid_from.timestamp()
        marks = (fact.trust.value, fact.status.value, since, until)
        row = (FACT, fact.key, 0, source, project, fact.version, *marks, fact.body)
        self._add_piece(row, f"{fact.body}\n{name.replace('/', ' ')}", FULL_TEXT[until is not None])

    def _add_piece(self, row: tuple[str | float | None, ...], indexed: str, table: str = FULL_TEXT[0]) -> None:
        insert = "INSERT INTO pieces VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        rowid = self._db.execute(insert, row).lastrowid
        self._db.execute(f"INSERT INTO {table} (rowid, terms) VALUES (?, ?)", (rowid, " ".join(terms(indexed))))

    def _add_excerpt(self, place: tuple[str | float, ...], text: str) -> None:
        if found := significant_terms(text):
            insert = "INSERT INTO excerpts VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)"
            self._db.execute(insert, (*place, text, " ".join(found)))

    def _drop_pieces(self, where: str, values: tuple[str | int, ...]) -> None:
        for table in FULL_TEXT:
            self._db.execute(f"DELETE FROM {table} WHERE rowid IN (SELECT id FROM pieces WHERE {where})", values)
        self._db.execute(f"DELETE FROM pieces WHERE {where}", values)
        self._db.execute(f"DELETE FROM excerpts WHERE {where}", values)


def throw_away(path: Path) -> None:
    """Remove the index file and what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _digest(turn: TurnView) -> bytes:
    shown = "\0".join((turn.project or "", turn.at.isoformat(), turn.text))
    return blake2b(shown.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@contextlib.contextmanager
def _translated(path: Path) -> Iterator[None]:
    """SQLite's errors as ours; their texts may hold SQL with a person's words, so they go no further."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT):
            raise Damaged from None
        raise Unavailable(f"{path} cannot be used ({error.sqlite_errorname})") from None
    except sqlite3.DatabaseError:
        raise Damaged from None
    except OSError as error:
        raise Unavailable(f"{path} cannot be used ({error.strerror})") from None
