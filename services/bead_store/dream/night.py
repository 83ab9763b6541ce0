"""The changes of a dream run: each through the ordinary verbs, each written down so that the run can be taken back.

Called from the facts' lane only. A run writes facts of the lowest trust, adds to trigger cards, lets facts sleep,
queues proposals and writes episodes; it has no verb that deletes or overrules a person (I4). Taking back is `undo`.
"""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from bead import keys
from bead.errors import DamagedFile, NotFound, Refused, Tombstoned, Unavailable
from bead.facts import FactVersion, Status, TriggerCard, Trust
from bead.wire.dream import (
    BeginRun,
    ChangeAnswer,
    DreamCard,
    DreamEpisode,
    DreamMark,
    DreamWrite,
    FinishRun,
    Propose,
    Proposed,
    ProposeVerb,
    RunRecord,
)
from bead.wire.episodes import EpisodeVerb, EpisodeWritten, WriteEpisode
from bead.wire.store import Mark, Verb, WriteAnswer, WriteFact
from bead_store import files
from bead_store.audit import Audit
from bead_store.catalogue import Catalogue
from bead_store.dream.journal import STATE_BEFORE, Done, Journal, episode_name, snapshot_name
from bead_store.dream.notes import Notes
from bead_store.episodes import Episodes
from bead_store.facts import Facts
from bead_store.frontmatter import MAX_FILE_BYTES
from bead_store.names import file_name
from bead_store.review import Proposal, ReviewFiles, stands_for
from bead_store.scan import Scan
from bead_store.tombstones import Tombstones

_EPISODE_ID_CHARS = 120
_PARTS = ("say", "do", "see", "unless")


def harness_of(run: str) -> str:
    """What a fact's file names as its writer."""
    return f"dream/{run}"


