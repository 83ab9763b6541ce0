"""What a run has changed, so that it can be taken back: one folder a run below `store/dream/runs`.

`run.json` says what the run was, `journal.jsonl` what it did (ids, numbers and keyed hashes), `state.json` what the
nights knew before it, and the Markdown files are those that it was about to rewrite, as they were. The latter hold
facts' text: a forget looks through them as it looks through the queue. Taking back is `undo`'s.
"""

import contextlib
import secrets
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from bead.errors import DamagedFile, NotFound, Refused
from bead.wire.dream import BeginRun, FinishRun, RunRecord, RunState
from bead_store import files
from bead_store.disk import Disk
from bead_store.names import file_name

KEPT_RUNS = 30
"""Older ones cannot be undone any more (I17)."""
_MAX_BYTES = 16 << 20
_RECORD = "run.json"
_JOURNAL = "journal.jsonl"
STATE_BEFORE = "state.json"


class Done(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of a journal. `op` is `rewrote`, `queued`, `episode` or `wrote`."""

    op: str
    uid: str = ""
    version: int = 0
    item: str = ""
    """A review item or an episode."""
    after: str = ""
    """Keyed hash of the file as the run left it."""


class Snapshot(NamedTuple):
    """A version's file as it was before the run."""

    uid: str
    version: int
    path: Path


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Done).decode


class Journal:
    """The runs of one home; used from the facts' lane only."""

    def __init__(self, folder: Path, disk: Disk, now: Callable[[], datetime]) -> None:
        self._folder = folder
        self._disk = disk
        self._now = now

    def begin(self, request: BeginRun) -> RunRecord:
        """A new run; one that was still open has died. The oldest are let go."""
        self.end_open()
        for record in self.runs()[KEPT_RUNS - 1 :]:
            self._drop(record.id)
        started = self._now()
        id = f"{started:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        record = RunRecord(id=id, started=started, provider=request.provider, model=request.model)
        self.save(record)
        return record

    def end_open(self) -> None:
        """A run that was at work when the store ended, or when another one begins, has died; it can be undone."""
        for record in self.runs():
            if record.state is RunState.RUNNING:
                dead = {"state": RunState.FAILED, "ended": self._now(), "changes": len(self.done(record.id))}
                self.save(record.model_copy(update=dead))

    def runs(self) -> tuple[RunRecord, ...]:
        """Readable ones, newest first."""
        found: list[RunRecord] = []
        for name in files.names_in(self._folder):
            with contextlib.suppress(NotFound):
                found.append(self.record(name))
        return tuple(sorted(found, key=lambda record: (record.started, record.id), reverse=True))

    def record(self, run: str) -> RunRecord:
        """What is known of a run.

        Raises:
            NotFound: no such run, or its record cannot be read.
        """
        try:
            return RunRecord.model_validate_json(files.read(self.folder(run) / _RECORD, _MAX_BYTES))
        except (FileNotFoundError, DamagedFile, ValueError):
            raise NotFound("no dream run has that id; 'bead dream status' lists those that are kept") from None

    def running(self, run: str) -> RunRecord:
        """The same for a run that may still change something.

        Raises:
            Refused: it is over.
        """
        record = self.record(run)
        if record.state is not RunState.RUNNING:
            raise Refused("this dream run is over; another one has begun or it was ended")
        return record

    def finish(self, run: str, request: FinishRun, report: str | None) -> RunRecord:
        """The run has come to its end."""
        record = self.running(run).model_copy(
            update={"state": request.state, "counts": request.counts, "ended": self._now(), "report": report}
        )
        record = record.model_copy(update={"changes": len(self.done(run))})
        self.save(record)
        return record

    def save(self, record: RunRecord) -> None:
        """Write a run's record, durable on return."""
        self._disk.replace(self.folder(record.id) / _RECORD, record.model_dump_json().encode())

    def note(self, run: str, done: Done) -> None:
        """Add a line, durable on return."""
        self._disk.append_now(self.folder(run) / _JOURNAL, _encode(done) + b"\n")

    def done(self, run: str) -> list[Done]:
        """What a run did, in order; a crash may have torn the last line."""
        try:
            data = files.read(self.folder(run) / _JOURNAL, _MAX_BYTES)
        except FileNotFoundError:
            return []
        found: list[Done] = []
        for line in data.splitlines():
            with contextlib.suppress(msgspec.DecodeError):
                found.append(_decode(line))
        return found

    def keep(self, run: str, name: str, data: bytes) -> bool:
        """Keep a file as it is before the run's first change of it; False when that was done before."""
        try:
            self._disk.create(self.folder(run) / name, data)
        except FileExistsError:
            return False
        return True

    def let_go(self, run: str, name: str) -> None:
        """It was not changed after all."""
        self._disk.erase(self.folder(run) / name)

    def kept(self, run: str, name: str) -> bytes | None:
        """The bytes of a kept file; None when there is none, or a forget took it."""
        try:
            return files.read(self.folder(run) / name, _MAX_BYTES)
        except (FileNotFoundError, DamagedFile):
            return None

    def snapshots(self, run: str) -> Iterable[Snapshot]:
        """Kept files of facts."""
        for name in sorted(files.names_in(self.folder(run))):
            uid, separator, version = name.removesuffix(".md").rpartition("-v")
            if name.endswith(".md") and separator and version.isdecimal():
                yield Snapshot(uid, int(version), self.folder(run) / name)

    def folder(self, run: str) -> Path:
        """Where everything about a run lies."""
        if file_name(run) != run:
            raise NotFound("no dream run has that id; 'bead dream status' lists those that are kept")
        return self._folder / run

    def _drop(self, run: str) -> None:
        folder = self.folder(run)
        for name in files.names_in(folder):
            if name != _RECORD:
                self._disk.erase(folder / name)
        self._disk.erase(folder / _RECORD)
        self._disk.remove_empty(folder, self._folder)


def snapshot_name(uid: str, version: int) -> str:
    """The name under which a version's file is kept."""
    return f"{uid}-v{version}.md"


def episode_name(id: str) -> str:
    """The name under which an episode's file is kept."""
    return f"episode {id}.md"
