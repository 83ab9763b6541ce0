"""The tables of `index.db`, and what a piece of it is called."""

from dataclasses import dataclass

from bead.text.terms import TOKEN_PUNCTUATION

VERSION = 2

FACT, TURN, EPISODE = "fact", "turn", "episode"

_WORDS = f"fts5(terms, tokenize = \"ascii tokenchars '{TOKEN_PUNCTUATION}'\")"

TABLES = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE facts (key TEXT PRIMARY KEY, hash TEXT, document TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions (session TEXT PRIMARY KEY, hash TEXT) WITHOUT ROWID;
CREATE TABLE episodes (id TEXT PRIMARY KEY, hash TEXT) WITHOUT ROWID;
CREATE TABLE turns (
    session TEXT NOT NULL, ordinal INTEGER NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (session, ordinal)
) WITHOUT ROWID;
CREATE TABLE pieces (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, owner_id TEXT NOT NULL, ordinal INTEGER NOT NULL, source TEXT NOT NULL,
    project TEXT, version INTEGER, trust TEXT, status TEXT, since REAL NOT NULL, until REAL, text TEXT NOT NULL
);
CREATE INDEX pieces_of ON pieces (kind, owner_id, ordinal);
CREATE VIRTUAL TABLE words USING {_WORDS};
CREATE VIRTUAL TABLE older_words USING {_WORDS};
CREATE TABLE excerpts (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, owner_id TEXT NOT NULL, ordinal INTEGER NOT NULL, source TEXT NOT NULL,
    project TEXT NOT NULL, since REAL NOT NULL, text TEXT NOT NULL, terms TEXT NOT NULL
);
CREATE INDEX excerpts_of ON excerpts (kind, owner_id, ordinal);
CREATE INDEX excerpts_in ON excerpts (project, id);
"""

FULL_TEXT = ("words", "older_words")
"""Facts as they are now, turns and episodes; versions of facts that others have superseded."""

ID_OF = {FACT: ("facts", "key"), TURN: ("sessions", "session"), EPISODE: ("episodes", "id")}
"""By kind, the table that keeps its manifest hashes, and the column of its ids."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One ranked piece of text; `rank` is bm25, higher is better."""

    kind: str
    source: str
    project: str | None
    version: int | None
    trust: str | None
    status: str | None
    since: float
    """When it was written, seconds since 1970."""
    until: float | None
    """When another version took its place; None while it stands."""
    text: str
    rank: float

    def __repr__(self) -> str:
        return f"Piece(kind={self.kind!r}, rank={self.rank:.2f})"


PIECE = "kind, source, project, version, trust, status, since, until, text"
"""The columns of a `Piece` but for its rank."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of what was said in a past conversation, or an episode's text, that may be quoted (D5)."""

    id: int
    kind: str
    owner_id: str
    """Session or episode."""
    source: str
    since: float
    text: str
    terms: str
    """Its significant terms, blanks between."""

    def __repr__(self) -> str:
        return f"Excerpt(kind={self.kind!r}, characters={len(self.text)})"
