"""Moves a fact between plaintext and vault, and writes secrets: a key is one of both, whatever happens (I2, I12).

Seal: an intent, every version encrypted, then the plain files are taken aside, and what they say goes out of turns,
conversations, documents and index as with a forget, but nothing is refused afterwards. Unseal: an intent, every
version plain again, then the sealed ones go. A start that finds an intent goes on when the copies are complete, and
back when they are not. A secret that is written is encrypted in memory and is on no disk in the clear.
"""

import secrets
from collections.abc import Callable, Iterable
from datetime import datetime

from bead import keys
from bead.errors import BadRequest, BeadError, DamagedFile, Exists, HoldsCredential, NotAllowed, NotFound
from bead.facts import FactType, FactVersion, Sensitivity, Status, TriggerCard, Trust
from bead.home import Home
from bead.wire.store import ChangeKind, ForgetPlace, Rekey, Rekeyed, Verb, WriteAnswer, WriteFact
from bead.wire.vault import OpenVersion, Seal, SealAnswer, Unseal, Unsealed
from bead_store import layout
from bead_store.audit import Audit
from bead_store.catalogue import Catalogue
from bead_store.changes import Changes
from bead_store.disk import Disk
from bead_store.facts import checked_body, scope_and_type
from bead_store.files import damaged
from bead_store.forget import Forgetting
from bead_store.forgetsteps import UID_CHARS, Work
from bead_store.frontmatter import NewPlace, Rewrite, move_fact, parse_fact, render_fact, rewrite_fact
from bead_store.intents import Intent, Intents, Operation
from bead_store.lanes import Lane
from bead_store.projects import Projects
from bead_store.scan import Scan
from bead_store.told import files_of, wanted_of
from bead_store.tombstones import Tombstones
from bead_store.vault import Vault, place_inside, remove_folder

_UID_CHARS = 32
_NOT_TEXT = ("tombstones", "facts", "audit log")
"""Places of a forget's receipt that count no text found elsewhere."""


