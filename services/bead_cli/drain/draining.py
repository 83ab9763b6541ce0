"""The drain at work: each memory to the store once, and with `truncate` each file emptied that is settled whole.

What is settled is the store's answer; a file of which one memory is not, and a file that has changed meanwhile, stays
as it is, and the next drain finds it again. Nothing is kept between two runs: the same memory is the same draft.
"""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from enum import StrEnum
from typing import Any, NamedTuple

from bead.drain import split
from bead.errors import BeadError, Unavailable
from bead.text.instructions import is_suspicious
from bead.wire.drafts import DRAINED, DraftAnswer, DraftVerb, NewDraft
from bead_cli.drain.places import Found, Kind, Note, Place
from bead_cli.drain.safely import Held, NotSafe, opened

INDEX_NAME = "MEMORY.md"
SHARED = "shared"
"""The agent of a store of which nobody can say who wrote into it."""


class Bus(NamedTuple):
    """What the drain asks of the store."""

    add: Callable[[NewDraft], DraftAnswer]
    project: Callable[[str], str | None]
    """Scope name of the project around a directory."""


class Wish(NamedTuple):
    """How to drain."""

    truncate: bool = False
    dry_run: bool = False
    agent: str | None = None
    """The name in the tag `agent:`; default: the agent's own."""


class State(StrEnum):
    """What a drain did to a file."""

    READ = "read"
    EMPTIED = "emptied"
    KEPT = "kept"
    """It was to be emptied and was not, or it could not be read."""


class Drained(NamedTuple):
    """One file."""

    cli: str
    path: str
    project: str | None
    memories: int
    verbs: Mapping[str, int]
    state: State
    reason: str = ""


class Report(NamedTuple):
    """One run."""

    files: tuple[Drained, ...]
    notes: tuple[Note, ...]
    trouble: str = ""
    """Why it ended early; what is missing comes with the next one."""

    def counts(self) -> dict[str, int]:
        """Memories by what became of them."""
        total: Counter[str] = Counter()
        for each in self.files:
            total.update(each.verbs)
        return dict(sorted(total.items()))

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "files": [each._asdict() for each in self.files],
            "notes": [each._asdict() for each in self.notes],
            "counts": self.counts(),
            "trouble": self.trouble,
        }


class _File(NamedTuple):
    """One file that is held open."""

    name: str
    path: str
    held: Held
    memories: tuple[str, ...]
    rest: str | None
    """What stays of it; None when all of it is memories."""


class _Given(NamedTuple):
    """A file whose memories were handed to the store."""

    file: _File
    verbs: Mapping[str, int]
    missing: str
    """Why it is not settled; empty when it is."""


class _Stop(Exception):
    """The store does not answer: what is left is left for the next drain."""


def drain(found: Found, bus: Bus, wish: Wish, uid: int) -> Report:
    """Drain these places; never raises for what is wrong with one of them."""
    files: list[Drained] = []
    notes = list(found.notes)
    for place in found.places:
        try:
            with opened(place.root, uid) as tree, ExitStack() as held:
                if tree is not None:
                    _Folder(place, bus, wish, files, notes, held).drain(tree.hold)
        except NotSafe as error:
            notes.append(Note(place.cli, os.path.join(place.root, place.folder), str(error)))
        except _Stop as stop:
            return Report(tuple(files), tuple(notes), str(stop))
    return Report(tuple(files), tuple(notes))


