"""The table of projects: which identities have which scope name, and which directories are known to be its (D1).

A project keeps every identity it was ever seen with; which project a repository is, is `bead.projects.same_project`.
A person may edit `projects.yaml`; comments and order survive. Asking git is the host's affair (`bead.git`).
"""

import io
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from bead.errors import BadRequest, DamagedFile
from bead.projects import PATH, Identity, identity, same_project, scope_name, strength
from bead.wire.store import Project, ResolveProject
from bead_store import files
from bead_store.disk import Disk

MAX_DIRECTORIES = 50
"""Known directories kept for one project, the newest."""
MAX_IDENTITIES = 50
"""Identities kept for one project; of its places the newest."""
MAX_PROJECTS = 2_000
"""Once there are so many, a directory that nobody has registered is no project of its own any more."""
_LIMIT_BYTES = 4 << 20
_IDENTITY_CHARS = 1_000
_IDENTITY = re.compile(rf"[^\x00-\x1f\x7f]{{1,{_IDENTITY_CHARS}}}\Z")
_SOMEBODYS_HOME = re.compile(r"(/home|/Users)/[^/]+\Z|/root\Z")


class _Known(NamedTuple):
    """One project as the file has it; its identities are sorted, strongest first."""

    name: str
    ids: tuple[str, ...]
    directories: tuple[str, ...]
    moves_to: str = ""
    """The project it turned out to be a folder of; its facts are on their way there, and it is found no more."""

    @property
    def identity(self) -> str:
        """The strongest, and of those the one it was known by first."""
        return self.ids[0]

    @property
    def is_place(self) -> bool:
        """Whether it is known by its path only."""
        return self.identity.startswith(PATH)


class Projects:
    """One `projects.yaml`; changed from the facts' lane only."""

    def __init__(self, path: Path, disk: Disk, home_directory: str) -> None:
        self._path = path
        self._disk = disk
        self._home_directory = home_directory
        self._seen: tuple[int, int] | None = None
        self._document: Any = None
        self._known: tuple[_Known, ...] = ()
        self.damage: DamagedFile | None = None
        """Why the table cannot be read; None while it can."""

    def resolve(self, request: ResolveProject) -> Project | None:
        """The project of an identity or directory, made known when it is new; None for home and `/`.

        Raises:
            BadRequest: neither is given, or the directory is not absolute.
        """
        directory = _normal(request.directory) if request.directory else None
        ids = tuple(sorted(dict.fromkeys((*request.identities, *filter(None, [request.identity]))), key=strength))
        if directory is None and not ids:
            raise BadRequest("a project is found by 'identities' or by 'directory'")
        if not all(_IDENTITY.match(id) for id in ids):
            raise BadRequest(f"an identity is one line of at most {_IDENTITY_CHARS} characters")
        self.load()
        if self.damage:
            raise self.damage
        if ids:
            name = request.name or re.split(r"[/:\\]", ids[0].rstrip("/"))[-1]
            return self._by_identity(Identity(ids[0], name, ids[1:]), directory)
        assert directory is not None, "one of the two was given"
        known = self._by_directory(directory)
        if known:
            return Project(name=known.name, identity=known.identity)
        is_none = bool(_SOMEBODYS_HOME.match(directory)) or len(self._known) >= MAX_PROJECTS
        found = None if is_none else identity(directory, self._home_directory)
        return self._by_identity(found, directory) if found else None

    def identity_of(self, scope: str) -> str | None:
        """The strongest identity behind `project/<name>`; None for other scopes and names nobody registered."""
        kind, _, name = scope.partition("/")
        return (
            next((known.identity for known in self._known if known.name == name), None) if kind == "project" else None
        )

    def moving(self) -> tuple[tuple[str, str], ...]:
        """Scopes that were known by a path only, each with the scope that its facts belong into."""
        return tuple((f"project/{known.name}", f"project/{known.moves_to}") for known in self._known if known.moves_to)

    def moved(self, scope: str) -> None:
        """Nothing is left under a scope of `moving`."""
        self._look()
        projects = self._document["projects"]
        for number, entry in enumerate(projects):
            if f"project/{entry['name']}" == scope and entry.get("moves_to"):
                del projects[number]
                break
        self._save()

    def load(self) -> None:
        """Read the table; one that cannot be read is told, and every resolve fails until a person has looked."""
        try:
            self._look()
            self.damage = None
        except DamagedFile as error:
            self.damage = error

    def _by_identity(self, found: Identity, directory: str | None) -> Project:
        number = same_project([() if known.moves_to else known.ids for known in self._known], found.ids)
        if number is None:
            number = self._place_of(directory)
        known = self._added(found) if number is None else self._known[number]
        ids = self._add_identities(known, found.ids)
        if directory and directory not in known.directories:
            self._add_directory(known.name, directory)
        if directory and not all(id.startswith(PATH) for id in ids):
            self._leave_place(directory, known.name)
        self._save()
        return Project(name=known.name, identity=ids[0])

    def _place_of(self, directory: str | None) -> int | None:
        """The project that `directory` was, while it was known by its path only: its facts keep their place."""
        return next(
            (
                number
                for number, known in enumerate(self._known)
                if known.is_place and not known.moves_to and f"{PATH}{directory}" in known.ids
            ),
            None,
        )

    def _leave_place(self, directory: str, name: str) -> None:
        """What was a project by this path only is a folder of `name`: its facts are to go there."""
        for entry in self._document["projects"]:
            ids = _ids(entry)
            is_place = all(id.startswith(PATH) for id in ids)
            if is_place and entry["name"] != name and f"{PATH}{directory}" in ids:
                entry["moves_to"], entry["directories"] = name, []

    def _by_directory(self, directory: str) -> _Known | None:
        """The project whose known directory is nearest above; one that is known by path only is just that path."""
        best: tuple[int, _Known] | None = None
        for known in self._known:
            for place in () if known.moves_to else known.directories:
                is_inside = directory == place or (not known.is_place and directory.startswith(f"{place}/"))
                if is_inside and (best is None or len(place) > best[0]):
                    best = (len(place), known)
        return best[1] if best else None

    def _added(self, found: Identity) -> _Known:
        known = _Known(self._free_name(scope_name(found.name)), found.ids, ())
        self._document["projects"].append({"name": known.name, "identities": list(found.ids), "directories": []})
        return known

    def _add_identities(self, known: _Known, ids: tuple[str, ...]) -> tuple[str, ...]:
        """All identities of `known` together with `ids`; what it had is kept. A place belongs to one project only."""
        places = {id for id in ids if id.startswith(PATH)}
        wanted = _merged(known.ids, ids)
        for entry in self._document["projects"]:
            theirs = _ids(entry)
            if entry["name"] == known.name and wanted != theirs:
                _set_ids(entry, wanted)
            elif entry["name"] != known.name and places & set(theirs[1:]):
                _set_ids(entry, tuple(id for id in theirs if id not in places))
        return wanted

    def _free_name(self, name: str) -> str:
        taken = {known.name for known in self._known}
        if name not in taken:
            return name
        return next(candidate for number in range(2, len(taken) + 3) if (candidate := f"{name}-{number}") not in taken)

    def _add_directory(self, name: str, directory: str) -> None:
        for entry in self._document["projects"]:
            if entry["name"] == name:
                places = entry.setdefault("directories", [])
                places.append(directory)
                del places[:-MAX_DIRECTORIES]
            elif directory in entry.get("directories", ()):
                entry["directories"].remove(directory)

    def _look(self) -> None:
        """Read the file unless it is the one we know."""
        try:
            state = self._path.stat()
        except FileNotFoundError:
            self._seen, self._document, self._known = None, {"projects": []}, ()
            return
        if self._seen == (state.st_mtime_ns, state.st_size):
            return
        text = files.read(self._path, _LIMIT_BYTES).decode("utf-8", "replace")
        try:
            document = _yaml().load(text)
            self._known = tuple(_entries(document))
        except (YAMLError, TypeError, KeyError, AttributeError) as error:
            mark = getattr(error, "problem_mark", None)
            raise files.damaged(self._path, mark.line + 1 if mark else None, "is not a list of projects") from None
        self._document = document if document and document.get("projects") is not None else {"projects": []}
        self._seen = (state.st_mtime_ns, state.st_size)

    def _save(self) -> None:
        known = tuple(_entries(self._document))
        if known == self._known:
            return
        text = io.StringIO()
        _yaml().dump(self._document, text)
        try:
            self._disk.replace(self._path, text.getvalue().encode())
        finally:
            self._seen = None
            self._look()


