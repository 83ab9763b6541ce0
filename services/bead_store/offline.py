"""Trust that was raised in a file while bead was off: it goes back to what the audit log knows (I4).

An edit keeps the trust its fact had, whenever it is made. Only files that changed between two lives of the store are
looked at, and only a rise that the log contradicts is taken back: what the log does not know stays as it is.
"""

import json
import os
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path

import structlog

from bead.errors import BeadError
from bead.facts import Trust
from bead.wire.store import ChangeKind
from bead_store.audit import Audit, lines_of
from bead_store.catalogue import Catalogue
from bead_store.changes import Changes
from bead_store.disk import Disk
from bead_store.frontmatter import Rewrite, rewrite_fact
from bead_store.lanes import Lane
from bead_store.layout import version_path

log = structlog.get_logger()

Known = dict[str, dict[int, Trust]]
"""Trust by uid and version."""


class OfflineEdits:
    """One look after a start; `began_ns` is when this life of the store began. Made before anything is noted in it."""

    def __init__(
        self,
        folder: Path,
        audit_log: Path,
        *,
        catalogue: Catalogue,
        disk: Disk,
        audit: Audit,
        changes: Changes,
        lane: Lane,
        reading: Lane,
        began_ns: int,
    ) -> None:
        self._folder = folder
        self._audit_log = audit_log
        self._catalogue = catalogue
        self._disk = disk
        self._audit = audit
        self._changes = changes
        self._lane = lane
        self._reading = reading
        self._began_ns = began_ns
        self._ended_ns = _changed_ns(audit_log)

    async def run(self) -> None:
        """Look, and mend what the log contradicts."""
        try:
            suspects = await self._reading.run(self._suspects)
            if not suspects:
                return
            known = await self._reading.run(recorded, self._audit_log, suspects.values())
            for key, uid in suspects.items():
                await self._lane.run(self._mend, key, known.get(uid, {}))
        except BeadError as error:
            log.warning("edits made while bead was off could not be looked at", error=error.code)

    def _suspects(self) -> dict[str, str]:
        """uids by key, of facts whose file changed while no store ran."""
        if self._ended_ns is None:
            return {}
        found: dict[str, str] = {}
        for entry in self._catalogue.entries():
            changed = _changed_ns(version_path(self._folder, entry.key, entry.highest))
            if changed is not None and self._ended_ns < changed < self._began_ns and (fact := entry.fact):
                found[entry.key] = fact.uid
        return found

    def _mend(self, key: str, known: dict[int, Trust]) -> None:
        fact = self._catalogue.current(key)
        versions = [version for version in known if version <= fact.version]
        if not versions or fact.trust.rank <= known[max(versions)].rank:
            return
        trust = known[max(versions)]
        data, _, place = self._catalogue.read_version(key, fact.version)
        self._disk.replace(place.path, rewrite_fact(data, Rewrite(trust=trust), place))
        self._catalogue.refresh(key)
        self._changes.publish(ChangeKind.FACT, key)
        self._audit.record("edited", fact.uid, version=fact.version, trust=trust.value)


def recorded(audit_log: Path, uids: Collection[str]) -> Known:
    """What the log says last of each version's trust."""
    wanted = frozenset(uids)
    known: Known = defaultdict(dict)
    for line in lines_of(audit_log):
        if '"trust"' not in line:
            continue
        try:
            said = json.loads(line)
            if said["what"] in wanted:
                known[said["what"]][int(said["version"])] = Trust(said["trust"])
        except (ValueError, KeyError, TypeError):
            continue
    return known


def _changed_ns(path: Path) -> int | None:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return None