class _Folder:
    """One place."""

    def __init__(
        self, place: Place, bus: Bus, wish: Wish, files: list[Drained], notes: list[Note], held: ExitStack
    ) -> None:
        self._place, self._bus, self._wish = place, bus, wish
        self._files, self._notes, self._held = files, notes, held
        self._project: str | None = None

    def drain(self, hold: Callable[..., Held]) -> None:
        """Hand everything over first, and empty then what is settled."""
        if self._place.directory and not self._wish.dry_run:
            try:
                self._project = self._bus.project(self._place.directory)
            except BeadError as error:
                raise _Stop(error.message) from None
        given = []
        for name in sorted(self._place.files):
            file = self._opened(name, hold)
            if file is not None:
                given.append(self._handed_over(file))
        if self._wish.dry_run or not self._wish.truncate:
            for each in given:
                self._tell(each, State.READ, each.missing)
        else:
            self._empty_all(given)

    def _empty_all(self, given: Sequence[_Given]) -> None:
        """An index before its topics: after a crash between them no line of it leads to what is gone."""
        held = [each.file.name for each in given if not each.missing]
        stay = set(self._place.files) - set(held)
        index_stays = False
        for each in sorted(given, key=lambda each: not self._is_index(each.file.name)):
            missing = each.missing
            if self._is_index(each.file.name):
                rest = split.index_lines(each.file.held.data.decode(), stay)
                emptied = self._empty(each._replace(file=each.file._replace(rest=rest)), missing)
                index_stays |= not emptied
            else:
                self._empty(each, missing or ("the index that leads to it stays" if index_stays else ""))

    def _is_index(self, name: str) -> bool:
        return self._place.kind is Kind.INDEX and os.path.basename(name) == INDEX_NAME

    def _opened(self, name: str, hold: Callable[..., Held]) -> _File | None:
        below = f"{self._place.folder}/{name}" if self._place.folder else name
        path = os.path.join(self._place.root, below)
        try:
            held = self._held.enter_context(hold(below, to_empty=self._wish.truncate and not self._wish.dry_run))
            text = held.data.decode("utf-8")
        except NotSafe as error:
            self._note(path, 0, {}, State.KEPT, str(error))
            return None
        except UnicodeDecodeError:
            self._note(path, 0, {}, State.KEPT, "it is no UTF-8 text")
            return None
        if self._place.kind is Kind.GEMINI:
            section = split.gemini_file(text)
            if not section.is_there:
                reason = f"has no section '{split.GEMINI_HEADING}'; bead takes nothing else for memories"
                self._notes.append(Note(self._place.cli, path, reason))
                return None
            return _File(name, path, held, section.memories, section.rest)
        if self._is_index(name):
            return _File(name, path, held, split.index_file(text, set(self._place.files)), None)
        return _File(name, path, held, split.whole_file(text), None)

    def _handed_over(self, file: _File) -> _Given:
        if self._wish.dry_run:
            return _Given(file, {}, "")
        verbs: Counter[str] = Counter()
        missing = ""
        for memory in file.memories:
            try:
                answer = self._bus.add(self._new(memory))
            except Unavailable as error:
                self._tell(_Given(file, verbs, ""), State.KEPT, error.message)
                raise _Stop(error.message) from None
            except BeadError as error:
                missing = error.message
                verbs["refused"] += 1
            else:
                verbs[answer.verb] += 1
                if not answer.is_whole and answer.verb is not DraftVerb.DECIDED:
                    missing = "a draft holds only a part of a memory: it is too long, or held a secret"
        return _Given(file, verbs, missing)

    def _empty(self, given: _Given, missing: str) -> bool:
        file = given.file
        try:
            if missing:
                raise NotSafe(missing)
            if file.rest:
                if file.rest.encode() != file.held.data:
                    file.held.replace(file.rest.encode())
            elif self._place.kind is Kind.GEMINI or self._is_index(file.name):
                file.held.empty()
            else:
                file.held.remove()
        except NotSafe as error:
            self._tell(given, State.KEPT, str(error))
            return False
        except OSError as error:
            self._tell(given, State.KEPT, f"the system says: {error.strerror}")
            return False
        self._tell(given, State.EMPTIED)
        return True

    def _new(self, memory: str) -> NewDraft:
        tags = (DRAINED, f"agent:{self._wish.agent or self._place.cli}", f"cli:{self._place.cli}")
        return NewDraft(body=memory, tags=tags, project=self._project, suspicious=is_suspicious(memory))

    def _tell(self, given: _Given, state: State, reason: str = "") -> None:
        if given.file.held.data.strip():
            verbs = {str(verb): count for verb, count in sorted(given.verbs.items())}
            self._note(given.file.path, len(given.file.memories), verbs, state, reason)

    def _note(self, path: str, memories: int, verbs: Mapping[str, int], state: State, reason: str) -> None:
        self._files.append(Drained(self._place.cli, path, self._project, memories, verbs, state, reason))


def enabled(setting: Mapping[Any, bool], clis: Sequence[str]) -> list[str]:
    """Those agents that a setting of `all` and single agents turns on."""
    return [cli for cli in clis if setting.get(cli, setting.get("all", False))]
