"""What a forget would take: looks everywhere, changes nothing.

Files are searched by `seeking`, in processes where there are many. What is done about it is `forgetsteps`.
"""

import stat
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from bead import keys
from bead.errors import BadRequest, DamagedFile, Refused
from bead.home import Home
from bead.wire.forget import SelectedPlace, SelectForget
from bead.wire.store import ForgetHit
from bead_store import files, header, layout
from bead_store.catalogue import Catalogue
from bead_store.conversations import Conversations
from bead_store.files import TEMPORARY_PREFIX
from bead_store.frontmatter import MAX_FILE_BYTES, Reader
from bead_store.names import file_name
from bead_store.raw import RawLog
from bead_store.redaction import Wanted
from bead_store.seeking import Asked, Kind, seek
from bead_store.told import files_of, told, wanted_of
from bead_store.tombstones import Tombstones
from bead_store.values import MIN_SEARCHED_CHARS, normal

MOST_FACTS = 100
MOST_TURNS = 1_000
"""A text that is in more than this is too broad to be what a person means."""
_ELSEWHERE = frozenset({"facts", "raw", "queue", "drafts", "episodes", "intents", "receipts", "vault"})
"""Folders below the store that are looked at by name, or hold no text."""
_ROOT_SUFFIXES = frozenset({".log", ".txt", ".jsonl"})
_OURS = frozenset({"audit.log", "tombstones.log"})

Turns = dict[str, frozenset[int]]


class Selection(NamedTuple):
    """What a person has named: a text or a session, and keys."""

    match: str | None = None
    session: str | None = None
    """Its name as files have it."""
    keys: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "Selection()"

    @property
    def texts(self) -> tuple[str, ...]:
        """What is looked for beside what the facts say."""
        return (self.match,) if self.match is not None else ()


@dataclass
class Seen:
    """Everything that a selection would take."""

    keys: tuple[str, ...] = ()
    wanted: Wanted = field(default_factory=lambda: Wanted((), {}))
    turns: Turns = field(default_factory=dict)
    places: list[SelectedPlace] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


