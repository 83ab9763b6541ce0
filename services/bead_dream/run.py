"""One run: the phases in their order, each with its progress, and what is told about it at the end."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from bead.clients.night import NightClient
from bead.clients.store import StoreClient
from bead.errors import Corrupt, ModelTrouble, NotFound
from bead.facts import FactVersion
from bead.scan import Scanner
from bead.settings import DreamSettings
from bead.wire.dream import NightState, Phase
from bead_dream import consolidate, decaying, judging
from bead_dream.asking import Model
from bead_dream.changes import Changes
from bead_dream.extract import MAX_NIGHTS, Reading, unread

PAGE = 1_000
MAX_CARD_SESSIONS = 20
"""Newest sessions whose turns say how common a literal is."""

Progress = Callable[[Phase, int, int], None]


class Run:
    """The work of one night; the store and the index are asked through their clients only."""

    def __init__(
        self,
        settings: DreamSettings,
        *,
        store: StoreClient,
        nights: NightClient,
        model: Model | None,
        scanner: Scanner,
        changes: Changes,
        progress: Progress,
        now: datetime,
    ) -> None:
        self._settings = settings
        self._store = store
        self._nights = nights
        self._model = model
        self._scanner = scanner
        self._changes = changes
        self._progress = progress
        self._now = now
        self.night = NightState()
        self.message: str | None = None
        """What a person should know, though the run went on."""

    async def work(self, phases: Sequence[Phase]) -> None:
        """Every phase that is asked for.

        Raises:
            LimitReached: a limit of the settings; what was done stays.
        """
        self.night = await self._nights.state()
        steps = {
            Phase.CHECK: self._check,
            Phase.EXTRACT: self._extract,
            Phase.CONSOLIDATE: self._consolidate,
            Phase.DECAY: self._decay,
        }
        for phase, step in steps.items():
            if phase in phases:
                self._progress(phase, 0, 0)
                await step()

    def report(self) -> tuple[str, ...]:
        """The lines of the report: what was done by id, and counts by reason."""
        counts = [f"- {words}: {count}" for words, count in sorted(self._changes.counts.items())]
        told = [f"- {self.message}"] if self.message else []
        lines = [*told, "### Counts", "", *(counts or ["- nothing to do"])]
        return (*lines, "", "### Changes", "", *(self._changes.lines or ["- none"]))

    async def _check(self) -> None:
        """What cannot be read, for the report; mending is a person's."""
        health = await self._store.health()
        for words in health.degraded:
            self._changes.lines.append(f"- store: {words}")
        self._progress(Phase.CHECK, 1, 1)

    async def _extract(self) -> None:
        reading = Reading(self._store, self._model, self._scanner, self._changes, self.night, await self._facts())
        sessions = await unread(self._store, self.night)
        await reading.compare_beginnings()
        for done, session in enumerate(sessions):
            self._progress(Phase.EXTRACT, done, len(sessions))
            try:
                await reading.read(session)
            except ModelTrouble as trouble:
                # The model is away: no session is to blame, all stay unread for the next night.
                self.message = f"{len(sessions) - done} sessions were not read: {trouble.message}"
                self._changes.counts["unread: the model was not there"] = len(sessions) - done
                self._model = None
                break
            except (NotFound, Corrupt):
                continue  # forgotten or damaged a moment ago
        self._progress(Phase.EXTRACT, len(sessions), len(sessions))
        failing = sum(state.failures >= MAX_NIGHTS for state in self.night.sessions.values())
        if failing:
            self._changes.counts["sessions given up after five nights"] = failing

    async def _consolidate(self) -> None:
        if self._model is None:
            return
        facts = await self._facts()
        turns = await self._turns()
        self._progress(Phase.CONSOLIDATE, 0, 3)
        try:
            await consolidate.propose_keys(self._model, self._changes, facts, self.night)
            self._progress(Phase.CONSOLIDATE, 1, 3)
            await consolidate.widen_cards(
                self._model,
                self._changes,
                facts,
                self.night,
                lambda scope: turns.get(scope.removeprefix("project/"), turns[""]),
                self._scanner.contains_secret,
            )
            self._progress(Phase.CONSOLIDATE, 2, 3)
            known = self.night.calibration
            learnt = await judging.calibrate(self._model, self._changes, self._store, facts, known)
            self.night = self.night.model_copy(update={"calibration": learnt})
        except ModelTrouble as trouble:
            self.message = f"keys, cards and judgements wait for the next night: {trouble.message}"
        self._progress(Phase.CONSOLIDATE, 3, 3)

    async def _decay(self) -> None:
        facts = await self._facts()
        today = self._now.astimezone(UTC).date()
        self._forget_the_gone(facts)
        for uid in decaying.woken_since(facts, self.night.slept):
            del self.night.slept[uid]
            self.night.woken[uid] = today.isoformat()
        tired = decaying.asleep_today(facts, self.night.woken, today, self._settings.decay_days)
        for done, fact in enumerate(tired):
            self._progress(Phase.DECAY, done, len(tired))
            if await self._changes.let_sleep(fact):
                self.night.slept[fact.uid] = today.isoformat()
                self.night.woken.pop(fact.uid, None)
        self._progress(Phase.DECAY, len(tired), len(tired))

    def _forget_the_gone(self, facts: Sequence[FactVersion]) -> None:
        """What the nights know about facts that are no more (I17)."""
        there = {fact.uid for fact in facts}
        for dates in (self.night.slept, self.night.woken):
            for uid in dates.keys() - there:
                del dates[uid]
        for versions in (self.night.carded, self.night.keyed):
            for uid in versions.keys() - there:
                del versions[uid]
        learnt = self.night.calibration
        kept = {
            "offsets": {uid: offset for uid, offset in learnt.offsets.items() if uid in there},
            "judged": tuple(each for each in learnt.judged if each.uid in there),
        }
        self.night = self.night.model_copy(update={"calibration": learnt.model_copy(update=kept)})

    async def _facts(self) -> list[FactVersion]:
        found: list[FactVersion] = []
        after: str | None = None
        while True:
            page = await self._store.list_facts(after=after, limit=PAGE)
            found += page.facts
            after = page.next_after
            if after is None:
                return found

    async def _turns(self) -> dict[str, list[str]]:
        """Folded texts of the newest sessions' turns by project; all of them under the empty name."""
        by_project: dict[str, list[str]] = {"": []}
        for session in (await self._store.sessions(limit=MAX_CARD_SESSIONS)).sessions:
            try:
                view = await self._store.session(session)
            except (NotFound, Corrupt):
                continue
            for turn in view.turns:
                text = turn.text.casefold()
                by_project[""].append(text)
                if turn.project:
                    by_project.setdefault(turn.project, []).append(text)
        return by_project
