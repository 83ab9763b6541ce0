"""The write verbs: every change of a fact goes through here, in the facts' lane, so that its answer is true (I3, I4).

The rule itself is `supersession`, files are `files` and `frontmatter`, what is current is `catalogue`.
"""

import secrets
from collections import deque
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import structlog

from bead import keys
from bead.errors import BadRequest, BeadError, DamagedFile, NotFound, Refused, Tombstoned, Unavailable
from bead.facts import FactType, FactVersion, Sensitivity, Status, TriggerCard, Trust
from bead.text.instructions import is_suspicious
from bead.wire.drafts import is_drained_tag
from bead.wire.store import AGENT_FACTS_A_SESSION, ChangeKind, Mark, Verb, WriteAnswer, WriteFact
from bead_store import layout
from bead_store.audit import Audit
from bead_store.catalogue import Catalogue
from bead_store.changes import Changes
from bead_store.conflicts import Conflicts
from bead_store.disk import Disk
from bead_store.files import stamp_of
from bead_store.frontmatter import Rewrite, normal_body, render_fact, rewrite_fact
from bead_store.privacy import remove_private
from bead_store.projects import Projects
from bead_store.quota import Quota
from bead_store.review import KEY_CONFLICT, Proposal, ReviewFiles
from bead_store.scan import Scan
from bead_store.supersession import NewVersion, Reinforce, Review, Statement, Unchanged, decide
from bead_store.tombstones import Tombstones

MAX_BODY_BYTES = 64 << 10
MAX_CARD_ITEMS = 50
MAX_CARD_ITEM_CHARS = 500
MAX_SOURCES = 100
_ATTEMPTS = 20
"""A sync tool or a person can put a version where we are about to; each time the key is read anew."""

_SCOPES = frozenset({"user", "global", "project", "team"})

_SUSPICIOUS = "suspicious"
_IMPORTED = "imported"
_CONFLICT_REASON = (
    "it is stored under a key of its own, and this fact says something else about the same. Accepted, it becomes this "
    "fact's next version as well; rejected, both stay, and a request that brings up both is still told only one of "
    "them. To hear one for good, forget the other; to hear both, word them further apart"
)
"""What either decision does (D2): no rejection lets both speak at once. Names no key: a forget need not look here."""
_FLOOD = "flood"
_FLOOD_REASON = f"its session has stated {AGENT_FACTS_A_SESSION} facts already; what an agent states beyond that waits"

log = structlog.get_logger()