class Sealing:
    """Asked from the event loop; what it changes of facts it changes in the facts' lane."""

    def __init__(
        self,
        home: Home,
        owner: str,
        *,
        vault: Vault,
        disk: Disk,
        catalogue: Catalogue,
        projects: Projects,
        tombstones: Tombstones,
        intents: Intents,
        changes: Changes,
        audit: Audit,
        scan: Scan,
        forgetting: Forgetting,
        lane: Lane,
        reading: Lane,
        now: Callable[[], datetime],
    ) -> None:
        self._facts = home.facts
        self._owner = owner
        self._vault = vault
        self._disk = disk
        self._catalogue = catalogue
        self._projects = projects
        self._tombstones = tombstones
        self._intents = intents
        self._changes = changes
        self._audit = audit
        self._scan = scan
        self._forgetting = forgetting
        self._lane = lane
        self._reading = reading
        self._now = now

    # -- asked by a person -------------------------------------------------------------------------------------------

    async def seal(self, request: Seal) -> SealAnswer:
        """Move a fact with its history into the vault; nothing is left of it in the clear when this returns.

        Raises:
            NotFound: nothing is stored under the key.
            Sealed: it is sealed already.
            NoVault: there is none.
            DamagedFile: a version cannot be read; nothing was changed.
        """
        key = str(keys.parse(request.key))
        also_in = await self._reading.run(self._also_in, key)
        work = await self._lane.run(self._begin_seal, key)
        index = await self._forgetting.take_out(work)
        level, _ = self._forgetting.steps.medium()
        return SealAnswer(
            key=key,
            versions=len(self._vault.versions(key)),
            redacted=sum(place.removed for place in _of_text(work.places)),
            left=(*(words for place in work.places for words in place.left), *also_in),
            level=level,
            index=index,
        )

    async def write(self, request: WriteFact) -> WriteAnswer:
        """Keep a secret; a plain history of its key is sealed first.

        Raises:
            BadRequest: it has no key, or one that is a name made from its words.
            NotAllowed: it is not the person who states it.
            NoVault: there is none.
        """
        key, body = self._checked_secret(request)
        if await self._lane.run(self._catalogue.refresh, key) is not None:
            await self.seal(Seal(key=key))
        return await self._lane.run(self._write, key, body, request)

    def unseal(self, request: Unseal) -> Unsealed:
        """Make it a plain fact again, as the caller has decrypted it; in the facts' lane.

        Raises:
            NotFound: the key is not sealed.
            BadRequest: these are not the versions that are sealed.
            HoldsCredential: it is one; it stays in the vault.
        """
        key = str(keys.parse(request.key))
        sealed = self._vault.versions(key)
        if not sealed:
            raise NotFound(f"nothing is sealed under '{key}'")
        if tuple(version.version for version in request.versions) != sealed:
            raise BadRequest(f"'{key}' has other versions than these; read it again")
        if self._catalogue.refresh(key) is not None:
            raise Exists(f"there are plain files under '{key}' as well; look at them and take them away first")
        plain = self._plain(key, request.versions)
        intent = Intent(Operation.UNSEAL, names=(self._tombstones.name(key),), versions=sealed)
        id = self._intents.begin(intent)
        try:
            for version, data in zip(sealed, plain, strict=True):
                self._disk.create(layout.version_path(self._facts, key, version), data)
        except (BeadError, FileExistsError):
            self._take_back_plain(id, key, sealed)
            raise
        self._leave_vault(id, key, sealed)
        return Unsealed(key=key, versions=len(sealed))

    def rekey(self, request: Rekey, plainly: Callable[[Rekey], Rekeyed]) -> Rekeyed:
        """Move a sealed key as it is; `plainly` moves one that is not. In the facts' lane."""
        old, new = str(keys.parse(request.old)), str(keys.parse(request.new))
        self._vault.require_plain(new)
        versions = self._vault.versions(old)
        if not versions:
            return plainly(request)
        if self._catalogue.refresh(new) is not None:
            raise Exists(f"something is stored under '{new}', and bead never writes over it; choose another key")
        names = (self._tombstones.name(old), self._tombstones.name(new))
        id = self._intents.begin(Intent(Operation.MOVE_SEALED, names=names))
        self._move(id, old, new)
        return Rekeyed(key=new, uid=self._uid(new), versions=len(versions))

    def both(self) -> list[DamagedFile]:
        """Sealed keys under which somebody has put plain files: a person must say which of them counts."""
        reason = "lies in the clear under a key that is sealed; move it away, or write it with --sensitivity secret"
        found = (each.key for each in self._vault.keys())
        folders = ((key, layout.directory_of(self._facts, key)) for key in found)
        return [
            damaged(layout.version_path(self._facts, key, version), None, reason)
            for key, folder in folders
            for version in layout.versions_in(folder)
        ]

    # -- after a crash -----------------------------------------------------------------------------------------------

    async def resume(self, id: str, intent: Intent) -> None:
        """Go on when what was being made is complete, else back."""
        if intent.operation is Operation.SEAL:
            if await self._lane.run(self._goes_on, id, intent):
                await self._forgetting.steps.finish(_work(id, intent))
        elif intent.operation is Operation.UNSEAL:
            await self._lane.run(self._finish_unseal, id, intent)
        else:
            await self._lane.run(self._finish_move, id, intent)

    def _goes_on(self, id: str, intent: Intent) -> bool:
        """Whether the plain files are away now; else the sealed ones are, and it never happened."""
        key = self._sealed_key(intent.names[0])
        if key is not None and {*intent.versions} <= {*self._vault.versions(key)}:
            self._take_aside(id, key)
            return True
        if key is not None:
            self._vault.drop(key, intent.versions)
        self._intents.finish(id)
        return False

    def _finish_unseal(self, id: str, intent: Intent) -> None:
        key = self._sealed_key(intent.names[0])
        if key is None:  # all of it is plain, and the last sealed version went before the crash
            self._intents.finish(id)
            return
        there = layout.versions_in(layout.directory_of(self._facts, key))
        if {*intent.versions} <= {*there}:
            self._leave_vault(id, key, intent.versions)
        else:
            self._take_back_plain(id, key, intent.versions)

    def _finish_move(self, id: str, intent: Intent) -> None:
        old, new = (self._sealed_key(name) for name in intent.names)
        if old is not None and new is not None:
            self._move(id, old, new)
        else:  # all of it has moved, or nothing
            self._intents.finish(id)

    # -- seal --------------------------------------------------------------------------------------------------------

    def _begin_seal(self, key: str) -> Work:
        self._vault.require_plain(key)
        if self._catalogue.refresh(key) is None:
            raise NotFound(f"nothing is stored under '{key}'")
        self._vault.require()
        versions = layout.versions_in(layout.directory_of(self._facts, key))
        # All are read before anything is begun: a damaged file would stop it half way.
        texts = [self._secret_text(key, version) for version in versions]
        uid = self._catalogue.uid(key)
        intent = Intent(Operation.SEAL, uids=(uid,), names=(self._tombstones.name(key),), versions=versions)
        id = self._intents.begin(intent)
        try:
            for version, data in zip(versions, texts, strict=True):
                self._vault.put(key, version, data)
        except (BeadError, FileExistsError):
            self._vault.drop(key, versions)
            self._intents.finish(id)
            raise
        self._take_aside(id, key)
        return _work(id, intent)

    def _also_in(self, key: str) -> list[str]:
        """Other facts that say it in the clear; they are facts of their own, so a person decides."""
        wanted = wanted_of(files_of(layout.directory_of(self._facts, key)), ())
        others = (each for each in self._catalogue.entries() if each.key != key and each.message is not None)
        near = (each for each in others if wanted.may_be_in(each.message or b"", ""))
        return [
            f"'{each.key}' says it too and stays in the clear"
            for each in near
            if each.fact and wanted.holds(each.fact.body)
        ]

    def _secret_text(self, key: str, version: int) -> bytes:
        data, _, place = self._catalogue.read_version(key, version)
        return rewrite_fact(data, Rewrite(sensitivity=Sensitivity.SECRET), place)

    def _take_aside(self, id: str, key: str) -> None:
        """Everything in the key's folder; it says what to look for until nothing else holds it."""
        folder = layout.directory_of(self._facts, key)
        first = len(self._intents.taken(id))
        for number, path in enumerate(files_of(folder), first):
            self._disk.move(path, self._intents.folder(id) / f"{number:06}")
        remove_folder(self._disk, folder, self._facts)
        self._catalogue.refresh(key)
        self._changes.publish(ChangeKind.FACT, key, gone=True)

    # -- a new secret ------------------------------------------------------------------------------------------------

    def _checked_secret(self, request: WriteFact) -> tuple[str, str]:
        if request.trust is not Trust.USER_STATED:
            raise NotAllowed("only you can put something into the vault")
        if request.key is None:
            raise BadRequest("a secret needs a key: one made from its words would tell it")
        key = str(keys.in_scope(scope_and_type(request)[0], request.key))
        self._scan.require_clean(key)
        return key, checked_body(request.body)

    def _write(self, key: str, body: str, request: WriteFact) -> WriteAnswer:
        if self._catalogue.refresh(key) is not None:
            raise Exists(f"a plain fact was written under '{key}' a moment ago; try again")
        before = max(self._vault.versions(key), default=None)
        fact = FactVersion(
            uid=secrets.token_hex(UID_CHARS // 2),
            key=key,
            version=(before or 0) + 1,
            type=request.type or _type(key),
            owner=self._owner,
            status=Status.CURRENT,
            trust=request.trust,
            sensitivity=Sensitivity.SECRET,
            valid_from=self._now(),
            body=body,
            sources=request.sources,
            harness=request.harness,
            project_id=self._projects.identity_of(keys.parse(key).scope),
            when=request.when or TriggerCard(),
        )
        self._vault.put(key, fact.version, render_fact(fact, before))
        verb = Verb.SUPERSEDED if before else Verb.CREATED
        self._audit.record(f"sealed {verb}", self._uid(key), version=fact.version)
        return WriteAnswer(verb=verb, key=key, uid=self._uid(key), version=fact.version)

    # -- unseal ------------------------------------------------------------------------------------------------------

    def _plain(self, key: str, versions: tuple[OpenVersion, ...]) -> list[bytes]:
        """Their files under `key`, with one uid and statuses as a plain history has them."""
        uid, highest = "", versions[-1].version
        project_id = self._projects.identity_of(keys.parse(key).scope)
        written: list[bytes] = []
        for version in versions:
            data = version.text.encode()
            place = place_inside(key, version.version, data, self._owner, self._now())
            fact = parse_fact(data, place)
            self._require_no_credential(key, fact)
            uid = uid or fact.uid or self._uid(key)
            moved = move_fact(data, place, NewPlace(key, uid, project_id))
            kept = fact.status if fact.status is Status.DORMANT else Status.CURRENT
            status = kept if fact.version == highest else Status.SUPERSEDED
            change = Rewrite(sensitivity=Sensitivity.PRIVATE, status=status)
            written.append(rewrite_fact(moved, change, place._replace(key=key)))
        return written

    def _require_no_credential(self, key: str, fact: FactVersion) -> None:
        try:
            self._scan.require_clean(fact.body)
        except HoldsCredential:
            raise HoldsCredential(
                f"version {fact.version} of '{key}' holds what looks like a credential, so it stays in the vault; "
                "'bead sealed show' prints it"
            ) from None

    def _leave_vault(self, id: str, key: str, versions: Iterable[int]) -> None:
        self._vault.drop(key, versions)
        self._catalogue.refresh(key)
        self._changes.publish(ChangeKind.FACT, key)
        self._audit.record("unsealed", self._catalogue.uid(key))
        self._intents.finish(id)

    def _take_back_plain(self, id: str, key: str, versions: Iterable[int]) -> None:
        for version in versions:
            self._disk.erase(layout.version_path(self._facts, key, version))
        remove_folder(self._disk, layout.directory_of(self._facts, key), self._facts)
        self._catalogue.refresh(key)
        self._intents.finish(id)

    # -- names -------------------------------------------------------------------------------------------------------

    def _move(self, id: str, old: str, new: str) -> None:
        self._vault.move(old, new)
        self._audit.record("rekeyed", self._uid(new))
        self._intents.finish(id)

    def _sealed_key(self, name: str) -> str | None:
        return next((each.key for each in self._vault.keys() if self._tombstones.name(each.key) == name), None)

    def _uid(self, key: str) -> str:
        """What stands for a sealed key where its text must not appear: its uid is encrypted."""
        return self._tombstones.name(key)[:UID_CHARS]


def _work(id: str, intent: Intent) -> Work:
    return Work(id, intent.uids, intent.names, keys=(), is_seal=True)


def _of_text(places: Iterable[ForgetPlace]) -> list[ForgetPlace]:
    return [place for place in places if place.place not in _NOT_TEXT]


def _type(key: str) -> FactType:
    return FactType.PROJECT if key.startswith("project/") else FactType.USER
