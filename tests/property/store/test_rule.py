"""Any sequence of writes, restarts and crashes keeps the rule: I1, I3, I4 and what is on disk never differ."""

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from bead.facts import FactType, Status, TriggerCard, Trust
from bead.wire.store import Verb, WriteFact
from bead_store.audit import Audit, first_broken_line
from bead_store.catalogue import Catalogue
from bead_store.changes import Changes
from bead_store.disk import Disk
from bead_store.facts import Facts
from bead_store.projects import Projects
from bead_store.review import ReviewFiles
from bead_store.scan import Scan
from bead_store.tombstones import Tombstones

KEYS = st.sampled_from(["user/a", "user/a/b", "project/shop/a"])
BODIES = st.sampled_from(["one", "two", "three: *x*", "---\nkey: user/a\n---"])
TYPES = st.sampled_from([FactType.USER, FactType.FEEDBACK])
CARDS = st.sampled_from([None, TriggerCard(do=("make",)), TriggerCard(say=("ship it?",), unless=("no",))])
SCAN = Scan(())


class Model(NamedTuple):
    """What the current version of a key must be."""

    body: str
    type: FactType
    trust: Trust
    version: int


class Rule(RuleBasedStateMachine):
    """A store's facts beside a model of nine lines."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        (self.root / "queue").mkdir()
        self.time = datetime(2026, 11, 5, tzinfo=UTC)
        self.model: dict[str, Model] = {}
        self.texts: dict[Path, str] = {}
        self.open()

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()

    @rule()
    def open(self) -> None:
        """A new process on the same files, as after kill -9."""
        disk = Disk()
        self.catalogue = Catalogue(self.root / "facts", "me", "home", disk)
        self.review = ReviewFiles(self.root / "queue", disk, "home")
        self.changes = Changes()
        self.facts = Facts(
            self.root / "facts",
            "me",
            disk=disk,
            catalogue=self.catalogue,
            review=self.review,
            projects=Projects(self.root / "projects.yaml", disk, "/nowhere"),
            changes=self.changes,
            audit=Audit(self.root / "audit.log", disk, self.now),
            scan=SCAN,
            tombstones=Tombstones(self.root / "tombstones.log", b"k" * 32, disk=disk, now=self.now),
            now=self.now,
        )
        self.catalogue.load()
        self.facts.finish_interrupted()
        disk.sync_appended()
        self.disk = disk

    @rule()
    def crash_before_the_old_version_is_marked(self) -> None:
        """The crash that the seed names: the new file is there, the old one still says current."""
        for path in self.root.glob("facts/**/v*.md"):
            path.write_text(path.read_text().replace("status: superseded", "status: current"))
        self.open()

    @rule(key=KEYS, body=BODIES, kind=TYPES, trust=st.sampled_from(Trust), card=CARDS)
    def write(self, key: str, body: str, kind: FactType, trust: Trust, card: TriggerCard | None) -> None:
        before, seq = self.model.get(key), self.changes.seq
        answer = self.facts.write(WriteFact(body=body, key=key, type=kind, trust=trust, when=card))
        self.disk.sync_appended()
        match answer.verb:
            case Verb.CREATED:
                assert before is None and answer.version == 1
                self.model[key] = Model(body, kind, trust, 1)
            case Verb.SUPERSEDED:
                assert before is not None and (before.body, before.type) != (body, kind)
                assert not before.trust.outranks(trust), "trust never falls"
                assert (answer.version, answer.replaced) == (before.version + 1, before.body)
                self.model[key] = Model(body, kind, trust, answer.version)
            case Verb.UNCHANGED | Verb.REINFORCED:
                assert before is not None and (before.body, before.type) == (body, kind)
                self.model[key] = before._replace(trust=max(before.trust, trust, key=lambda level: level.rank))
            case Verb.QUEUED:
                assert before is not None and before.trust.outranks(trust)
                assert answer.review_id in {item.id for item in self.review.items()}
        assert (self.changes.seq > seq) == (answer.verb not in (Verb.UNCHANGED, Verb.QUEUED))

    @invariant()
    def files_say_what_the_model_says(self) -> None:
        if not hasattr(self, "model"):
            return
        for key, expected in self.model.items():
            fact = self.catalogue.current(key)
            assert (fact.body, fact.type, fact.trust, fact.version) == expected
            history = self.catalogue.history(key)
            assert [each.version for each in history] == list(range(1, expected.version + 1))
            assert {each.status for each in history[:-1]} <= {Status.SUPERSEDED}
            assert len({each.uid for each in history}) == 1
            for each in history:
                path = self.root / "facts" / key / f"v{each.version}.md"
                assert self.texts.setdefault(path, each.body) == each.body, "a body never changes afterwards"

    @invariant()
    def audit_chain_holds(self) -> None:
        log = self.root / "audit.log" if hasattr(self, "root") else None
        if log and log.exists():
            assert first_broken_line(log.read_text()) is None

    def now(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


TestRule = Rule.TestCase
TestRule.settings = settings(
    max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