class Facts:
    """Facts of one home."""

    def __init__(
        self,
        folder: Path,
        owner: str,
        *,
        disk: Disk,
        catalogue: Catalogue,
        review: ReviewFiles,
        projects: Projects,
        changes: Changes,
        audit: Audit,
        scan: Scan,
        tombstones: Tombstones,
        now: Callable[[], datetime],
    ) -> None:
        self._folder = folder
        self._owner = owner
        self._disk = disk
        self._catalogue = catalogue
        self._review = review
        self._projects = projects
        self._changes = changes
        self._audit = audit
        self._scan = scan
        self._tombstones = tombstones
        self._now = now
        self._unmarked: deque[tuple[str, int]] = deque()
        """What `mark_behind` has to do; its owner calls that when the answer is out."""
        self._conflicts = Conflicts(catalogue)
        self._quota = Quota()
        self.require_plain: Callable[[str], None] = lambda key: None
        """Raises Sealed for a key in the vault; set once by the owner."""

    def write(self, request: WriteFact) -> WriteAnswer:
        """Put a statement under its key; durable when this returns.

        Raises:
            Refused: the key, the text or the card cannot be stored; nothing was changed.
            DamagedFile: the key's highest version cannot be read, so nobody can say what this would replace.
        """
        body = checked_body(request.body)
        scope, default_type = scope_and_type(request)
        key = str(keys.in_scope(scope, request.key if request.key is not None else keys.derive_name(body)))
        _check_extent(request)
        card = request.when or TriggerCard()
        self._scan.require_clean(
            body, key, *card.say, *card.do, *card.see, *card.unless, *request.sources, request.harness or ""
        )
        self._check_tombstones(key, body, card, request.trust)
        statement = Statement(body, request.type or default_type, request.trust, request.when)
        for _ in range(_ATTEMPTS):
            try:
                answer = self._apply(key, statement, request)
                # The value first: a crash here leaves a refused value that is there, never one that nobody stated.
                if request.trust is Trust.USER_STATED and self._tombstones.lift(key, body, answer.uid):
                    self._audit.record("restored", answer.uid, version=answer.version)
                return answer
            except FileExistsError:
                continue
            except Unavailable:
                # It may be there all the same (the last sync failed): what is told must be what is on disk.
                self._catalogue.refresh(key)
                raise
        raise Unavailable(f"'{key}' is being written by something else, again and again; try later")

    def near(self, scope: str, text: str) -> list[FactVersion]:
        """The current facts of `scope` that say the text, or nearly."""
        return self._conflicts.near(scope, text)

    def mark(self, mark: Mark) -> FactVersion:
        """Pin, unpin, put to sleep or wake the current version, or give it another trigger card.

        Raises:
            NotFound, DamagedFile: there is no current version to mark.
            Refused: the card holds a credential, or what was forgotten.
        """
        if mark.status not in (None, Status.CURRENT, Status.DORMANT):
            raise BadRequest(f"a mark sets the status to current or dormant, not to {mark.status}")
        key = str(keys.parse(mark.key))
        self.require_plain(key)
        if mark.when is not None:
            self._check_card(key, mark.when)
        self._catalogue.refresh(key)
        current = self._catalogue.current(key)
        change = Rewrite(status=mark.status, pinned=mark.pinned, when=mark.when)
        if change.apply(current) == current:
            self._disk.keep(layout.version_path(self._folder, key, current.version))
            return current
        self._rewrite(current, change)
        self._audit.record("marked", current.uid, version=current.version)
        return self._published(key)

    def note_injected(self, key: str, uid: str, at: datetime) -> bool:
        """Let the current version of this fact say that it was injected at `at`, unless it names a later time.

        Whether its file was changed; not when the key holds another fact by now.

        Raises:
            Unavailable: the disk refused.
        """
        try:
            self._catalogue.refresh(key)
            current = self._catalogue.current(key)
            is_noted = current.last_injected is not None and current.last_injected >= at
            if is_noted or current.uid != uid or not self._says_its_date(current):
                return False
            self._rewrite(current, Rewrite(last_injected=at))
        except NotFound:  # forgotten meanwhile
            return False
        except DamagedFile as error:
            log.warning("a fact does not say when it was injected", uid=uid, error=error.code)
            return False
        self._published(key)
        return True

    def finish_interrupted(self) -> None:
        """After a crash between new versions and the marks on the old ones: mark them now.

        Marks are made in the order of the versions, so one that is marked has no unmarked one below it.
        """
        for entry in self._catalogue.entries():
            for version in reversed(entry.versions[:-1]):
                if not self._mark_superseded(entry.key, version):
                    break

    def mark_behind(self) -> None:
        """Let old versions say what they are. For readers only (I1), so nobody has waited for it; a crash before this
        is made good by the next start."""
        while self._unmarked:
            key, version = self._unmarked.popleft()
            entry = self._catalogue.refresh(key)
            if entry and version in entry.versions[:-1]:  # not forgotten, moved, or the first of a new beginning
                self._mark_superseded(key, version)
                self._catalogue.refresh(key)

    def _check_tombstones(self, key: str, body: str, card: TriggerCard, trust: Trust) -> None:
        said = (body, *card.say, *card.do, *card.see, *card.unless)
        if trust is not Trust.USER_STATED and any(self._tombstones.refuses(key, text) for text in said):
            raise Tombstoned("this was forgotten or rejected; only the person can state it again")

    def _check_card(self, key: str, card: TriggerCard) -> None:
        entries = (*card.say, *card.do, *card.see, *card.unless)
        check_card_extent(card)
        self._scan.require_clean(*entries)
        if any(self._tombstones.refuses(key, text) for text in entries):
            raise Tombstoned("the card says what was forgotten or rejected; nothing was changed")

    def _apply(self, key: str, statement: Statement, request: WriteFact) -> WriteAnswer:
        self.require_plain(key)
        entry = self._catalogue.refresh(key)
        current = self._catalogue.current(key) if entry else None
        match decide(current, statement):
            case NewVersion() if request.trust is not Trust.USER_STATED and is_suspicious(statement.body):
                return self._queue_first(_SUSPICIOUS, key, current, statement, request)
            case NewVersion() if request.trust is not Trust.USER_STATED and request.review:
                return self._queue_first(_IMPORTED, key, current, statement, request)
            case NewVersion() if self._is_counted(request) and self._quota.is_used_up(request.session or ""):
                answer = self._queue_first(_FLOOD, key, current, statement, request, _FLOOD_REASON)
                return answer.model_copy(update={"reason": _FLOOD_REASON})
            case NewVersion(version, supersedes):
                answer = self._write_version(key, version, supersedes, statement, request)
                if self._is_counted(request):
                    self._quota.note(request.session or "")
                return answer
            case Reinforce(change):
                assert current is not None, "only what is there can be reinforced"
                self._rewrite(current, change)
                trust = (change.trust or current.trust).value
                self._audit.record("reinforced", current.uid, version=current.version, trust=trust)
                return _answer(Verb.REINFORCED, self._published(key))
            case Unchanged():
                assert current is not None, "only what is there can be unchanged"
                self._disk.keep(layout.version_path(self._folder, key, current.version))
                return _answer(Verb.UNCHANGED, current)
            case Review():
                assert current is not None, "only what is there can outrank a write"
                return self._queue(current, statement, request)

    def _is_counted(self, request: WriteFact) -> bool:
        return request.session is not None and request.trust is not Trust.USER_STATED

    def _write_version(
        self, key: str, version: int, supersedes: FactVersion | None, statement: Statement, request: WriteFact
    ) -> WriteAnswer:
        fact = FactVersion(
            uid=supersedes.uid if supersedes else secrets.token_hex(16),
            key=key,
            version=version,
            type=statement.type,
            owner=self._owner,
            status=Status.CURRENT,
            trust=statement.trust,
            sensitivity=request.sensitivity,
            valid_from=self._now(),
            body=statement.body,
            pinned=supersedes.pinned if supersedes else False,
            sources=request.sources,
            harness=request.harness,
            project_id=self._projects.identity_of(keys.parse(key).scope),
            when=statement.when or TriggerCard(),
        )
        before = supersedes.version if supersedes else None
        data = render_fact(fact, before)
        path = layout.version_path(self._folder, key, version)
        made = self._disk.create(path, data)
        self._catalogue.put(key, version, data, made)
        self._changes.publish(ChangeKind.FACT, key)
        verb = Verb.SUPERSEDED if supersedes else Verb.CREATED
        self._audit.record(verb, fact.uid, version=version, trust=fact.trust.value)
        if supersedes:
            self._unmarked.append((key, supersedes.version))
        return self._with_conflict(_answer(verb, fact, replaced=supersedes.body if supersedes else None), fact)

    def _with_conflict(self, answer: WriteAnswer, written: FactVersion) -> WriteAnswer:
        """Ask the person about another fact that says something else about the same (D2); never undoes the write."""
        try:
            other = self._conflicts.of(written)
            if other is None:
                return answer
            proposal = Proposal(
                kind=KEY_CONFLICT,
                key=other.key,
                body=written.body,
                type=other.type,
                trust=written.trust,
                when=written.when,
                sources=written.sources,
                harness=written.harness,
                reason=_CONFLICT_REASON,
            )
            item = self._review.add(proposal, self._now())
        except BeadError as error:
            log.warning("a conflict of two facts is not queued", uid=written.uid, error=error.code)
            return answer
        self._audit.record("queued", other.uid, version=other.version)
        return answer.model_copy(update={"conflicts_with": other.key, "review_id": item})

    def _queue(self, current: FactVersion, statement: Statement, request: WriteFact) -> WriteAnswer:
        proposal = Proposal(
            kind="less-trusted",
            key=current.key,
            body=statement.body,
            type=statement.type,
            trust=statement.trust,
            when=statement.when or TriggerCard(),
            sources=request.sources,
            harness=request.harness,
        )
        item = self._review.add(proposal, self._now())
        self._audit.record("queued", current.uid, version=current.version)
        return _answer(Verb.QUEUED, current, review_id=item)

    def _queue_first(
        self,
        kind: str,
        key: str,
        current: FactVersion | None,
        statement: Statement,
        request: WriteFact,
        reason: str | None = None,
    ) -> WriteAnswer:
        """What reads like an instruction, was kept by another program, or is one of too many reaches no model before
        a person (I14)."""
        proposal = Proposal(
            kind=kind,
            key=key,
            body=statement.body,
            type=statement.type,
            trust=statement.trust,
            when=statement.when or TriggerCard(),
            sources=request.sources,
            harness=request.harness,
            suspicious=kind == _SUSPICIOUS,
            reason=reason,
        )
        item = self._review.add(proposal, self._now())
        uid, version = (current.uid, current.version) if current else (item, 0)
        self._audit.record("queued", uid, version=version)
        return WriteAnswer(verb=Verb.QUEUED, key=key, uid=uid, version=version, review_id=item)

    def _mark_superseded(self, key: str, version: int) -> bool:
        """Let the old version say what it is; whether it did not yet.

        It is for readers only, so trouble here never undoes a write (I1).
        """
        try:
            seen = stamp_of(str(layout.version_path(self._folder, key, version)))
            data, fact, place = self._catalogue.read_version(key, version)
            if fact.status in (Status.CURRENT, Status.DORMANT):
                self._disk.replace(place.path, rewrite_fact(data, Rewrite(status=Status.SUPERSEDED), place), seen)
                return True
        except BeadError as error:
            log.warning("an old version keeps its old status", uid=self._catalogue.uid(key), error=error.code)
        return False

    def _rewrite(self, current: FactVersion, change: Rewrite) -> None:
        seen = stamp_of(str(layout.version_path(self._folder, current.key, current.version)))
        data, _, place = self._catalogue.read_version(current.key, current.version)
        self._disk.replace(place.path, rewrite_fact(data, change, place), seen)

    def _says_its_date(self, current: FactVersion) -> bool:
        """False for a file of a person's that is as old as the disk says: to write it would make the fact new."""
        _, fact, place = self._catalogue.read_version(current.key, current.version)
        return place.written != fact.valid_from

    def _published(self, key: str) -> FactVersion:
        self._catalogue.refresh(key)
        fact = self._catalogue.current(key)
        self._changes.publish(ChangeKind.FACT, key)
        return fact


