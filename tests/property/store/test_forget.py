"""Any sequence of writes, turns, forgets, moves and crashes keeps what a person was told: I1, I3, I5, I6, I7."""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from prometheus_client import CollectorRegistry, Counter

from bead.errors import Exists, NotFound, Tombstoned
from bead.facts import Trust
from bead.home import Home
from bead.settings import StoreSettings
from bead.tasks import Tasks
from bead.turns import Role
from bead.wire.store import AppendTurn, ConfirmForget, ForgetKeys, Rekey, Verb, WriteFact
from bead_store import disk
from bead_store.app import Store
from bead_store.home import prepare
from bead_store.review import KEY_CONFLICT
from bead_store.scan import NO_EXCEPTIONS
from tests.bytescan import traces
from tests.contract.store.crashes import SCAN, CrashingOs, Ended

KEYS = st.sampled_from(["user/a", "user/a/b", "user/c"])
BODIES = st.sampled_from(["The Zebrafish sleeps.", "A Quokkaling sings", 'Narwhal "gamma" dives'])
TRUSTS = st.sampled_from([Trust.USER_STATED, Trust.AGENT_OBSERVED])
FORGOTTEN = "[forgotten]"


class Known(NamedTuple):
    """One key in the model: its bodies, and the trust of the current one."""

    bodies: tuple[str, ...]
    trust: Trust