def _entries(document: Any) -> Iterator[_Known]:
    for entry in (document or {}).get("projects") or ():
        places = tuple(str(place) for place in entry.get("directories") or ())
        yield _Known(str(entry["name"]), _ids(entry), places, str(entry.get("moves_to") or ""))


def _ids(entry: Any) -> tuple[str, ...]:
    """The identities of one project in the file; a single one may be written as `identity`."""
    single = [entry["identity"]] if "identity" in entry else []
    ids = tuple(sorted((str(id) for id in [*single, *(entry.get("identities") or ())]), key=strength))
    if not ids:
        raise KeyError("identities")
    return ids


def _merged(known: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """Both, strongest first, and within a kind the one known longest; over the bound the oldest but the first go."""
    ids = list(dict.fromkeys((*known, *new)))
    firm, places = [id for id in ids if strength(id) < 2], [id for id in ids if strength(id) == 2]
    firm = sorted(firm[:1] + firm[1:][1 - MAX_IDENTITIES // 2 :], key=strength)
    return (*firm, *places[-(MAX_IDENTITIES // 2) :])


def _set_ids(entry: Any, ids: tuple[str, ...]) -> None:
    entry.pop("identity", None)
    entry["identities"] = list(ids)


def _normal(directory: str) -> str:
    path = unicodedata.normalize("NFC", directory.replace("\\", "/"))
    if not (path.startswith("/") or re.match(r"[A-Za-z]:/", path)) or "\0" in path or "\n" in path:
        raise BadRequest("'directory' must be an absolute path")
    return path.rstrip("/") or "/"


def _yaml() -> YAML:
    yaml = YAML(pure=True, plug_ins=[])
    yaml.width = 4096
    return yaml
