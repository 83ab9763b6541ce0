"""Drained memories wait for a person here: taken in once, approved through the ordinary write, or discarded for good.

A draft is no fact: nothing that a model hears reads this folder (I14). Reading the agents' stores, and emptying them,
is the drain's, which runs outside; files are `draftfiles`.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from fastapi import FastAPI

from bead import keys
from bead.drain import memory
from bead.errors import BadRequest, Corrupt, DamagedFile, NotFound, Refused
from bead.facts import FactVersion, Trust
from bead.text.duplicates import Fingerprint, fingerprint, is_near_duplicate
from bead.wire.drafts import Draft, DraftAnswer, DraftDecided, DraftList, DraftText, DraftVerb, Near, NewDraft
from bead.wire.store import WriteAnswer, WriteFact
from bead_store.audit import Audit
from bead_store.draftfiles import DraftFiles, Kept
from bead_store.facts import Facts
from bead_store.intents import Intent, Intents, Operation
from bead_store.scan import Scan
from bead_store.tombstones import Tombstones
from bead_store.values import normal

if TYPE_CHECKING:
    from bead_store.app import Store

MAX_DRAFTS = 5_000
_MOST_NEAR = 3
_MARKER = re.compile(r"\[[^\]\n]*\]")
_WORDS = {Operation.APPROVE: "approved", Operation.DISCARD: "discarded"}


class Drafts:
    """Called from the facts' lane only."""

    def __init__(
        self,
        drafts: DraftFiles,
        *,
        facts: Facts,
        tombstones: Tombstones,
        intents: Intents,
        scan: Scan,
        audit: Audit,
        now: Callable[[], datetime],
    ) -> None:
        self.files = drafts
        self._facts = facts
        self._tombstones = tombstones
        self._intents = intents
        self._scan = scan
        self._audit = audit
        self._now = now

    def add(self, request: NewDraft) -> DraftAnswer:
        """Take one memory in; durable when this returns.

        Raises:
            BadRequest: it says nothing, or a tag of it is not true.
            Refused: too many drafts wait.
        """
        whole = memory.normal(request.body)
        if not whole.strip():
            raise BadRequest("the memory says nothing")
        hash = memory.memhash(whole)
        if any(tag.startswith("memhash:") and tag != f"memhash:{hash}" for tag in request.tags):
            raise BadRequest("a draft's hash is made from its text")
        id = self._tombstones.name_of_draft(hash)
        clean = self._tombstones.spans.redacted(self._scan.clean_turn(whole.replace("\0", "\N{REPLACEMENT CHARACTER}")))
        body = memory.escaped(memory.capped(clean))
        # What a draft does not hold exists in the agent's file only: the drain must not empty that.
        is_whole = clean == whole and len(clean.encode("utf-8", "replace")) <= memory.MAX_BODY_BYTES
        verb = self._settled(id, whole, clean, request.project) or self._put(id, hash, body, request)
        return DraftAnswer(verb=verb, id=id, is_whole=is_whole or verb is DraftVerb.FORGOTTEN)

    def waiting(self) -> DraftList:
        """Every draft, with what says nearly the same."""
        found = sorted(self.files.all(), key=lambda each: (-len(each.values("agent")), each.created, each.id))
        beside = _Beside([(each, fingerprint(_fact_text(each))) for each in found])
        drafts = []
        for each in found:
            facts = self._near(each.project, _fact_text(each))
            near = [*beside.of(each), *(Near(name=fact.key, is_fact=True, body=fact.body) for fact in facts)]
            drafts.append(_told(each, tuple(near[:_MOST_NEAR])))
        return DraftList(drafts=tuple(drafts))

    def decide(self, operation: Operation, id: str, text: str | None = None) -> DraftDecided:
        """Approve (in these words, when there are any) or discard; durable when this returns.

        Raises:
            NotFound: no such draft waits.
            Refused: the text cannot be written; the draft stays.
        """
        for open_id, half_done in list(self._intents.open.items()):
            if half_done.item == id and half_done.operation in _WORDS:
                self.finish(open_id, half_done)
        if text is not None:  # first, so that what a crash leaves is what the person wrote
            self.edit(id, text)
        draft = self.files.read(id)
        intent = self._intents.begin(Intent(operation, item=id))
        try:
            return self._carry_out(operation, draft)
        finally:
            if not self.files.is_half_erased(id):
                self._intents.finish(intent)

    def edit(self, id: str, text: str) -> DraftDecided:
        """Give a draft other words; it waits on, and what it was drained from is still settled by it."""
        draft = self.files.read(id)
        body = memory.normal(text)
        if not body.strip() or "\0" in body:
            raise BadRequest("a draft needs a text without NUL characters")
        self._scan.require_clean(body)
        self.files.put(draft._replace(body=memory.escaped(memory.capped(body)), suspicious=False))
        self._audit.record("edited", id)
        return DraftDecided(id=id, decision="edited", key=_key(draft._replace(body=body)))

    def finish(self, intent_id: str, intent: Intent) -> None:
        """After trouble: do what was decided, unless it is done."""
        assert intent.item is not None, "a decision is about a draft"
        if self.files.is_half_erased(intent.item):
            self.files.take_away(intent.item)
            self._audit.record(_WORDS[intent.operation], intent.item)
        else:
            with suppress(Refused, Corrupt):  # done, or it cannot be: then it is there for another decision
                self._carry_out(intent.operation, self.files.read(intent.item))
        self._intents.finish(intent_id)

    def _settled(self, id: str, whole: str, clean: str, project: str | None) -> DraftVerb | None:
        """Why this memory is not to be taken in; None when it is."""
        if self._tombstones.knows_draft(id):
            return DraftVerb.DECIDED
        said = memory.without_header(memory.escaped(whole))
        if any(self._tombstones.refuses("", text) for text in (whole, said, *whole.splitlines()) if text.strip()):
            return DraftVerb.FORGOTTEN
        if not clean.strip() or (clean != whole and not _says_more(clean)):
            return DraftVerb.FORGOTTEN
        if any(normal(fact.body) == normal(said) for fact in self._near(project, said)):
            return DraftVerb.KNOWN
        return None

    def _put(self, id: str, hash: str, body: str, request: NewDraft) -> DraftVerb:
        try:
            there: Kept | None = self.files.read(id)
        except NotFound:
            there = None
        except DamagedFile as error:
            raise Refused("the draft of this memory cannot be read; 'bead doctor' names its file") from error
        if there is None:
            if len(self.files.ids()) >= MAX_DRAFTS:
                raise Refused(f"{MAX_DRAFTS} drafts wait already; decide some with 'bead drafts'")
            tags = tuple(dict.fromkeys((*request.tags, f"memhash:{hash}")))
            project = request.project and keys.check_scope(f"project/{request.project}").partition("/")[2]
            self.files.put(Kept(id, body, tags, self._now(), project or None, request.suspicious))
            self._audit.record("drained", id)
            return DraftVerb.CREATED
        new = tuple(tag for tag in request.tags if tag not in there.tags)
        if not new:
            return DraftVerb.UNCHANGED
        # Said in two projects, it belongs to none of them.
        project = there.project if request.project == there.project else None
        self.files.put(there._replace(tags=(*there.tags, *new), project=project))
        self._audit.record("tagged", id)
        return DraftVerb.TAGGED

    def _carry_out(self, operation: Operation, draft: Kept) -> DraftDecided:
        written = self._approve(draft) if operation is Operation.APPROVE else None
        # Before the draft goes: a crash here leaves a draft that is decided again, never a memory that comes back.
        self._tombstones.bury_draft(draft.id)
        self.files.take_away(draft.id)
        self._audit.record(_WORDS[operation], draft.id)
        return DraftDecided(
            id=draft.id, decision=_WORDS[operation], key=written.key if written else None, written=written
        )

    def _approve(self, draft: Kept) -> WriteAnswer:
        return self._facts.write(
            WriteFact(
                body=_fact_text(draft),
                trust=Trust.USER_STATED,
                project=draft.project,
                sources=(f"drafts/{draft.id}",),
                harness=next(iter(draft.values("cli")), None),
            )
        )

    def _near(self, project: str | None, text: str) -> list[FactVersion]:
        """Facts that an agent in this project is told and that say nearly this; a damaged one says nothing."""
        scopes = ("user", "global", *((f"project/{project}",) if project else ()))
        found: list[FactVersion] = []
        for scope in scopes:
            with suppress(NotFound, DamagedFile):
                found += self._facts.near(scope, text)
        return found


