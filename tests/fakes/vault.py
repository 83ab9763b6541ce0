"""The vault of the fake store: real encryption in a dictionary. It scans nothing and redacts nothing."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fastapi import FastAPI

from bead import age, keys
from bead.errors import BadRequest, Exists, NotAllowed, NotFound, NoVault, Refused, Sealed
from bead.facts import FactType, FactVersion, Sensitivity, Status, TriggerCard, Trust
from bead.wire.store import ChangeKind, IndexState, Rekey, Rekeyed, Verb, WriteAnswer, WriteFact
from bead.wire.vault import (
    NewRecipient,
    NewVault,
    Seal,
    SealAnswer,
    SealedFact,
    SealedKey,
    SealedList,
    SealedVersion,
    Unseal,
    Unsealed,
    VaultIdentity,
    VaultState,
)
from bead_store.frontmatter import parse_fact, render_fact
from bead_store.vault import place_inside

if TYPE_CHECKING:
    from tests.fakes.store import FakeStore


class FakeVault:
    """What one fake store has sealed."""

    def __init__(self, store: "FakeStore") -> None:
        self._store = store
        self.recipient: str | None = None
        self.identity: bytes | None = None
        self.sealed: dict[str, dict[int, bytes]] = {}

    def state(self) -> VaultState:
        """`GET /v1/vault`."""
        return VaultState(recipient=self.recipient, has_identity=self.identity is not None)

    def create(self, request: NewVault) -> VaultState:
        """`POST /v1/vault`."""
        try:
            age.Recipient(request.recipient)
        except age.AgeError:
            raise Refused("that is no recipient") from None
        if self.identity is not None:
            raise Exists("there is an identity")
        self.recipient, self.identity = request.recipient, request.identity
        return self.state()

    def restore_recipient(self, request: NewRecipient) -> VaultState:
        """`POST /v1/vault/recipient`."""
        if self.identity is None:
            raise NoVault("there is no vault")
        if self.recipient not in (None, request.recipient):
            raise Exists("another recipient is there")
        self.recipient = request.recipient
        return self.state()

    def read_identity(self) -> VaultIdentity:
        """`GET /v1/vault/identity`."""
        if self.identity is None:
            raise NoVault("there is no vault")
        return VaultIdentity(identity=self.identity)

    def keys(self) -> SealedList:
        """`GET /v1/vault/sealed`."""
        found = sorted(self.sealed.items())
        return SealedList(sealed=tuple(SealedKey(key=key, versions=tuple(versions)) for key, versions in found))

    def read(self, key: str) -> SealedFact:
        """`GET /v1/vault/sealed/{key}`."""
        if key not in self.sealed:
            raise NotFound("nothing is sealed there")
        versions = (SealedVersion(version=number, data=data) for number, data in self.sealed[key].items())
        return SealedFact(key=key, versions=tuple(versions))

    def require_plain(self, key: str) -> None:
        """Raise Sealed for a key in the vault."""
        if key in self.sealed:
            raise Sealed("that is sealed", key=key, versions=[*self.sealed[key]], status="sealed")

    async def seal(self, request: Seal) -> SealAnswer:
        """`POST /v1/vault/seal`."""
        key = request.key
        self.require_plain(key)
        if key not in self._store.facts:
            raise NotFound("nothing is stored there")
        self._require()
        versions = self._store.facts.pop(key)
        self.sealed[key] = {fact.version: self._encrypted(fact) for fact in versions}
        await self._store.note(ChangeKind.FACT, key, gone=True)
        return SealAnswer(key=key, versions=len(versions), redacted=0, level=1, index=IndexState.NO_INDEX)

    async def write(self, request: WriteFact) -> WriteAnswer:
        """`POST /v1/facts` with a secret."""
        if request.trust is not Trust.USER_STATED:
            raise NotAllowed("only the person may")
        if request.key is None:
            raise BadRequest("a secret needs a key")
        self._require()
        key = str(keys.in_scope(f"project/{request.project}" if request.project else "user", request.key))
        if key in self._store.facts:
            await self.seal(Seal(key=key))
        before = max(self.sealed.get(key, ()), default=0)
        fact = FactVersion(
            uid=f"sealed {key}",
            key=key,
            version=before + 1,
            type=request.type or FactType.USER,
            owner="me",
            status=Status.CURRENT,
            trust=request.trust,
            sensitivity=Sensitivity.SECRET,
            valid_from=datetime.now(UTC),
            body=request.body,
            when=request.when or TriggerCard(),
        )
        self.sealed.setdefault(key, {})[fact.version] = self._encrypted(fact)
        verb = Verb.SUPERSEDED if before else Verb.CREATED
        return WriteAnswer(verb=verb, key=key, uid=fact.uid, version=fact.version)

    async def unseal(self, request: Unseal) -> Unsealed:
        """`POST /v1/vault/unseal`."""
        key = request.key
        if key not in self.sealed:
            raise NotFound("nothing is sealed there")
        if [version.version for version in request.versions] != [*self.sealed[key]]:
            raise BadRequest("other versions are sealed")
        facts = [self._parsed(key, version.version, version.text.encode()) for version in request.versions]
        del self.sealed[key]
        for fact in facts:
            status = Status.CURRENT if fact is facts[-1] else Status.SUPERSEDED
            plain = {"key": key, "uid": facts[0].uid, "status": status, "sensitivity": Sensitivity.PRIVATE}
            self._store.facts.setdefault(key, []).append(fact.model_copy(update=plain))
        await self._store.note(ChangeKind.FACT, key)
        return Unsealed(key=key, versions=len(facts))

    def move(self, request: Rekey) -> Rekeyed | None:
        """`POST /v1/rekey` of a sealed key; None for another one."""
        self.require_plain(request.new)
        if request.old not in self.sealed:
            return None
        self.sealed[request.new] = self.sealed.pop(request.old)
        return Rekeyed(key=request.new, uid=f"sealed {request.new}", versions=len(self.sealed[request.new]))

    def _require(self) -> None:
        if self.recipient is None:
            raise NoVault("there is no vault")

    def _encrypted(self, fact: FactVersion) -> bytes:
        assert self.recipient is not None, "nothing is sealed before there is a vault"
        secret = fact.model_copy(update={"sensitivity": Sensitivity.SECRET})
        return age.encrypt(render_fact(secret, None), [age.Recipient(self.recipient)])

    def _parsed(self, key: str, version: int, data: bytes) -> FactVersion:
        return parse_fact(data, place_inside(key, version, data, "me", datetime.now(UTC)))


def add_fake_vault_routes(api: FastAPI, vault: Callable[[], FakeVault]) -> None:
    """The routes of `bead.wire.vault`."""
    api.get("/v1/vault")(lambda: vault().state())
    api.get("/v1/vault/identity")(lambda: vault().read_identity())
    api.get("/v1/vault/sealed")(lambda: vault().keys())

    @api.get("/v1/vault/sealed/{key:path}")
    async def read(key: str) -> SealedFact:
        return vault().read(key)

    @api.post("/v1/vault")
    async def create(request: NewVault) -> VaultState:
        return vault().create(request)

    @api.post("/v1/vault/recipient")
    async def restore_recipient(request: NewRecipient) -> VaultState:
        return vault().restore_recipient(request)

    @api.post("/v1/vault/seal")
    async def seal(request: Seal) -> SealAnswer:
        return await vault().seal(request)

    @api.post("/v1/vault/unseal")
    async def unseal(request: Unseal) -> Unsealed:
        return await vault().unseal(request)