class Forgetting(RuleBasedStateMachine):
    """A whole store beside a model of what must be there."""

    @initialize()
    def begin(self) -> None:
        self.root = Path(tempfile.mkdtemp())
        self.home = Home(self.root / "home")
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr("bead_store.app.Scan", lambda *_: SCAN)
        self.runner = asyncio.Runner()
        self.known: dict[str, Known] = {}
        self.queue: set[tuple[str, str]] = set()
        self.turns: list[str] = []
        self.buried: set[str] = set()
        self.store = self.runner.run(self._opened())

    def teardown(self) -> None:
        if hasattr(self, "root"):
            self._leave()
            self.runner.close()
            self.patch.undo()
            shutil.rmtree(self.root)

    async def _opened(self) -> Store:
        writes = Counter("writes", "Writes.", ["verb"], registry=CollectorRegistry())
        store_settings = StoreSettings(watch="off", group_fsync_ms=60_000)
        self.tasks = Tasks()
        store = Store(store_settings, NO_EXCEPTIONS, self.home, "me", prepare(self.home), self.tasks, writes)
        await store.load()
        return store

    def _leave(self) -> None:
        self.runner.run(self.tasks.__aexit__(None, None, None))
        for lane in (self.store.slow_lane, self.store.fact_lane, self.store.turn_lane, self.store.read_lane):
            lane.close()

    @rule()
    def start_anew(self) -> None:
        """As after kill -9: nothing is closed."""
        self._leave()
        self.store = self.runner.run(self._opened())

    @rule(key=KEYS, body=BODIES, trust=TRUSTS)
    def write(self, key: str, body: str, trust: Trust) -> None:
        before = self.known.get(key)
        request = WriteFact(body=body, key=key, trust=trust)
        if trust is Trust.AGENT_OBSERVED and body in self.buried:
            with pytest.raises(Tombstoned):
                self.store.facts.write(request)
            return
        answer = self.store.facts.write(request)
        if before is None:
            assert (answer.verb, answer.version) == (Verb.CREATED, 1)
            self.known[key] = Known((body,), trust)
        elif before.bodies[-1] == body:
            assert answer.verb in (Verb.UNCHANGED, Verb.REINFORCED)
            self.known[key] = before._replace(trust=max(before.trust, trust, key=lambda each: each.rank))
        elif before.trust.outranks(trust):
            assert answer.verb is Verb.QUEUED
            self.queue.add((key, body))
        else:
            assert (answer.verb, answer.replaced) == (Verb.SUPERSEDED, before.bodies[-1])
            self.known[key] = Known((*before.bodies, body), trust)
        if trust is Trust.USER_STATED:
            self.buried.discard(body)

    @rule(body=BODIES)
    def say(self, body: str) -> None:
        text = f"note {len(self.turns)}: {body.upper()}"
        turn = AppendTurn(
            session="s", turn_id=f"t{len(self.turns)}", role=Role.USER, text=text, at="2026-11-05T09:12:00Z"
        )
        self.store.raw.append(turn)
        self.turns.append(f"note {len(self.turns)}: {FORGOTTEN}" if body in self.buried else text)

    @rule(asked=st.sets(KEYS, min_size=1))
    def forget(self, asked: set[str]) -> None:
        if self.known.keys().isdisjoint(asked):
            preview = self.runner.run(self.store.forgetting.preview(ForgetKeys(keys=tuple(asked))))
            assert preview.confirm is None
            return
        receipt = self.runner.run(self._forget(asked))
        assert receipt is not None and set(receipt) == asked & self.known.keys()
        self._expect_forgotten(asked)

    @rule(asked=st.sets(KEYS, min_size=1), calls=st.integers(0, 90))
    def forget_until_a_crash(self, asked: set[str], calls: int) -> None:
        if self.known.keys().isdisjoint(asked):
            return
        self.store.disk.sync_appended()
        with self.patch.context() as patch:
            patch.setattr(disk, "os", CrashingOs(calls))
            try:
                self.runner.run(self._forget(asked))
            except Ended:
                pass
        was_begun = list(self.home.intents.glob("*.json")) or not any(
            (self.home.facts / key / "v1.md").exists() for key in asked
        )
        self.start_anew()
        if was_begun:
            self._expect_forgotten(asked)

    async def _forget(self, asked: set[str]) -> tuple[str, ...]:
        keys = tuple(sorted(asked))
        preview = await self.store.forgetting.preview(ForgetKeys(keys=keys))
        return (await self.store.forgetting.forget(ConfirmForget(keys=keys, confirm=preview.confirm or ""))).forgot

    def _expect_forgotten(self, asked: set[str]) -> None:
        gone = {body for key in asked & self.known.keys() for body in self.known.pop(key).bodies}
        self.buried |= gone
        self.turns = [FORGOTTEN if any(b.upper() in text for b in gone) else text for text in self.turns]
        self.queue = {(key, body) for key, body in self.queue if key not in asked and body not in gone}

    @rule(old=KEYS, new=KEYS)
    def rekey(self, old: str, new: str) -> None:
        if old == new:
            return
        if new in self.known or old not in self.known:
            with pytest.raises(Exists if new in self.known else NotFound):
                self.store.rekeying.rekey(Rekey(old=old, new=new))
            return
        self.store.rekeying.rekey(Rekey(old=old, new=new))
        self.known[new] = self.known.pop(old)
        self.queue = {(new if key == old else key, body) for key, body in self.queue}

    @invariant()
    def everything_is_as_the_model_says(self) -> None:
        if not hasattr(self, "store"):
            return
        store = self.store
        assert sorted(entry.key for entry in store.catalogue.entries()) == sorted(self.known)
        for key, known in self.known.items():
            assert tuple(fact.body for fact in store.catalogue.history(key)) == known.bodies
            assert store.catalogue.current(key).trust is known.trust
        assert {(item.key, item.body) for item in store.review.items() if item.kind != KEY_CONFLICT} == self.queue
        if self.turns:
            assert [turn.text for turn in store.raw.read("s").turns] == self.turns
        for body in self.buried | {body for known in self.known.values() for body in known.bodies}:
            assert store.tombstones.refuses("user/any", f" {body}. ") is (body in self.buried)
        assert store.intents.open == {}

    @invariant()
    def no_byte_is_left_of_what_is_forgotten(self) -> None:
        if not hasattr(self, "store"):
            return
        kept = {body for known in self.known.values() for body in known.bodies} | {body for _, body in self.queue}
        assert not {item.body for item in self.store.review.items()} & (self.buried - kept)
        for body in self.buried - kept:
            if not any(body.upper() in text for text in self.turns):
                assert traces(self.home.root, body) == []


TestForgetting = Forgetting.TestCase
TestForgetting.settings = settings(
    max_examples=80, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
