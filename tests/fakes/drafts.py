"""The drafts of the fake store, in a dictionary; the rules of what a memory is are the real ones."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from fastapi import FastAPI

from bead import keys
from bead.drain import memory
from bead.errors import BadRequest, NotFound
from bead.facts import Trust
from bead.text.duplicates import fingerprint, is_near_duplicate
from bead.wire.drafts import Draft, DraftAnswer, DraftDecided, DraftList, DraftText, DraftVerb, Near, NewDraft
from bead.wire.store import WriteFact
from bead_store.values import normal

if TYPE_CHECKING:
    from tests.fakes.store import FakeStore


class FakeDrafts:
    """What waits in one fake store."""

    def __init__(self, store: "FakeStore") -> None:
        self._store = store
        self.waiting: dict[str, tuple[str, tuple[str, ...], str | None, datetime]] = {}
        self._decided: set[str] = set()

    def add(self, request: NewDraft) -> DraftAnswer:
        """`POST /v1/drafts`."""
        whole = memory.normal(request.body)
        hash = memory.memhash(whole)
        if any(tag.startswith("memhash:") and tag != f"memhash:{hash}" for tag in request.tags):
            raise BadRequest("a draft's hash is made from its text")
        id = f"{hash}00000000"
        return DraftAnswer(verb=self._verb(id, hash, whole, request), id=id, is_whole=len(whole.encode()) <= 8192)

    def _verb(self, id: str, hash: str, whole: str, request: NewDraft) -> DraftVerb:
        if id in self._decided:
            return DraftVerb.DECIDED
        if normal(whole) in self._store.decisions.buried:
            return DraftVerb.FORGOTTEN
        if any(normal(versions[-1].body) == normal(whole) for versions in self._store.facts.values()):
            return DraftVerb.KNOWN
        body = memory.escaped(memory.capped(whole))
        if id not in self.waiting:
            tags = (*request.tags, f"memhash:{hash}")
            self.waiting[id] = (body, tags, request.project, self._tick())
            return DraftVerb.CREATED
        body, tags, project, created = self.waiting[id]
        new = tuple(tag for tag in request.tags if tag not in tags)
        if new:
            self.waiting[id] = (body, (*tags, *new), project if project == request.project else None, created)
        return DraftVerb.TAGGED if new else DraftVerb.UNCHANGED

    def listed(self) -> DraftList:
        """`GET /v1/drafts`."""
        drafts = [self._draft(id) for id in self.waiting]
        return DraftList(drafts=tuple(sorted(drafts, key=lambda each: (-each.agents, each.created))))

    async def decide(self, action: str, id: str, text: str | None) -> DraftDecided:
        """The three verbs."""
        if id not in self.waiting:
            raise NotFound("no draft waits there")
        if text is not None:
            self.waiting[id] = (memory.escaped(memory.normal(text)), *self.waiting[id][1:])
        if action == "edit":
            return DraftDecided(id=id, decision="edited", key=self._draft(id).key)
        draft = self._draft(id)
        written = None
        if action == "approve":
            written = await self._store.client.write_fact(
                WriteFact(
                    body=draft.body,
                    trust=Trust.USER_STATED,
                    project=draft.project,
                    sources=(f"drafts/{id}",),
                    harness=draft.cli,
                )
            )
        del self.waiting[id]
        self._decided.add(id)
        word = {"approve": "approved", "discard": "discarded"}[action]
        return DraftDecided(id=id, decision=word, key=written.key if written else None, written=written)

    def _tick(self) -> datetime:
        self._store.clock += timedelta(seconds=1)
        return self._store.clock

    def _draft(self, id: str) -> Draft:
        body, tags, project, created = self.waiting[id]
        said = memory.without_header(body)
        agents = [tag[6:] for tag in tags if tag.startswith("agent:")]
        others = [Near(name=other, is_fact=False, body=self.waiting[other][0]) for other in self.waiting if other != id]
        facts = [Near(name=key, is_fact=True, body=all[-1].body) for key, all in self._store.facts.items()]
        own = fingerprint(said)
        return Draft(
            id=id,
            title=memory.title(body),
            body=said,
            agent=agents[0],
            agents=len(agents),
            cli=next(tag[4:] for tag in tags if tag.startswith("cli:")),
            tags=tags,
            created=created,
            project=project,
            key=str(keys.in_scope(f"project/{project}" if project else "user", keys.derive_name(said))),
            near=tuple(each for each in (*others, *facts) if is_near_duplicate(own, fingerprint(each.body))),
        )


def add_fake_draft_routes(api: FastAPI, store: "FakeStore") -> None:
    """`/v1/drafts`."""

    @api.post("/v1/drafts")
    async def add(request: NewDraft) -> DraftAnswer:
        return store.drafts.add(request)

    @api.get("/v1/drafts")
    async def waiting() -> DraftList:
        return store.drafts.listed()

    @api.post("/v1/drafts/{id}/{action}")
    async def decide(id: str, action: str, request: DraftText) -> DraftDecided:
        return await store.drafts.decide(action, id, request.body)