def _answer(verb: Verb, fact: FactVersion, *, replaced: str | None = None, review_id: str | None = None) -> WriteAnswer:
    return WriteAnswer(
        verb=verb, key=fact.key, uid=fact.uid, version=fact.version, replaced=replaced, review_id=review_id
    )


def scope_and_type(request: WriteFact) -> tuple[str, FactType]:
    """Where a key without a scope goes, and the type of what lies there. A key with a scope wins (D2)."""
    named = request.key.split("/", 1)[0] if request.key and "/" in request.key else ""
    if named in _SCOPES:
        return "user", FactType.PROJECT if named == "project" else FactType.USER
    if request.project is None or request.type is FactType.USER:
        return "user", FactType.USER
    return keys.check_scope(f"project/{request.project}"), FactType.PROJECT


def checked_body(text: str) -> str:
    """The text as it is stored. Raises BadRequest when it cannot be."""
    body = normal_body(remove_private(text))
    if not body.strip():
        raise BadRequest("there is no text to remember")
    if "\0" in body:
        raise BadRequest("the text holds a NUL character")
    try:
        size = len(body.encode())
    except UnicodeEncodeError:
        raise BadRequest("the text is not valid Unicode") from None
    if size > MAX_BODY_BYTES:
        raise BadRequest(f"a fact has at most {MAX_BODY_BYTES} bytes, this one has {size}; keep the gist")
    return body


def _check_extent(request: WriteFact) -> None:
    if request.sensitivity is Sensitivity.SECRET:
        raise Refused("a secret goes into the vault, and this way does not lead there; nothing was written")
    if len(request.sources) > MAX_SOURCES:
        raise BadRequest(f"a fact names at most {MAX_SOURCES} sources")
    if any(is_drained_tag(source) for source in request.sources):
        raise Refused("the tags of the drain are for drafts only")
    check_card_extent(request.when or TriggerCard())


def check_card_extent(card: TriggerCard) -> None:
    """Raises `BadRequest` for a card that is too large."""
    for part in (card.say, card.do, card.see, card.unless):
        if len(part) > MAX_CARD_ITEMS or any(len(item) > MAX_CARD_ITEM_CHARS for item in part):
            raise BadRequest(
                f"a trigger card has at most {MAX_CARD_ITEMS} entries a part, of {MAX_CARD_ITEM_CHARS} characters each"
            )
