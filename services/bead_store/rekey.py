"""Moves a fact with its whole history to another key, so that a crash at any point leaves it whole under one of both.

Every version is written under the new key before the first one goes from the old key. Facts that name a version of
the old key in their sources keep what they say: their files never change (I2), and the uid still ties them.
"""

from pathlib import Path

from bead import keys
from bead.errors import BadRequest, BeadError, Exists, NotFound
from bead.wire.store import ChangeKind, Rekey, Rekeyed
from bead_store import layout
from bead_store.audit import Audit
from bead_store.catalogue import Catalogue
from bead_store.changes import Changes
from bead_store.disk import Disk
from bead_store.frontmatter import NewPlace, move_fact
from bead_store.intents import Intent, Intents, Operation
from bead_store.layout import directory_of, version_path
from bead_store.projects import Projects
from bead_store.review import ReviewFiles
from bead_store.tombstones import Tombstones


class Rekeying:
    """Called from the facts' lane only."""

    def __init__(
        self,
        folder: Path,
        *,
        disk: Disk,
        catalogue: Catalogue,
        projects: Projects,
        review: ReviewFiles,
        tombstones: Tombstones,
        intents: Intents,
        changes: Changes,
        audit: Audit,
    ) -> None:
        self._folder = folder
        self._disk = disk
        self._catalogue = catalogue
        self._projects = projects
        self._review = review
        self._tombstones = tombstones
        self._intents = intents
        self._changes = changes
        self._audit = audit

    def rekey(self, request: Rekey) -> Rekeyed:
        """Move it; durable when this returns.

        Raises:
            NotFound: nothing is stored under the old key.
            Exists: something is stored under the new one.
            DamagedFile: a version cannot be read, so it cannot be moved.
        """
        old, new = str(keys.parse(request.old)), str(keys.parse(request.new))
        if old == new:
            raise BadRequest("the old and the new key are the same")
        if self._catalogue.refresh(new) is not None:
            raise Exists(f"something is stored under '{new}', and bead never writes over it; choose another key")
        if self._catalogue.refresh(old) is None:
            raise NotFound(f"nothing is stored under '{old}'")
        uid = self._catalogue.uid(old)
        versions = self._versions(old)
        for version in versions:  # nothing is begun that a damaged file would stop half way
            self._catalogue.read_version(old, version)
        names = (self._tombstones.name(old), self._tombstones.name(new))
        intent = self._intents.begin(Intent(Operation.REKEY, uids=(uid,), names=names))
        self._copy_all(intent, old, new, uid)
        self._leave(old, new, uid)
        self._intents.finish(intent)
        return Rekeyed(key=new, uid=uid, versions=len(versions))

    def finish(self, id: str, intent: Intent) -> None:
        """After a crash: go on when the new key has a file; else nothing was done yet and nothing will be."""
        old_name, new_name = intent.names
        by_name = {self._tombstones.name(entry.key): entry.key for entry in self._catalogue.entries()}
        old, new = by_name.get(old_name), by_name.get(new_name)
        if new is not None:
            if old is not None:
                self._copy_all(id, old, new, intent.uids[0])
            self._review.finish_erasing()
            self._leave(old or self._waiting_for(old_name), new, intent.uids[0])
        self._disk.remove_empty_below(self._folder)
        self._intents.finish(id)

    def _copy_all(self, intent: str, old: str, new: str, uid: str) -> None:
        """Every version under the new key as well, or, when that cannot be, none."""
        try:
            for version in self._versions(old):
                self._copy(old, new, version, uid)
        except BeadError:
            for version in self._versions(new):
                self._disk.remove(version_path(self._folder, new, version))
            self._disk.remove_empty(directory_of(self._folder, new), self._folder)
            self._catalogue.refresh(new)
            self._intents.finish(intent)
            raise

    def _leave(self, old: str | None, new: str, uid: str) -> None:
        """Take the old key away; everything that it named is under the new one."""
        if old is not None:
            self._review.rename(old, new)
            for version in self._versions(old):
                self._disk.remove(version_path(self._folder, old, version))
            self._disk.remove_empty(directory_of(self._folder, old), self._folder)
            self._catalogue.refresh(old)
        self._catalogue.refresh(new)
        if old is not None:
            self._changes.publish(ChangeKind.FACT, old, gone=True)
        self._changes.publish(ChangeKind.FACT, new)
        self._audit.record("rekeyed", uid)

    def _waiting_for(self, name: str) -> str | None:
        """The key with this name that review items still wait for."""
        return next((item.key for item in self._review.items() if self._tombstones.name(item.key) == name), None)

    def _copy(self, old: str, new: str, version: int, uid: str) -> None:
        data, _, place = self._catalogue.read_version(old, version)
        project_id = self._projects.identity_of(keys.parse(new).scope)
        moved = move_fact(data, place, NewPlace(new, uid, project_id))
        try:
            self._disk.create(version_path(self._folder, new, version), moved)
        except FileExistsError:
            pass  # written before the crash

    def _versions(self, key: str) -> tuple[int, ...]:
        return layout.versions_in(directory_of(self._folder, key))
