"""The scheduler's table of jobs: told by its health, kept by the store, shown by the admin page and `bead doctor`."""

from enum import StrEnum

from pydantic import AwareDatetime, Field

from bead.wire.store import Model

MAX_MESSAGE = 300
MAX_JOBS = 50


class JobName(StrEnum):
    """What bead does by itself, in the order in which jobs of one moment run."""

    STATE = "state"
    """Old conversation state is removed."""
    USE = "use"
    """The facts' files learn when they were injected last."""
    DRAIN = "drain"
    """The agents' own memories become drafts; only where bead runs on the host."""
    DREAM = "dream"
    """The night's grooming, decay included."""
    INDEX = "index"
    """The index is compared with the store, and repaired."""
    STORE = "store"
    """Hashes and the audit chain are checked."""
    BACKUP = "backup"
    """The encrypted mirror is brought up to date."""


class JobResult(StrEnum):
    """How a run ended."""

    RUNNING = "running"
    """It runs, or its process died."""
    DONE = "done"
    FAILED = "failed"


class JobRun(Model):
    """One run of a job."""

    due: AwareDatetime
    """The moment of the table that it ran for."""
    started: AwareDatetime
    ended: AwareDatetime | None = None
    result: JobResult = JobResult.RUNNING
    message: str = Field(default="", max_length=MAX_MESSAGE)
    """Counts, or why it failed; never content."""


class Job(Model):
    """One line of the table."""

    name: JobName
    is_on: bool
    at: str
    """Local time, `HH:MM`."""
    since: AwareDatetime
    """Moments before this one are not caught up."""
    last: JobRun | None = None
    next: AwareDatetime | None = None
    """None while it is off."""


class JobTable(Model):
    """`GET /v1/jobs` of the store and of the scheduler."""

    jobs: tuple[Job, ...] = Field(default=(), max_length=MAX_JOBS)


class NoteJob(Model):
    """`POST /v1/jobs/note` of the store: this line in the place of the last one, unless a run has begun since."""

    job: Job
    seen: AwareDatetime | None = None
    """When the last run began that the writer knows of; None: it knows of none."""


class JobNoted(Model):
    """The answer: of two schedulers that begin one job at the same time, one is told no."""

    is_noted: bool
    job: Job
    """The line as it is kept now."""


class ConversationsCleared(Model):
    """`POST /v1/conversations/clear`: how many were older than the setting `store.conversation_days`."""

    conversations: int
