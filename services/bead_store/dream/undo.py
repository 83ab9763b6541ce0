"""Takes a dream run back: the facts' files are byte for byte what they were, its proposals and episodes are gone.

Under an intent, so that what a crash interrupts is finished by the next start; every step may be done twice. What
somebody has changed since the run stays as it is and is named in the answer. Called from the facts' lane only.
"""

from pathlib import Path

from bead.errors import DamagedFile, Refused
from bead.facts import FactVersion, Status, Trust
from bead.wire.dream import RunRecord, RunState, Undone
from bead.wire.store import ChangeKind
from bead_store import files, layout
from bead_store.audit import Audit
from bead_store.catalogue import Catalogue
from bead_store.changes import Changes
from bead_store.disk import Disk
from bead_store.dream.journal import STATE_BEFORE, Done, Journal, Snapshot, episode_name
from bead_store.dream.night import episode_bytes, episode_path, harness_of, mac_of
from bead_store.dream.notes import Notes
from bead_store.episodes import Episodes
from bead_store.facts import Facts
from bead_store.frontmatter import MAX_FILE_BYTES, Rewrite, rewrite_fact
from bead_store.intents import Intent, Intents, Operation
from bead_store.review import ReviewFiles
from bead_store.tombstones import Tombstones


class Undo:
    """Takes back runs of one home."""

    def __init__(
        self,
        folder: Path,
        *,
        journal: Journal,
        notes: Notes,
        facts: Facts,
        catalogue: Catalogue,
        review: ReviewFiles,
        episodes: Episodes,
        tombstones: Tombstones,
        intents: Intents,
        disk: Disk,
        changes: Changes,
        audit: Audit,
    ) -> None:
        self._folder = folder
        self._journal = journal
        self._notes = notes
        self._facts = facts
        self._catalogue = catalogue
        self._review = review
        self._episodes = episodes
        self._tombstones = tombstones
        self._intents = intents
        self._disk = disk
        self._changes = changes
        self._audit = audit

    def undo(self, run: str) -> Undone:
        """Take it back; durable when this returns.

        Raises:
            NotFound: no such run is kept.
            Refused: it is still at work, or was taken back already.
        """
        record = self._journal.record(run)
        if record.state is RunState.RUNNING:
            raise Refused("this dream run is still at work; cancel it first")
        if record.state is RunState.UNDONE:
            raise Refused("this dream run was undone already")
        intent = self._intents.begin(Intent(Operation.UNDO, item=run))
        undone = self._take_back(record)
        self._intents.finish(intent)
        return undone

    def finish(self, id: str, intent: Intent) -> None:
        """After a crash: go on."""
        assert intent.item is not None, "an undo is about a run"
        record = self._journal.record(intent.item)
        if record.state is not RunState.UNDONE:
            self._take_back(record)
        self._intents.finish(id)

    def _take_back(self, record: RunRecord) -> Undone:
        run = record.id
        self._facts.mark_behind()
        left: list[str] = []
        removed = self._remove_versions(run, left)
        restored = self._restore_files(run, left)
        items = self._remove_items(run)
        episodes = self._restore_episodes(run, left)
        self._restore_state(run, left)
        self._journal.save(record.model_copy(update={"state": RunState.UNDONE}))
        self._audit.record("dream undone", run, versions=removed, files=restored)
        return Undone(
            id=run,
            removed_versions=removed,
            restored_files=restored,
            removed_items=items,
            episodes=episodes,
            left=tuple(left),
        )

    def _remove_versions(self, run: str, left: list[str]) -> int:
        """Versions that the run wrote and that are still what it wrote, the newest of their key.

        Found by what their files say, not by the journal: a crash may have come between the two.
        """
        wrote = {(each.uid, each.version): each.after for each in self._journal.done(run) if each.op == "wrote"}
        current = {fact.uid: fact for entry in self._catalogue.entries() if (fact := entry.fact)}
        removed = 0
        for known in [fact for fact in current.values() if fact.harness == harness_of(run)]:
            self._catalogue.refresh(known.key)  # an edit of a moment ago counts
            fact = self._catalogue.current(known.key)
            body = wrote.pop((fact.uid, fact.version), None)
            is_as_written = body in (None, self._tombstones.name(fact.body)) and fact.trust is Trust.DREAM_INFERRED
            if is_as_written and not fact.pinned:
                self._remove_version(fact)
                removed += 1
            else:
                left.append(f"{fact.uid}@v{fact.version}")
        # A later version stands on them, or they are gone.
        left += [f"{uid}@v{version}" for uid, version in wrote if uid in current and current[uid].version > version]
        return removed

    def _remove_version(self, fact: FactVersion) -> None:
        self._disk.remove(layout.version_path(self._folder, fact.key, fact.version))
        self._disk.remove_empty(layout.directory_of(self._folder, fact.key), self._folder)
        entry = self._catalogue.refresh(fact.key)
        self._changes.publish(ChangeKind.FACT, fact.key, gone=entry is None)
        self._audit.record("removed", fact.uid, version=fact.version)

    def _restore_files(self, run: str, left: list[str]) -> int:
        """Files that the run has rewritten, or that a version of it had superseded."""
        after = {(done.uid, done.version): done.after for done in self._journal.done(run) if done.op == "rewrote"}
        restored = 0
        for snapshot in self._journal.snapshots(run):
            for key, _ in self._catalogue.keys_of({snapshot.uid}):
                outcome = self._restore(key, snapshot, after.get((snapshot.uid, snapshot.version)))
                restored += outcome is True
                if outcome is False:
                    left.append(f"{snapshot.uid}@v{snapshot.version}")
        return restored

    def _restore(self, key: str, snapshot: Snapshot, after: str | None) -> bool | None:
        """Whether its file was put back; None when it is as it was, False when somebody has changed it since."""
        path = layout.version_path(self._folder, key, snapshot.version)
        try:
            before = files.read(snapshot.path, MAX_FILE_BYTES)
            seen = files.stamp_of(str(path))
            now, fact, place = self._catalogue.read_version(key, snapshot.version)
        except (FileNotFoundError, DamagedFile):
            return False
        if now == before:
            return None
        is_ours = after == mac_of(self._tombstones, now) if after else False
        if not is_ours and fact.status is Status.SUPERSEDED:
            if self._catalogue.current(key).version > snapshot.version:
                return False  # a later version stands, and this one rightly says so
            is_ours = rewrite_fact(before, Rewrite(status=Status.SUPERSEDED), place) == now
        if not is_ours:
            return False
        self._disk.replace(path, before, seen)
        self._catalogue.refresh(key)
        self._changes.publish(ChangeKind.FACT, key)
        return True

    def _remove_items(self, run: str) -> int:
        removed = 0
        for done in self._journal.done(run):
            if done.op == "queued" and done.item in self._review.ids():
                self._review.take_away(done.item)
                removed += 1
        return removed

    def _restore_episodes(self, run: str, left: list[str]) -> int:
        done = {each.item: each for each in self._journal.done(run) if each.op == "episode"}
        return sum(self._restore_episode(run, each, left) for each in done.values())

    def _restore_episode(self, run: str, done: Done, left: list[str]) -> bool:
        now = episode_bytes(self._episodes, done.item)
        if now is None:
            return False
        if mac_of(self._tombstones, now) != done.after:
            left.append(done.item)
            return False
        path = episode_path(self._episodes, done.item)
        before = self._journal.kept(run, episode_name(done.item))
        if before is not None:
            self._disk.replace_erasing(path, before)
            self._changes.publish(ChangeKind.EPISODE, done.item)
        else:
            self._disk.erase(path)
            self._episodes.gone(path)
        return True

    def _restore_state(self, run: str, left: list[str]) -> None:
        """What the nights knew before; a later run's knowledge is not thrown away."""
        before = self._journal.kept(run, STATE_BEFORE)
        later = [each for each in self._journal.runs() if each.state is not RunState.UNDONE]
        if before is None or (later and later[0].id != run):
            left.append("the sessions that were read stay read: another run came after it")
            return
        self._notes.put_state_bytes(before)
