"""The fake store's episodes: in memory, not scanned."""

import hashlib
from typing import TYPE_CHECKING

from fastapi import FastAPI

from bead.episodes import PARTS, Parts, episode_body
from bead.errors import BadRequest, NotFound
from bead.wire.episodes import EpisodeList, EpisodeVerb, EpisodeView, EpisodeWritten, WriteEpisode
from bead.wire.store import ChangeKind, ManifestEntry

if TYPE_CHECKING:
    from tests.fakes.store import FakeStore


class FakeEpisodes:
    """Every episode by id, the one written first at the front."""

    def __init__(self, store: "FakeStore") -> None:
        self._store = store
        self.views: dict[str, EpisodeView] = {}

    async def write(self, request: WriteEpisode) -> EpisodeWritten:
        """`POST /v1/episodes`."""
        parts = Parts(*(getattr(request, name).strip() for name in PARTS))
        if not any(parts):
            raise BadRequest("an episode needs a situation, an action, an outcome or a lesson")
        id = request.id or f"e-{request.session}"
        known = self.views.get(id)
        created = known.created if known else (request.created or self._store.clock)
        view = EpisodeView(
            id=id,
            session=request.session,
            project=request.project,
            created=created,
            body=episode_body(parts),
            source=f"episodes/{created:%Y/%m/%d}/{id}.md",
        )
        self.views[id] = view
        if view == known:
            return EpisodeWritten(verb=EpisodeVerb.UNCHANGED, id=id, source=view.source)
        await self._store.note(ChangeKind.EPISODE, id)
        verb = EpisodeVerb.REPLACED if known else EpisodeVerb.CREATED
        return EpisodeWritten(verb=verb, id=id, source=view.source)

    async def drop(self, id: str) -> int:
        """Remove one, as a forget does; the sequence number of that change."""
        del self.views[id]
        return await self._store.note(ChangeKind.EPISODE, id, gone=True)

    def read(self, id: str) -> EpisodeView:
        """`GET /v1/episodes/{id}`."""
        if id not in self.views:
            raise NotFound("no episode has that id")
        return self.views[id]

    def newest(self, limit: int) -> EpisodeList:
        """`GET /v1/episodes`."""
        newest = sorted(self.views.values(), key=lambda view: (f"{view.created:%Y/%m/%d}", view.id), reverse=True)
        return EpisodeList(ids=tuple(view.id for view in newest[:limit]))

    def entries(self) -> list[ManifestEntry]:
        """What the manifest says of them."""
        return [
            ManifestEntry(
                kind=ChangeKind.EPISODE, id=id, hash=hashlib.sha256(view.model_dump_json().encode()).hexdigest()
            )
            for id, view in self.views.items()
        ]


def add_episode_routes(api: FastAPI, episodes: FakeEpisodes) -> None:
    """`/v1/episodes`."""

    @api.post("/v1/episodes")
    async def write(request: WriteEpisode) -> EpisodeWritten:
        return await episodes.write(request)

    @api.get("/v1/episodes")
    async def list_ids(limit: int = 100) -> EpisodeList:
        return episodes.newest(limit)

    @api.get("/v1/episodes/{id}")
    async def read(id: str) -> EpisodeView:
        return episodes.read(id)
