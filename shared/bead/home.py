"""Where things lie below the home (BEAD_HOME). Names only: `bead_store.home` makes and checks them."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Home:
    """Paths of one home; see DESIGN section 3 in `services/README.md`."""

    root: Path

    @property
    def config(self) -> Path:
        """Settings a person edits."""
        return self.root / "config.yaml"

    @property
    def runtime(self) -> Path:
        """Who runs now: ports and pid of `bead up`."""
        return self.root / "runtime.json"

    @property
    def lock(self) -> Path:
        """flock of the one store that may write."""
        return self.root / ".lock"

    @property
    def home_id(self) -> Path:
        """Random name of this home, told by every health answer."""
        return self.root / "home-id"

    @property
    def index_db(self) -> Path:
        """The derived index; delete it at any time."""
        return self.root / "index.db"

    @property
    def use(self) -> Path:
        """When facts were injected, until their files say so."""
        return self.root / "store" / "use.jsonl"

    @property
    def jobs(self) -> Path:
        """What the scheduler ran and runs next."""
        return self.root / "store" / "jobs.json"

    @property
    def traces(self) -> Path:
        """What was injected why, ids and numbers only; one file a day."""
        return self.root / "store" / "traces"

    @property
    def audit_log(self) -> Path:
        """Hash-chained list of what happened, without values."""
        return self.root / "audit.log"

    @property
    def facts(self) -> Path:
        """One directory a key, one file a version."""
        return self.root / "store" / "facts"

    @property
    def raw(self) -> Path:
        """One file a session."""
        return self.root / "store" / "raw"

    @property
    def queue(self) -> Path:
        """Items that wait for a person."""
        return self.root / "store" / "queue"

    @property
    def projects(self) -> Path:
        """Identities, scope names, known directories."""
        return self.root / "store" / "projects.yaml"

    @property
    def episodes(self) -> Path:
        """Summaries of past sessions."""
        return self.root / "store" / "episodes"

    @property
    def reports(self) -> Path:
        """What each night did, ids and counts."""
        return self.root / "store" / "reports"

    @property
    def dream(self) -> Path:
        """What the nights know about each other, and what undoes each of them."""
        return self.root / "store" / "dream"

    @property
    def drafts(self) -> Path:
        """Drained memories that wait for a person."""
        return self.root / "store" / "drafts"

    @property
    def intents(self) -> Path:
        """Operations of several steps that are not finished yet."""
        return self.root / "store" / "intents"

    @property
    def receipts(self) -> Path:
        """What each forget did, ids and counts only."""
        return self.root / "store" / "receipts"

    @property
    def copies(self) -> Path:
        """Exports and backups that a forget must reach."""
        return self.root / "store" / "copies.json"

    @property
    def tombstones(self) -> Path:
        """Keyed hashes of what was forgotten."""
        return self.root / "tombstones.log"

    @property
    def tombstone_key(self) -> Path:
        """The key of those hashes, 32 random bytes."""
        return self.root / "tombstone.key"

    @property
    def recipient(self) -> Path:
        """Whom facts are sealed for, `age1pq1…`."""
        return self.root / "vault" / "recipient.txt"

    @property
    def identity(self) -> Path:
        """What opens them, under the person's passphrase."""
        return self.root / "vault" / "identity.age"

    @property
    def sealed(self) -> Path:
        """One directory a sealed key, one age file a version."""
        return self.root / "vault" / "sealed"

    @property
    def sessions(self) -> Path:
        """Conversation state: what was inserted where."""
        return self.root / "sessions"

    def token(self, name: str) -> Path:
        """A secret of this home: `bus`, `admin` or `proxy`."""
        return self.root / "tokens" / name
