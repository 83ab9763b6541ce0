"""Episodes: one Markdown file each, `store/episodes/YYYY/MM/DD/<id>.md`, written whole.

An episode is drawn from turns, so it is cleaned as a turn is (I13), and one that says what was forgotten is refused
(I5). What a forget takes is `forget`'s to say; which past sessions deserve one is the dream job's.
"""

import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fastapi import FastAPI, Query

from bead.episodes import PARTS, Parts, episode_body
from bead.errors import BadRequest, DamagedFile, NotFound, Tombstoned
from bead.wire.episodes import EpisodeList, EpisodeVerb, EpisodeView, EpisodeWritten, WriteEpisode
from bead.wire.store import ChangeKind
from bead_store import files, header
from bead_store.changes import Changes
from bead_store.disk import Disk
from bead_store.frontmatter import MAX_FILE_BYTES, Reader, normal_body
from bead_store.header import Bare, moment_text
from bead_store.names import file_name, word
from bead_store.scan import Scan
from bead_store.tombstones import Tombstones

if TYPE_CHECKING:
    from bead_store.app import Store

_DEPTH = 4
"""YYYY/MM/DD/<id>.md"""


class Episodes:
    """The episodes of one home; written from the facts' lane, read from any thread."""

    def __init__(
        self,
        folder: Path,
        *,
        disk: Disk,
        scan: Scan,
        tombstones: Tombstones,
        changes: Changes,
        now: Callable[[], datetime],
    ) -> None:
        self.folder = folder
        self._disk = disk
        self._scan = scan
        self._tombstones = tombstones
        self._changes = changes
        self._now = now
        self._paths: dict[str, Path] = {}
        self._seen: dict[str, int] = {}
        """How each file looked when somebody else had written it, see `files.stamp`."""

    def load(self) -> None:
        """Learn which episodes there are; no file is opened."""
        for path in sorted(self.folder.glob("[0-9]*/[0-9]*/[0-9]*/*.md")):
            state = path.lstat()
            if file_name(path.stem) == path.stem and stat.S_ISREG(state.st_mode):
                self._paths[path.stem] = path
                self._seen[path.stem] = files.stamp(state)

    def write(self, request: WriteEpisode) -> EpisodeWritten:
        """Write one episode, durable on return.

        Raises:
            BadRequest: no part says anything.
            Tombstoned: a part says what was forgotten.
        """
        parts = Parts(*(self._clean(getattr(request, name)) for name in PARTS))
        if not any(parts):
            raise BadRequest("an episode needs a situation, an action, an outcome or a lesson")
        self._refuse_forgotten(parts)
        name = file_name(request.id or f"e-{file_name(request.session)}"[:120])
        known = self._known(name)
        created = (known and known.created) or (request.created or self._now()).astimezone(UTC)
        path = self._paths.get(name) or self.folder / f"{created:%Y/%m/%d}" / f"{name}.md"
        data = _render(name, request, created, episode_body(parts))
        verb = self._put(path, data)
        self._paths[name] = path
        if verb is not EpisodeVerb.UNCHANGED:
            self._changes.publish(ChangeKind.EPISODE, name)
        return EpisodeWritten(verb=verb, id=name, source=self._source(path))

    def read(self, id: str) -> EpisodeView:
        """One episode.

        Raises:
            NotFound: there is none of that id.
            DamagedFile: its file cannot be read.
        """
        name = file_name(id)
        path = self._paths.get(name)
        try:
            data = files.read(path, MAX_FILE_BYTES) if path else None
        except FileNotFoundError:
            data = None
        if path is None or data is None:
            raise NotFound("no episode has that id")
        return _view(name, data, path, self._source(path))

    def ids(self, limit: int | None = None) -> tuple[str, ...]:
        """Known episodes, those of the newest day first."""
        newest = sorted(self._paths.items(), key=lambda item: (item[1].parts[-_DEPTH:-1], item[0]), reverse=True)
        return tuple(name for name, _ in newest[:limit])

    def states(self) -> list[tuple[str, str]]:
        """Each episode with a text that differs whenever its file does."""
        found: list[tuple[str, str]] = []
        for name, path in list(self._paths.items()):
            try:
                state = path.stat()
            except FileNotFoundError:
                continue
            found.append((name, f"{state.st_size:x}-{state.st_mtime_ns:x}"))
        return found

    def notice(self, path: Path) -> str:
        """Look at a file that somebody else may have changed: what was done to it, told to readers, or empty."""
        name = path.stem
        if file_name(name) != name or path.suffix != ".md" or len(path.relative_to(self.folder).parts) != _DEPTH:
            return ""
        known = self._paths.get(name)
        stamp = files.stamp_of(str(path))
        is_ours = self._disk.wrote(stamp) if stamp else known is None
        if is_ours or known not in (None, path) or (stamp and stamp == self._seen.get(name)):
            return ""
        if stamp:
            self._redact(path)
            self._paths[name], self._seen[name] = path, files.stamp_of(str(path))
            self._changes.publish(ChangeKind.EPISODE, name)
            return "added" if known is None else "edited"
        self.gone(path)
        return "removed"

    def rewritten(self, path: Path) -> None:
        """Credentials were taken out of a file; readers are told when it is an episode."""
        if self._paths.get(path.stem) == path:
            self._seen[path.stem] = files.stamp_of(str(path))
            self._changes.publish(ChangeKind.EPISODE, path.stem)

    def gone(self, path: Path) -> None:
        """The file was taken away."""
        name = path.stem
        if self._paths.get(name) == path:
            del self._paths[name]
            self._seen.pop(name, None)
            self._changes.publish(ChangeKind.EPISODE, name, gone=True)

    def paths_in(self, folder: Path) -> list[Path]:
        """Episode files in `folder` and below that are known, or are there; any thread may ask."""
        known = [path for path in list(self._paths.values()) if path.is_relative_to(folder)]
        return list({*known, *(path for path in folder.rglob("*.md") if path.is_file())})

    def damage(self) -> list[DamagedFile]:
        """Episodes that cannot be read; reads every file."""
        found: list[DamagedFile] = []
        for name in self.ids():
            try:
                self.read(name)
            except DamagedFile as error:
                found.append(error)
            except NotFound:
                continue
        return found

    def _clean(self, text: str) -> str:
        return normal_body(self._scan.clean_turn(text).replace("\0", "\ufffd")).strip()

    def _refuse_forgotten(self, parts: Parts) -> None:
        """Whole parts and their lines: a tombstone knows a value, not where it stands in a text."""
        lines = (line.strip() for part in parts for line in (part, *part.splitlines()))
        if any(line and self._tombstones.refuses("", line) for line in lines):
            raise Tombstoned("the episode says what was forgotten; only the person can state that again")

    def _known(self, name: str) -> EpisodeView | None:
        try:
            return self.read(name)
        except (NotFound, DamagedFile):
            return None

    def _put(self, path: Path, data: bytes) -> EpisodeVerb:
        try:
            self._disk.create(path, data)
        except FileExistsError:
            if files.read(path, MAX_FILE_BYTES) == data:
                self._disk.keep(path)
                return EpisodeVerb.UNCHANGED
            self._disk.replace_erasing(path, data)
            return EpisodeVerb.REPLACED
        return EpisodeVerb.CREATED

    def _redact(self, path: Path) -> None:
        """A credential in a hand edit is replaced by its marker (I12)."""
        try:
            text = files.read(path, MAX_FILE_BYTES).decode("utf-8", "replace")
        except (DamagedFile, FileNotFoundError):
            return
        clean, found = self._scan.redacted(text)
        if found:
            self._disk.replace_erasing(path, clean.encode())

    def _source(self, path: Path) -> str:
        return f"episodes/{path.relative_to(self.folder).as_posix()}"