class Looking:
    """Asked from the slow lane."""

    def __init__(
        self, home: Home, catalogue: Catalogue, raw: RawLog, conversations: Conversations, tombstones: Tombstones
    ) -> None:
        self._home = home
        self._catalogue = catalogue
        self._raw = raw
        self._conversations = conversations
        self._tombstones = tombstones

    # -- by key -------------------------------------------------------------------------------------------------------

    def by_key(self, there: list[str]) -> tuple[list[ForgetHit], int]:
        """What there is of each key, and how many turns of all."""
        wanted = {key: wanted_of(self.files(key), [self._catalogue.uid(key)]) for key in there}
        unread: list[str] = []  # the receipt names them
        found = [turns for _, turns in self._raw.find(*wanted.values(), unread=unread)] if wanted else []
        others = self._also_in(there, wanted)
        hits = [
            ForgetHit(
                key=key,
                uid=self._catalogue.uid(key),
                project=project_of(key),
                versions=len(layout.versions_in(layout.directory_of(self._home.facts, key))),
                turns=sum(len(turns[place]) for turns in found),
                blocks=sum(self.blocks(name, wanted[key]) for name in self._conversations.names()),
                queue=self._documents_about(key, wanted[key]),
                also_in=tuple(others[key]),
            )
            for place, key in enumerate(there)
        ]
        return hits, sum(len(frozenset().union(*turns)) for turns in found)

    def files(self, key: str) -> list[Path]:
        """The files of a key, see `told.files_of`."""
        return files_of(layout.directory_of(self._home.facts, key))

    def blocks(self, conversation: str, wanted: Wanted) -> int:
        """How many blocks of it would go; 0 where it cannot be read."""
        try:
            return self._conversations.count(conversation, wanted)
        except DamagedFile:
            return 0

    def is_about(self, path: Path, names: Collection[str], wanted: Wanted, unread: list[str]) -> bool:
        """Whether a document's header names one of the keys or a session that goes whole, or it holds the text."""
        try:
            text = files.read(path, MAX_FILE_BYTES).decode("utf-8", "replace")
        except FileNotFoundError:
            return False
        except DamagedFile as error:
            unread.append(error.message)
            return False
        if wanted.holds(text) or any(source in text for source in wanted.whole):
            return True
        try:
            parts = header.split(text.encode(), path)
            reader = Reader(header.parse(parts, path), path)
            key, session = reader.text("key"), reader.text("session")
        except DamagedFile:
            return False
        if session is not None and any(Path(source).stem == session for source in wanted.whole):
            return True
        return key is not None and self._tombstones.name(key) in names

    def _documents_about(self, key: str, wanted: Wanted) -> int:
        names = (self._tombstones.name(key),)
        paths = (path for _, folder in documents(self._home) for path in markdown_below(folder))
        return sum(self.is_about(path, names, wanted, []) for path in paths)

    def _also_in(self, asked: list[str], wanted: dict[str, Wanted]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {key: [] for key in asked}
        for entry in self._catalogue.entries():
            packed = entry.message
            if packed is None or entry.key in found:
                continue
            for key, each in wanted.items():
                if each.may_be_in(packed, "") and (fact := entry.fact) and each.holds(fact.body):
                    found[key].append(entry.key)
        return found

    # -- by text and by session ---------------------------------------------------------------------------------------

    def selection(self, request: SelectForget) -> Selection:
        """What is asked for, checked.

        Raises:
            BadRequest: neither or both of text and session, or a text that says nothing.
        """
        if (request.match is None) == (request.session is None):
            raise BadRequest("name a text or a session to forget, one of the two")
        named = tuple(dict.fromkeys(str(keys.parse(key)) for key in request.keys))
        if request.match is None:
            return Selection(session=file_name(request.session or ""), keys=named)
        length = len(normal(request.match))
        if length < MIN_SEARCHED_CHARS:
            said = f"this one has {length}" if length else "this one is empty"
            raise BadRequest(f"a text to forget has at least {MIN_SEARCHED_CHARS} characters that count; {said}")
        return Selection(match=request.match, keys=named)

    def by_selection(self, selection: Selection) -> Seen:
        """Everything that goes with it.

        Raises:
            Refused: it is too much to be what was meant.
        """
        seen = Seen(keys=tuple(self._facts_of(selection)))
        if len(seen.keys) > MOST_FACTS:
            raise Refused(
                f"that is in {len(seen.keys)} facts, more than the {MOST_FACTS} one forget takes; say more of it"
            )
        seen.wanted = self.wanted(seen.keys, selection)
        seen.turns = {name: turns for name, (turns,) in self._raw.find(seen.wanted, unread=seen.unread)}
        turns = sum(map(len, seen.turns.values()))
        if selection.match is not None and turns > MOST_TURNS:
            raise Refused(f"that is in {turns} turns, more than the {MOST_TURNS} one forget takes; say more of it")
        seen.places += self._places(seen)
        return seen

    def wanted(self, there: Iterable[str], selection: Selection) -> Wanted:
        """What to look for."""
        found = list(there)
        paths = [path for key in found for path in self.files(key)]
        source = self._raw.file_of(selection.session) if selection.session else None
        uids = [self._catalogue.uid(key) for key in found]
        return wanted_of(paths, uids, texts=selection.texts, whole=[source] if source else [])

    def _facts_of(self, selection: Selection) -> list[str]:
        found = dict.fromkeys(key for key in selection.keys if self.files(key))
        if selection.match is not None:
            found |= dict.fromkeys(self._facts_with(wanted_of((), (), texts=selection.texts)))
        elif selection.session and (source := self._raw.file_of(selection.session)):
            found |= dict.fromkeys(self._facts_only_from(source))
        return sorted(found)

    def _facts_with(self, wanted: Wanted) -> list[str]:
        known = [entry.key for entry in self._catalogue.entries()]
        folders = [Asked(Kind.FOLDER, f"{self._home.facts}/{key}") for key in known]
        found = [known[each.number] for each in seek(folders, [wanted]) if not each.unread]
        return [*found, *(key for key in known if wanted.holds(key))]

    def _facts_only_from(self, source: str) -> Iterator[str]:
        """Facts of which every version was learnt there, and nowhere else."""
        mark = f"{source}#turn-"
        for entry in self._catalogue.entries():
            if entry.message is not None and mark.encode() in entry.message:
                versions = [told(path) for path in self.files(entry.key) if layout.version_number(path.name)]
                if all(each.sources and all(s.startswith(mark) for s in each.sources) for each in versions):
                    yield entry.key

    def _places(self, seen: Seen) -> Iterator[SelectedPlace]:
        for key in seen.keys:
            count = len(layout.versions_in(layout.directory_of(self._home.facts, key)))
            yield SelectedPlace(place="facts", name=key, project=project_of(key), count=count)
        for session, ordinals in seen.turns.items():
            yield SelectedPlace(place="raw turns", name=session, project=None, count=len(ordinals))
        for name in self._conversations.names():
            is_whole = is_of_session(name, seen.wanted)
            count = self._conversations.size(name) if is_whole else self.blocks(name, seen.wanted)
            if count or is_whole:
                yield SelectedPlace(place="conversation blocks", name=name, project=None, count=count)
        names = [self._tombstones.name(key) for key in seen.keys]
        for place, folder in documents(self._home):
            for path in markdown_below(folder):
                if self.is_about(path, names, seen.wanted, seen.unread):
                    yield SelectedPlace(place=place, name=path.stem, project=None, count=1)
        for path in self.elsewhere(seen.wanted):
            name = str(path.relative_to(self._home.root))
            yield SelectedPlace(place="other files", name=name, project=None, count=1)

    # -- everything else ----------------------------------------------------------------------------------------------

    def other_files(self) -> list[Path]:
        """Files of this home that hold texts besides facts, turns, conversations and documents."""
        store = self._home.facts.parent
        below = [store / name for name in files.names_in(store) if name not in _ELSEWHERE]
        found = [path for each in below for path in ([each] if not each.is_dir() else sorted(each.rglob("*")))]
        logs = [self._home.root / name for name in files.names_in(self._home.root) if name not in _OURS]
        found += [path for path in logs if path.suffix in _ROOT_SUFFIXES]
        found += sorted((self._home.root / "logs").rglob("*"))
        return [path for path in found if _is_regular(path) and not path.name.startswith(TEMPORARY_PREFIX)]

    def elsewhere(self, wanted: Wanted) -> list[Path]:
        """Those of them that hold it."""
        paths = self.other_files()
        asked = [Asked(Kind.TEXT, str(path), path.stat().st_size) for path in paths]
        return [paths[found.number] for found in seek(asked, [wanted]) if not found.unread]


def project_of(key: str) -> str | None:
    """Scope name of the project that a key belongs to."""
    scope = keys.parse(key).scope
    return scope.removeprefix("project/") if scope.startswith("project/") else None


def documents(home: Home) -> tuple[tuple[str, Path], ...]:
    """Folders of Markdown files of which each says one thing."""
    return (
        ("review queue", home.queue),
        ("drafts", home.drafts),
        ("episodes", home.episodes),
        ("what undoes a night", home.dream),
    )


def markdown_below(folder: Path) -> list[Path]:
    """The Markdown files there, no links."""
    return sorted(path for path in folder.rglob("*.md") if not path.is_symlink())


def is_of_session(conversation: str, wanted: Wanted) -> bool:
    """Whether a conversation is a thread of a session that goes as a whole."""
    return any(conversation.startswith(f"{Path(source).stem}-") for source in wanted.whole)


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False