class Night:
    """Runs of one home."""

    def __init__(
        self,
        *,
        journal: Journal,
        notes: Notes,
        facts: Facts,
        catalogue: Catalogue,
        review: ReviewFiles,
        episodes: Episodes,
        tombstones: Tombstones,
        scan: Scan,
        audit: Audit,
        now: Callable[[], datetime],
    ) -> None:
        self._journal = journal
        self._notes = notes
        self._facts = facts
        self._catalogue = catalogue
        self._review = review
        self._episodes = episodes
        self._tombstones = tombstones
        self._scan = scan
        self._audit = audit
        self._now = now

    def begin(self, request: BeginRun) -> RunRecord:
        """A run that may change something from now on."""
        record = self._journal.begin(request)
        self._journal.keep(record.id, STATE_BEFORE, self._notes.state_bytes())
        self._audit.record("dream began", record.id)
        return record

    def finish(self, run: str, request: FinishRun) -> RunRecord:
        """The run is over: the report is written, and what the next night must know."""
        self._journal.running(run)
        report = self._notes.report(f"{self._now():%Y-%m-%d}", run, request.lines) if request.lines else None
        if request.night is not None:
            self._notes.keep_state(request.night)
        record = self._journal.finish(run, request, report)
        self._audit.record("dream ended", run, changes=record.changes)
        return record

    def write(self, run: str, request: DreamWrite) -> WriteAnswer:
        """A fact inferred from turns. Less trusted than what is there, it waits for a person."""
        self._journal.running(run)
        key = str(keys.parse(request.key))
        kept = self._keep(run, key)
        waiting = self._review.ids()
        answer = self._facts.write(
            WriteFact(
                body=request.body,
                key=key,
                type=request.type,
                trust=Trust.DREAM_INFERRED,
                when=request.when,
                sources=request.sources,
                harness=harness_of(run),
            )
        )
        self._note_write(run, key, answer, kept)
        self._note_items(run, waiting)
        return answer

    def widen(self, run: str, request: DreamCard) -> ChangeAnswer:
        """Entries added to the card of the current version; none is taken away."""
        self._journal.running(run)
        current = self._current(request.key, request.version)
        kept = self._keep(run, current.key)
        answer = self._facts.write(
            WriteFact(
                body=current.body,
                key=current.key,
                type=current.type,
                trust=Trust.DREAM_INFERRED,
                when=_united(current.when, request.when),
            )
        )
        self._note_write(run, current.key, answer, kept)
        return ChangeAnswer(verb=answer.verb, uid=answer.uid, version=answer.version)

    def mark(self, run: str, request: DreamMark) -> ChangeAnswer:
        """Let a fact sleep; what a person pinned never does."""
        self._journal.running(run)
        if request.status is not Status.DORMANT:
            raise Refused("a dream run only lets facts sleep; a person wakes them with 'bead reinforce'")
        current = self._current(request.key, request.version)
        if current.pinned or current.status is not Status.CURRENT:
            return ChangeAnswer(verb=Verb.UNCHANGED, uid=current.uid, version=current.version)
        self._keep(run, current.key)
        self._facts.mark(Mark(key=current.key, status=request.status))
        self._note_rewritten(run, current)
        return ChangeAnswer(verb=Verb.REINFORCED, uid=current.uid, version=current.version)

    def propose(self, run: str, request: Propose) -> Proposed:
        """Queue something for a person.

        Raises:
            Tombstoned: it was forgotten or rejected.
            Refused: it holds a credential, its key is none, or too many items wait.
        """
        self._journal.running(run)
        proposal = self._proposal(request)
        card = proposal.when
        self._scan.require_clean(
            proposal.body, proposal.key, *card.say, *card.do, *card.see, *card.unless, proposal.new_key or ""
        )
        said = (proposal.body, stands_for(proposal), *card.say, *card.do, *card.see, *card.unless)
        if any(self._tombstones.refuses(proposal.key, text) for text in said):
            raise Tombstoned("this was forgotten or rejected; only the person can state it again")
        waiting = self._review.ids()
        item = self._review.add(proposal, self._now())
        if item in waiting:
            return Proposed(verb=ProposeVerb.KNOWN, id=item)
        self._journal.note(run, Done("queued", item=item))
        self._audit.record("queued", item)
        return Proposed(verb=ProposeVerb.QUEUED, id=item)

    def episode(self, run: str, request: DreamEpisode) -> EpisodeWritten:
        """One episode of a session; a later one of the same session takes its place."""
        self._journal.running(run)
        id = episode_id(request.session)
        before = episode_bytes(self._episodes, id)
        if before is not None:
            self._journal.keep(run, episode_name(id), before)
        written = self._episodes.write(WriteEpisode(id=id, **request.model_dump()))
        if written.verb is EpisodeVerb.UNCHANGED:
            return written
        after = episode_bytes(self._episodes, id) or b""
        self._journal.note(run, Done("episode", item=id, after=mac_of(self._tombstones, after)))
        return written

    def _proposal(self, request: Propose) -> Proposal:
        key = str(keys.parse(request.key))
        return Proposal(
            kind=request.kind,
            key=key,
            body=request.body,
            type=request.type,
            trust=Trust.DREAM_INFERRED,
            when=request.when or TriggerCard(),
            sources=request.sources,
            harness=None,
            suspicious=request.suspicious,
            others=tuple(str(keys.parse(other)) for other in request.others),
            new_key=str(keys.parse(request.new_key)) if request.new_key else None,
            reason=request.reason,
        )

    def _current(self, key: str, version: int) -> FactVersion:
        key = str(keys.parse(key))
        self._catalogue.refresh(key)
        current = self._catalogue.current(key)
        if current.version != version:
            raise Unavailable("the fact has a newer version by now; the next night looks at that one")
        return current

    def _keep(self, run: str, key: str) -> str | None:
        """Keep the current version's file as it is; the name it is kept under when that is new."""
        entry = self._catalogue.refresh(key)
        try:
            current = self._catalogue.current(key)
        except NotFound:
            return None
        assert entry is not None, "what is current has an entry"
        data, _, _ = self._catalogue.read_version(key, current.version)
        name = snapshot_name(current.uid, current.version)
        return name if self._journal.keep(run, name, data) else None

    def _note_write(self, run: str, key: str, answer: WriteAnswer, kept: str | None) -> None:
        match answer.verb:
            case Verb.CREATED | Verb.SUPERSEDED:
                body = self._tombstones.name(self._catalogue.current(key).body)
                self._journal.note(run, Done("wrote", uid=answer.uid, version=answer.version, after=body))
            case Verb.REINFORCED:
                self._note_rewritten(run, self._catalogue.current(key))
            case _ if kept:
                self._journal.let_go(run, kept)

    def _note_rewritten(self, run: str, fact: FactVersion) -> None:
        data, _, _ = self._catalogue.read_version(fact.key, fact.version)
        self._journal.note(
            run, Done("rewrote", uid=fact.uid, version=fact.version, after=mac_of(self._tombstones, data))
        )

    def _note_items(self, run: str, before: frozenset[str]) -> None:
        for item in sorted(self._review.ids() - before):
            self._journal.note(run, Done("queued", item=item))


def episode_id(session: str) -> str:
    """The one episode of a session."""
    return f"e-{file_name(session)}"[:_EPISODE_ID_CHARS]


def episode_bytes(episodes: Episodes, id: str) -> bytes | None:
    """An episode's file as it is; None when there is none that can be read."""
    try:
        return files.read(episode_path(episodes, id), MAX_FILE_BYTES)
    except (NotFound, DamagedFile, FileNotFoundError):
        return None


def episode_path(episodes: Episodes, id: str) -> Path:
    """Where an episode lies.

    Raises:
        NotFound, DamagedFile: there is none that can be read.
    """
    return episodes.folder.parent / episodes.read(id).source


def mac_of(tombstones: Tombstones, data: bytes) -> str:
    """A keyed hash of a file: a plain one would let short facts be guessed."""
    return tombstones.name(data.decode("latin-1"))


def _united(old: TriggerCard, new: TriggerCard) -> TriggerCard:
    return TriggerCard(**{part: tuple(dict.fromkeys(getattr(old, part) + getattr(new, part))) for part in _PARTS})