def add_episode_routes(api: FastAPI, store: Callable[[], "Store"]) -> None:
    """`/v1/episodes`."""

    @api.post("/v1/episodes")
    async def write_episode(request: WriteEpisode) -> EpisodeWritten:
        return await store().fact_lane.run(store().episodes.write, request)

    @api.get("/v1/episodes")
    async def episodes(limit: Annotated[int, Query(ge=1, le=10_000)] = 100) -> EpisodeList:
        return EpisodeList(ids=store().episodes.ids(limit))

    @api.get("/v1/episodes/{id}")
    async def episode(id: str) -> EpisodeView:
        return await store().read_lane.run(store().episodes.read, id)


def _render(name: str, request: WriteEpisode, created: datetime, body: str) -> bytes:
    fields: dict[str, header.Written] = {
        "id": Bare(name),
        "session": file_name(request.session),
        "project": word(request.project) if request.project else None,
        "created": moment_text(created),
    }
    return header.render(fields, body)


def _view(name: str, data: bytes, path: Path, source: str) -> EpisodeView:
    parts = header.split(data, path)
    reader = Reader(header.parse(parts, path), path)
    return EpisodeView(
        id=name,
        session=reader.needed("session"),
        project=reader.text("project"),
        created=reader.moment("created") or datetime.fromtimestamp(path.stat().st_mtime, UTC),
        body=normal_body(parts.body).strip(),
        source=source,
    )
