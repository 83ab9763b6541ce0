"""The changes of one run: counted, capped, and noted for the report; in a dry run nothing but counted."""

from collections import Counter

from bead.clients.night import NightClient
from bead.errors import BadRequest, HoldsCredential, InvalidKey, Refused, Tombstoned, Unavailable
from bead.facts import FactVersion, Status, TriggerCard
from bead.wire.dream import DreamCard, DreamEpisode, DreamMark, DreamWrite, Propose, ProposeVerb
from bead.wire.episodes import EpisodeVerb
from bead.wire.store import Verb
from bead_dream.asking import LimitReached

_KEPT = frozenset({Verb.CREATED, Verb.SUPERSEDED, Verb.REINFORCED})


class Changes:
    """Everything that a run does to the store goes through here."""

    def __init__(self, nights: NightClient, run: str, most: int, *, is_dry: bool) -> None:
        self._nights = nights
        self._run = run
        self._most = most
        self._is_dry = is_dry
        self.counts: Counter[str] = Counter()
        self.lines: list[str] = []
        """Of the report: ids, verbs and counts."""
        self._made = 0

    async def write(self, request: DreamWrite) -> None:
        """A claim that no rule held back."""
        if not self._may_go_on("written"):
            return
        try:
            answer = await self._nights.write(self._run, request)
        except Refused as refusal:
            self.refused(refusal)
            return
        self._note(str(answer.verb), f"{answer.uid}@v{answer.version}", answer.verb in _KEPT)

    async def propose(self, request: Propose) -> None:
        """Something that a person decides."""
        if not self._may_go_on("queued"):
            return
        try:
            answer = await self._nights.propose(self._run, request)
        except Refused as refusal:
            self.refused(refusal)
            return
        if answer.verb is ProposeVerb.QUEUED:
            self._note(f"queued ({request.kind})", answer.id, True)

    async def widen(self, fact: FactVersion, card: TriggerCard) -> bool:
        """Add to a card; whether it was, or needed not be."""
        if not self._may_go_on("cards widened"):
            return False
        try:
            answer = await self._nights.widen(self._run, DreamCard(key=fact.key, version=fact.version, when=card))
        except (Refused, Unavailable):
            return False
        if answer.verb is Verb.REINFORCED:
            self._note("card widened", f"{answer.uid}@v{answer.version}", True)
        return True

    async def let_sleep(self, fact: FactVersion) -> bool:
        """A fact that nobody has used; whether it sleeps now."""
        if not self._may_go_on("slept"):
            return False
        try:
            request = DreamMark(key=fact.key, version=fact.version, status=Status.DORMANT)
            answer = await self._nights.mark(self._run, request)
        except (Refused, Unavailable):
            return False
        if answer.verb is Verb.REINFORCED:
            self._note("slept", f"{answer.uid}@v{answer.version}", True)
        return answer.verb is Verb.REINFORCED

    async def episode(self, request: DreamEpisode) -> None:
        """What a session was about; not one of the changes that are capped: it is bead's own summary."""
        if self._is_dry:
            self.counts["would be: episodes"] += 1
            return
        try:
            written = await self._nights.episode(self._run, request)
        except Refused as refusal:
            self.refused(refusal)
            return
        if written.verb is not EpisodeVerb.UNCHANGED:
            self.counts["episodes"] += 1
            self.lines.append(f"- episode {written.verb}: {written.id}")

    def refused(self, why: Refused | str) -> None:
        """Something was not done."""
        self.counts[f"refused: {why if isinstance(why, str) else _reason(why)}"] += 1

    def _note(self, verb: str, what: str, is_change: bool) -> None:
        self.counts[verb] += 1
        if is_change:
            self._made += 1
            self.lines.append(f"- {verb}: {what}")

    def _may_go_on(self, would_be: str) -> bool:
        if self._made >= self._most:
            raise LimitReached(f"the run has made the {self._most} changes that dream.max_changes allows")
        if self._is_dry:
            self._made += 1
            self.counts[f"would be: {would_be}"] += 1
        return not self._is_dry


def _reason(refusal: Refused) -> str:
    match refusal:
        case Tombstoned():
            return "forgotten or rejected"
        case HoldsCredential():
            return "holds a credential"
        case InvalidKey() | BadRequest():
            return "not well formed"
        case _:
            return "not taken by the store"
