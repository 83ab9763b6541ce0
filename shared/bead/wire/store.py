"""What the store is asked and what it answers."""

from enum import StrEnum

import msgspec
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from bead.conversations import Block, Conversation
from bead.facts import FactType, FactVersion, Sensitivity, Status, TriggerCard, Trust
from bead.turns import Role


class Model(BaseModel):
    """A request or answer: unknown fields are an error, so that a typo is never silently ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Verb(StrEnum):
    """What a write did; true of what was on disk, seen under the same lock (I3)."""

    CREATED = "created"
    SUPERSEDED = "superseded"
    UNCHANGED = "unchanged"
    REINFORCED = "reinforced"
    QUEUED = "queued"


AGENT_FACTS_A_SESSION = 20
"""New statements that an agent makes in one session; what it states beyond that waits for a person."""


class WriteFact(Model):
    """`POST /v1/facts`. Without `key` one is derived from the words of `body` (D2)."""

    body: str = Field(min_length=1)
    key: str | None = None
    """A whole key, or a name that is put into the scope of `project` (else `user`)."""
    type: FactType | None = None
    """Default: `project` in a project's scope, else `user`."""
    trust: Trust = Trust.AGENT_OBSERVED
    project: str | None = None
    """Scope name of the active project, as `POST /v1/projects/resolve` gave it: `shop`, without `project/`."""
    when: TriggerCard | None = None
    sensitivity: Sensitivity = Sensitivity.PRIVATE
    sources: tuple[str, ...] = ()
    harness: str | None = None
    review: bool = False
    """Let it wait for a person though nothing is in its way: another program kept it. The person's own never waits."""
    session: str | None = Field(default=None, max_length=200)
    """Which agent's session this was stated in, by any name; only counted (`AGENT_FACTS_A_SESSION`), kept nowhere."""


class WriteAnswer(Model):
    """The honest verb, and the text that was replaced."""

    verb: Verb
    key: str
    uid: str
    version: int
    """Version that is current now; 0 when there is none, which only a first statement that waits leaves so."""
    replaced: str | None = None
    review_id: str | None = None
    """The item that waits for a person: the statement itself when `verb` is `queued`, else see `conflicts_with`."""
    reason: str | None = None
    """Why it waits when its session has stated too much already; None for every other reason."""
    conflicts_with: str | None = None
    """Key of another fact of this scope that says something else about the same; only one of them is injected (D2)."""


class FactList(Model):
    """`GET /v1/facts?scope=&after=&limit=`: current facts by key."""

    facts: tuple[FactVersion, ...]
    next_after: str | None = None
    """Key to continue after; None at the end."""


class History(Model):
    """`GET /v1/facts/{key}/history`: every readable version, oldest first."""

    key: str
    versions: tuple[FactVersion, ...]


class Mark(Model):
    """`POST /v1/marks`: what a person or the scheduler says about a fact without changing its text."""

    key: str
    pinned: bool | None = None
    status: Status | None = None
    when: TriggerCard | None = None
    """The whole trigger card in place of the one it had; an empty one takes it away."""


class ResolveProject(Model):
    """`POST /v1/projects/resolve`. A caller that cannot look into the directory leaves the identities out."""

    directory: str | None = None
    identities: tuple[str, ...] = Field(default=(), max_length=20)
    """All that the repository has, in any order, see `bead.projects`."""
    identity: str | None = None
    """One of them, for a caller that knows only one."""
    name: str | None = None


class Project(Model):
    """A project's place in the store: facts are under `project/<name>/`."""

    name: str
    identity: str
    """The strongest that is known."""


class ReviewItem(Model):
    """Something a person must decide."""

    id: str
    kind: str
    key: str
    body: str
    """The proposed text."""
    trust: Trust
    created: AwareDatetime
    type: FactType | None = None
    sources: tuple[str, ...] = ()
    """Turns it was drawn from."""
    suspicious: bool = False
    """It reads like an instruction to a model: show it to a person as data, to a model by its id only (I14)."""
    others: tuple[str, ...] = ()
    """Of a `merge`: keys whose facts fall asleep when it is accepted."""
    new_key: str | None = None
    """Of a `rekey`: where the fact goes when it is accepted."""
    reason: str | None = None
    """Why it waits, in plain words."""
    harness: str | None = None
    """The agent whose statement it is."""


class ReviewQueue(Model):
    """`GET /v1/queue`, oldest first."""

    items: tuple[ReviewItem, ...]


class Decided(Model):
    """`POST /v1/queue/{id}/accept` and `/reject`: what became of an item; the same again for the same question."""

    id: str
    decision: str
    """`accepted` or `rejected`."""
    key: str
    written: WriteAnswer | None = None
    """What the write of an accepted value did."""


class Rekey(Model):
    """`POST /v1/rekey`: move a fact with its whole history to another key."""

    old: str
    new: str


class Rekeyed(Model):
    """The fact is under `key` now, with the uid it had."""

    key: str
    uid: str
    versions: int


MAX_FORGET_KEYS = 1_000


class ForgetKeys(Model):
    """`POST /v1/forget/preview`. Whole keys; nothing below them is meant."""

    keys: tuple[str, ...] = Field(min_length=1, max_length=MAX_FORGET_KEYS)


class ForgetHit(Model):
    """What there is of one key."""

    key: str
    uid: str
    project: str | None
    """Scope name of the project that the key belongs to."""
    versions: int
    turns: int
    """Turns of the raw log that are its sources or hold the text of a version."""
    blocks: int
    """Blocks in conversations that carry it."""
    queue: int
    """Items of the review queue, drafts and episodes that are about it or hold its text."""
    also_in: tuple[str, ...] = ()
    """Other keys whose current text holds it; they stay."""


