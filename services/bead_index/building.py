"""The program that builds an index file in a process of its own: `python -m bead_index.building PATH`.

Takes frames from its standard input, as `builder` sends them, and writes the file. It is killed at any time; when its
parent goes, its input ends, and it takes what it had begun with it. What belongs into the file is the parent's to say.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from bead.wire.episodes import EpisodeView
from bead.wire.store import ChangeKind, FactList, History, Manifest, SessionView
from bead_index.batch import Batch, Turns, Versions
from bead_index.database import IndexFile, Position, throw_away
from bead_index.frames import END, EPISODE, FACTS, HISTORY, MANIFEST, SESSION, head_of

NICENESS = 5
"""The builder yields to whatever answers a model request."""
_MOST_CHARACTERS = 4_000_000
_MOST_SESSIONS = 1_000


class Building:
    """One file in the making."""

    def __init__(self, index: IndexFile) -> None:
        self._index = index
        self._manifest = Manifest(epoch="", seq=0, entries=())
        self._hashes: dict[tuple[ChangeKind, str], str] = {}
        self._histories: dict[str, History] = {}
        self._batch = Batch()

    def take(self, kind: bytes, body: bytes) -> None:
        """One frame: what the manifest names is written, the rest came later and is the feed's to tell."""
        if kind == MANIFEST:
            self._manifest = Manifest.model_validate_json(body)
            self._hashes = {(entry.kind, entry.id): entry.hash for entry in self._manifest.entries}
        elif kind == HISTORY:
            history = History.model_validate_json(body)
            self._histories[history.key] = history
        elif kind == FACTS:
            self._take_facts(FactList.model_validate_json(body))
        elif kind == SESSION:
            session = SessionView.model_validate_json(body)
            found = self._hashes.get((ChangeKind.TURN, session.session))
            self._batch.sessions.append(Turns(session.session, 0, session.turns, found))
        elif kind == EPISODE:
            episode = EpisodeView.model_validate_json(body)
            self._batch.episodes.append((episode, self._hashes.get((ChangeKind.EPISODE, episode.id))))
        self._write_if_long()

    def finish(self) -> None:
        """Write the rest, and how far the file has come."""
        self._batch.write(self._index, Position(self._manifest.epoch, self._manifest.seq))

    def _take_facts(self, page: FactList) -> None:
        for fact in page.facts:
            if hash := self._hashes.get((ChangeKind.FACT, fact.key)):
                history = self._histories.get(fact.key)
                older = tuple(each for each in history.versions if each.version < fact.version) if history else ()
                # A fact that moved on since its history was read: the feed brings both.
                self._batch.facts.append(Versions(fact, hash, older))
        self._histories.clear()

    def _write_if_long(self) -> None:
        batch = self._batch
        many = len(batch.sessions) + len(batch.episodes) + len(batch.facts)
        if many >= _MOST_SESSIONS or batch.characters >= _MOST_CHARACTERS:
            self._batch = Batch()
            batch.write(self._index)


def frames(stream: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Kind and body of every whole frame."""
    while head := head_of(stream):
        kind, length = head
        body = stream.read(length)
        if len(body) < length:
            return
        yield kind, body


def build(path: Path, stream: BinaryIO) -> bool:
    """Make `path` of what `stream` brings; False, and no file, when it ends before it says so."""
    throw_away(path)
    index = IndexFile(path, writing=True)
    is_whole = False
    try:
        building = Building(index)
        for kind, body in frames(stream):
            if kind == END:
                building.finish()
                is_whole = True
                break
            building.take(kind, body)
    finally:
        index.close()
        if not is_whole:
            throw_away(path)
    return is_whole


def main() -> int:
    """0 when the file is whole."""
    os.nice(NICENESS)
    return 0 if build(Path(sys.argv[1]), sys.stdin.buffer) else 1


if __name__ == "__main__":
    raise SystemExit(main())
