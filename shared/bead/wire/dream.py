"""The night: what the dream service is asked, and what it asks the store to write, note and take back."""

from enum import StrEnum

from pydantic import AwareDatetime, Field

from bead.facts import FactType, Status, TriggerCard
from bead.wire.store import Model, Verb

MAX_REASON = 200


class Phase(StrEnum):
    """The steps of a night, in their order."""

    CHECK = "check"
    EXTRACT = "extract"
    CONSOLIDATE = "consolidate"
    DECAY = "decay"
    REPORT = "report"


class RunState(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    """It came to a limit (changes, spend); what it did stays and can be undone."""
    CANCELLED = "cancelled"
    FAILED = "failed"
    UNDONE = "undone"


# -- the dream service ---------------------------------------------------------------------------------------------


class StartRun(Model):
    """`POST /v1/runs`. Refused with `run-in-progress` while another one is at work."""

    dry_run: bool = False
    """Ask the model and say what would be done; change nothing."""
    phases: tuple[Phase, ...] = ()
    """Only these; default: all."""


class RunView(Model):
    """`GET /v1/runs/current`, and each event of `GET /v1/runs/current/events` (`text/event-stream`, one JSON a line
    `data:`, event name `progress`, at the end `end`)."""

    id: str
    state: RunState
    dry_run: bool
    provider: str
    model: str | None
    phase: Phase
    done: int
    """Steps of this phase that are done."""
    total: int
    """Steps of this phase; 0 while they are not known."""
    started: AwareDatetime
    ended: AwareDatetime | None = None
    counts: dict[str, int] = Field(default_factory=dict)
    """What was done or refused, by word: `written`, `queued`, `refused: not in the cited turn`, `slept`, ..."""
    tokens: int = 0
    """That the model read and wrote for this run."""
    message: str | None = None
    """Why it stopped or failed, or what a person should know; never content."""
    report: str | None = None
    """`reports/<date>.md` once it is written."""
    preview: str | None = None
    """Of a dry run: the report that would have been written."""


class DreamStatus(Model):
    """`GET /v1/status`."""

    provider: str
    model: str | None
    trouble: str | None
    """Why no model can be asked though one is configured."""
    running: RunView | None
    runs: tuple["RunRecord", ...]
    """Newest first."""
    unread_sessions: int
    failing_sessions: int
    """Tried on five nights without success; they are left alone until there is something new in them."""
    spent_today: "Spent"


# -- the store's side ----------------------------------------------------------------------------------------------


class ProposalKind(StrEnum):
    """Why a proposal waits for a person; `kind` of a review item. The store's own: `less-trusted`, `key-conflict`."""

    SUSPICIOUS = "suspicious"
    """It reads like an instruction to a model."""
    FROM_TOOL = "from-tool-output"
    """The turn that it cites drew it from a tool's output or pasted text."""
    UNSUPPORTED = "unsupported"
    """The cited turn holds only part of what it claims."""
    KEY_CONFLICT = "key-conflict"
    CHANGE_USER_STATED = "change-user-stated"
    CORRECTION = "correction"
    """By rule: the person corrected the agent."""
    STANDING_WISH = "standing-wish"
    """By rule: the person said how it shall be from now on."""
    REKEY = "rekey"
    """Accepting moves the fact to `new_key`; its text stays."""
    MERGE = "merge"
    """Accepting writes the text under `key` and lets `others` sleep; their versions stay."""


class DreamWrite(Model):
    """`POST /v1/dream/runs/{run}/facts`: a fact inferred from turns; written with trust `dream_inferred`."""

    key: str
    body: str = Field(min_length=1)
    type: FactType
    sources: tuple[str, ...] = ()
    when: TriggerCard | None = None


class DreamCard(Model):
    """`POST /v1/dream/runs/{run}/cards`: entries added to the trigger card of the current version."""

    key: str
    version: int
    when: TriggerCard


class DreamMark(Model):
    """`POST /v1/dream/runs/{run}/marks`: a fact falls asleep."""

    key: str
    version: int
    status: Status


class Propose(Model):
    """`POST /v1/dream/runs/{run}/proposals`: something that a person decides."""

    kind: ProposalKind
    key: str
    body: str = Field(min_length=1)
    """The proposed text."""
    type: FactType
    sources: tuple[str, ...] = ()
    when: TriggerCard | None = None
    suspicious: bool = False
    """Shown to a curation session by its id only."""
    others: tuple[str, ...] = ()
    new_key: str | None = None
    reason: str | None = Field(default=None, max_length=MAX_REASON)
    """In plain words, without content."""


class ProposeVerb(StrEnum):
    """What became of a proposal."""

    QUEUED = "queued"
    KNOWN = "known"
    """The same waits already."""


class Proposed(Model):
    """Answer to `Propose`."""

    verb: ProposeVerb
    id: str


class DreamEpisode(Model):
    """`POST /v1/dream/runs/{run}/episodes`; see `bead.wire.episodes`."""

    session: str
    project: str | None = None
    created: AwareDatetime | None = None
    situation: str = ""
    action: str = ""
    outcome: str = ""
    lesson: str = ""


class ChangeAnswer(Model):
    """What a change of a run did."""

    verb: Verb
    uid: str
    version: int


class SessionState(Model):
    """How far the night has read one session."""

    read: int = 0
    """Ordinal of the last turn that was read."""
    failures: int = 0
    """Nights in a row in which it could not be read to its end."""
    failed_at: int = 0
    """Ordinal of its last turn when it failed: more turns mean another try."""


class Judgement(Model):
    """Whether one candidate of one turn would have helped, as the model sees it."""

    turn: str
    uid: str
    surplus: float
    """Log odds above the bar as it was fitted."""
    helped: bool


class Calibration(Model):
    """`GET` and `PUT /v1/dream/calibration`: what judged turns taught the gate; see `bead.calibrating`."""

    offsets: dict[str, float] = Field(default_factory=dict)
    """Log odds by uid."""
    shift: float = 0.0
    """Log odds that the bar is moved by."""
    judged: tuple[Judgement, ...] = ()
    """Newest last; what the shift rests on."""
    trace_seq: int = 0
    """Of the last trace that was looked at."""


class NightState(Model):
    """`GET /v1/dream/state`: what the nights know about each other, ids and numbers only."""

    sessions: dict[str, SessionState] = Field(default_factory=dict)
    slept: dict[str, str] = Field(default_factory=dict)
    """Date on which a fact was put to sleep, by uid."""
    woken: dict[str, str] = Field(default_factory=dict)
    """Date on which the night saw that a person had woken it."""
    carded: dict[str, int] = Field(default_factory=dict)
    """Version whose card the model has widened, by uid."""
    keyed: dict[str, int] = Field(default_factory=dict)
    """Version for which the model was asked for a better key, by uid."""
    calibration: Calibration = Calibration()
    """What judged turns taught the gate; goes back with the run that made it."""


class BeginRun(Model):
    """`POST /v1/dream/runs`."""

    provider: str
    model: str | None = None


class RunRecord(Model):
    """`GET /v1/dream/runs`: one run as the store remembers it."""

    id: str
    started: AwareDatetime
    ended: AwareDatetime | None = None
    state: RunState = RunState.RUNNING
    provider: str
    model: str | None = None
    counts: dict[str, int] = Field(default_factory=dict)
    changes: int = 0
    """Changes that an undo would take back."""
    report: str | None = None


class RunList(Model):
    """Newest first; the store keeps the last thirty."""

    runs: tuple[RunRecord, ...]


class FinishRun(Model):
    """`POST /v1/dream/runs/{run}/finish`."""

    state: RunState
    counts: dict[str, int] = Field(default_factory=dict)
    night: NightState | None = None
    """What to remember for the next night; None leaves it as it was."""
    lines: tuple[str, ...] = ()
    """Of the report: ids, reasons and counts, never a value."""


class Undone(Model):
    """`POST /v1/dream/runs/{run}/undo`: what was taken back, and what was left: changed since."""

    id: str
    removed_versions: int
    restored_files: int
    removed_items: int
    episodes: int
    left: tuple[str, ...] = ()
    """`uid@vN` or an id."""


class Spend(Model):
    """`POST /v1/dream/spend`: one call of a model."""

    provider: str
    model: str
    purpose: str
    input_tokens: int
    output_tokens: int
    usd: float | None = None
    """None when no price is configured."""


class Spent(Model):
    """`GET /v1/dream/spend?day=`: what the calls of one UTC day came to."""

    day: str
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    """Calls whose price is not known."""