class ForgetPreview(Model):
    """What would be forgotten, and the word that confirms exactly this list once, within ten minutes."""

    hits: tuple[ForgetHit, ...]
    missing: tuple[str, ...]
    """Keys under which nothing is stored."""
    turns: int
    """Distinct turns over all hits."""
    confirm: str | None
    """None when there is nothing to forget."""
    expires_s: int


class ConfirmForget(Model):
    """`POST /v1/forget`: the keys of a preview and its word."""

    keys: tuple[str, ...] = Field(min_length=1, max_length=MAX_FORGET_KEYS)
    confirm: str


class IndexState(StrEnum):
    """Whether the search index has dropped it too."""

    APPLIED = "applied"
    PENDING = "pending"
    """Not yet; it is taken out before the index answers again."""
    NO_INDEX = "no index"


class ForgetPlace(Model):
    """One place that was looked at."""

    place: str
    looked_at: int
    unit: str
    """What `looked_at` counts: sessions, files."""
    removed: int
    """Turns, blocks, files; for tombstones and the audit log the lines that were added."""
    how: str
    """What was done there."""
    left: tuple[str, ...] = ()
    """What still holds it and why; a person has to look."""


class ForgetReceipt(Model):
    """What was done. `level` 2: bytes were overwritten where they lay, as far as the file system keeps its word."""

    forgot: tuple[str, ...]
    missing: tuple[str, ...]
    level: int
    file_system: str
    places: tuple[ForgetPlace, ...]
    index: IndexState
    id: str = ""
    """Names the stored receipt, which holds ids and counts only."""


class Damage(Model):
    """A file that needs a person, or one that was left alone."""

    path: str
    line: int | None
    reason: str


class DamageReport(Model):
    """`GET /v1/damage`: files that cannot be read, and notes about files that are none of bead's."""

    files: tuple[Damage, ...]
    notes: tuple[Damage, ...]


class AuditReport(Model):
    """`GET /v1/audit/verify`: whether each line of the audit log names the hash of the line before it."""

    lines: int
    """Lines there are."""
    first_bad_line: int | None
    """Number of the first line that was changed, or follows one that was removed or added; None when all hold."""


class UseRefreshed(Model):
    """`POST /v1/use/refresh`: what was noted in the facts' files."""

    lines: int
    """Injected blocks since the last time."""
    facts: int
    """Facts whose file says a later `last_injected` now."""


class RescanProgress(Model):
    """`GET /v1/scan/rescan`, and the answer of the `POST` that starts one: how far it is, and what it has replaced."""

    running: bool
    done: int
    """Facts and sessions looked at."""
    total: int
    redacted: dict[str, int]
    """Replaced credentials by rule."""
    skipped: int
    """Facts and sessions that could not be read."""


class ChangeKind(StrEnum):
    """What a change is about."""

    FACT = "fact"
    TURN = "turn"
    CONVERSATION = "conversation"
    EPISODE = "episode"
    CALIBRATION = "calibration"
    """What the nights have taught the gate; `id` is always `gate`."""


class Change(Model):
    """One step of the change feed. The reader fetches what it names; the feed itself carries no text."""

    seq: int
    kind: ChangeKind
    id: str
    """A key, a session, a conversation's or an episode's id."""
    gone: bool = False
    first: int | None = None
    """Of turns: those before this ordinal are what a reader holds already; None when any may have changed."""


class ChangePage(Model):
    """`GET /v1/changes?epoch=&after=&wait_s=`. Another `epoch` than the reader's means: compare the manifest."""

    epoch: str
    seq: int
    """Last sequence number there is."""
    changes: tuple[Change, ...]


class Acknowledge(Model):
    """`POST /v1/changes/ack`: `consumer` has applied everything up to `seq`."""

    consumer: str
    epoch: str
    seq: int


class ManifestEntry(Model):
    """What a derived copy must hold: a key, session or episode, and a hash of everything about it."""

    kind: ChangeKind
    id: str
    hash: str


class Manifest(Model):
    """`GET /v1/manifest`, taken at `seq`."""

    epoch: str
    seq: int
    entries: tuple[ManifestEntry, ...]


class TurnView(Model):
    """One turn as the raw log holds it."""

    session: str
    ordinal: int
    role: Role
    at: AwareDatetime
    project: str | None
    text: str
    source: str
    """Where it lies: `raw/YYYY/MM/DD/<session>.md#turn-N`."""
    complete: bool = True


class SessionView(Model):
    """`GET /v1/sessions/{id}?after=`: the turns of one session after that ordinal, in order."""

    session: str
    turns: tuple[TurnView, ...]


class SessionList(Model):
    """`GET /v1/sessions`, newest first."""

    sessions: tuple[str, ...]


# -- hot routes: one JSON document each way, coded by msgspec ------------------------------------------------------


class AppendTurn(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /v1/turns`. The same `turn_id` in a session is written once, so a retry captures nothing twice."""

    session: str
    turn_id: str
    role: Role
    text: str
    at: str
    """RFC 3339, UTC."""
    project: str | None = None
    project_id: str | None = None
    harness: str | None = None
    model: str | None = None
    complete: bool = True
    """False when the client or the upstream left in the middle."""


class TurnAppended(msgspec.Struct, frozen=True):
    """Where the turn lies: `raw/YYYY/MM/DD/<session>.md#turn-N`."""

    source: str
    already_there: bool = False


class FindConversation(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /v1/conversations/find`: what is pinned to these positions (oldest first) for this session's thread."""

    owner: str
    project: str
    session: str
    thread: str
    positions: tuple[str, ...]


class CommitBlocks(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /v1/conversations/commit`: keep `blocks` if the conversation still has `generation` (0: it is new)."""

    conversation: str
    generation: int
    owner: str
    project: str
    blocks: tuple[Block, ...]


ConversationAnswer = Conversation
