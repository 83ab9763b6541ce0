"""What a person looks at in the store: pages of facts, sessions, uses, days and audit lines. Read only.

For the admin page and reports; nothing in the request path asks for any of it.
"""

from datetime import date
from enum import StrEnum

from pydantic import AwareDatetime, Field

from bead.conversations import BlockKind
from bead.facts import FactType, FactVersion, Status, Trust
from bead.wire.store import Model

MAX_PAGE = 200
MAX_NAMES = 5_000


class Order(StrEnum):
    """How a page of facts is sorted."""

    NEWEST = "newest"
    KEY = "key"
    USED = "used"
    """Injected last, first; those that never were come last."""


class BrowseFacts(Model):
    """`POST /v1/views/facts`: current facts that meet every condition that is set."""

    scope: str | None = None
    type: FactType | None = None
    trust: Trust | None = None
    status: Status | None = None
    pinned: bool | None = None
    keys: tuple[str, ...] | None = Field(default=None, max_length=MAX_NAMES)
    """Only these, in this order (what a search has found), whatever `order` says."""
    text: str | None = None
    """Contained in key or body, whatever its case; for when there is no search index."""
    order: Order = Order.NEWEST
    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=50, ge=1, le=MAX_PAGE)


class Count(Model):
    """How many facts have this."""

    name: str
    count: int


class FactPage(Model):
    """One page, and what there is to choose from."""

    facts: tuple[FactVersion, ...]
    total: int
    """Facts that meet the conditions."""
    stored: int
    """Facts there are."""
    scopes: tuple[Count, ...]
    """Every scope with its facts, by name."""


class FindNames(Model):
    """`POST /v1/views/names`: which facts these uids are."""

    uids: tuple[str, ...] = Field(max_length=MAX_NAMES)


class Named(Model):
    """One of them, as it is now."""

    uid: str
    key: str
    version: int


class Names(Model):
    """Those that are stored; a forgotten one is in no list."""

    facts: tuple[Named, ...]


class SessionSummary(Model):
    """One session of the raw log."""

    session: str
    written_at: AwareDatetime
    """Time of the last change of its file."""
    size_bytes: int
    project: str | None
    harness: str | None
    opening: str
    """Begin of the first words of the person; empty when they are not near the begin of the file."""


class SessionPage(Model):
    """`GET /v1/views/sessions?offset=&limit=`, the one written last first."""

    sessions: tuple[SessionSummary, ...]
    total: int


class SentBlock(Model):
    """A block as it went out, byte for byte."""

    conversation: str
    kind: BlockKind
    position: str
    text: str
    fact_uids: tuple[str, ...]
    fact_versions: tuple[int, ...]


class SessionBlocks(Model):
    """`GET /v1/views/blocks/{session}`: what was inserted into the requests of a session, in the order it was."""

    session: str
    blocks: tuple[SentBlock, ...]


class Use(Model):
    """A conversation that was told a fact."""

    conversation: str
    kind: BlockKind
    at: AwareDatetime | None
    """None when the nightly refresh has folded the moment into the fact's file."""
    version: int | None
    used: bool = False
    """Whether the agent's words there held one of the fact's literals afterwards."""


class Uses(Model):
    """`GET /v1/views/uses/{uid}`: where a fact was injected, newest first."""

    uses: tuple[Use, ...]


class Day(Model):
    """What happened on one day, UTC."""

    day: date
    turns: int
    sessions: int
    """Sessions with a turn on that day."""
    learnt: int
    """Facts whose current version was written then."""
    injected: int
    """Blocks with facts; only since the last nightly refresh."""


class Days(Model):
    """`GET /v1/views/days?count=`, oldest first, today last."""

    days: tuple[Day, ...]


class ReportList(Model):
    """`GET /v1/views/reports`: days that have a report of a night, newest first."""

    reports: tuple[str, ...]


class Report(Model):
    """`GET /v1/views/reports/{day}`: ids, reasons and counts, never a value."""

    day: str
    text: str


class AuditLine(Model):
    """One line of the audit log."""

    number: int
    at: str
    verb: str
    what: str
    """uid of a fact, or id of an item, a session, a run."""
    details: dict[str, str | int]


class AuditPage(Model):
    """`GET /v1/views/audit?before=&limit=&what=&verb=`, newest first."""

    lines: tuple[AuditLine, ...]
    total: int
    """Lines of the whole log."""
    next_before: int | None = None
    """Continue with lines before this number; None at the begin."""