class _Beside:
    """Drafts that are nearly the same, found by what two of them must share."""

    def __init__(self, drafts: list[tuple[Kept, Fingerprint]]) -> None:
        self._prints = {draft.id: own for draft, own in drafts}
        self._drafts = {draft.id: draft for draft, _ in drafts}
        self._by_mark: defaultdict[str, list[str]] = defaultdict(list)
        for draft, own in drafts:
            for mark in own.marks:
                self._by_mark[mark].append(draft.id)

    def of(self, draft: Kept) -> list[Near]:
        """At most a few of them."""
        own = self._prints[draft.id]
        found: list[Near] = []
        for id in dict.fromkeys(id for mark in own.marks for id in self._by_mark[mark]):
            if id != draft.id and is_near_duplicate(own, self._prints[id]):
                found.append(Near(name=id, is_fact=False, body=self._drafts[id].body))
            if len(found) == _MOST_NEAR:
                break
        return found


def add_draft_routes(api: FastAPI, store: Callable[[], "Store"]) -> None:
    """`/v1/drafts`; no scope but the person's door has them (`access`)."""

    @api.post("/v1/drafts")
    async def add(request: NewDraft) -> DraftAnswer:
        return await store().fact_lane.run(store().drafts.add, request)

    @api.get("/v1/drafts")
    async def waiting() -> DraftList:
        return await store().fact_lane.run(store().drafts.waiting)

    @api.post("/v1/drafts/{id}/approve")
    async def approve(id: str, request: DraftText) -> DraftDecided:
        return await store().fact_lane.run(store().drafts.decide, Operation.APPROVE, id, request.body)

    @api.post("/v1/drafts/{id}/edit")
    async def edit(id: str, request: DraftText) -> DraftDecided:
        return await store().fact_lane.run(store().drafts.edit, id, request.body or "")

    @api.post("/v1/drafts/{id}/discard")
    async def discard(id: str) -> DraftDecided:
        return await store().fact_lane.run(store().drafts.decide, Operation.DISCARD, id)


def _fact_text(draft: Kept) -> str:
    return memory.without_header(draft.body)


def _key(draft: Kept) -> str:
    scope = f"project/{draft.project}" if draft.project else "user"
    return str(keys.in_scope(scope, keys.derive_name(_fact_text(draft))))


def _says_more(text: str) -> bool:
    """Whether anything but markers is left of a cleaned text."""
    return bool(re.search(r"\w", _MARKER.sub("", text)))


def _told(draft: Kept, near: tuple[Near, ...]) -> Draft:
    agents = draft.values("agent")
    return Draft(
        id=draft.id,
        title=memory.title(draft.body),
        body=_fact_text(draft),
        agent=agents[0],
        agents=len(agents),
        cli=draft.values("cli")[0],
        tags=draft.tags,
        created=draft.created,
        project=draft.project,
        key=_key(draft),
        suspicious=draft.suspicious,
        near=near,
    )
