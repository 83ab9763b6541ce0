"""Any sequence of writes, seals, unseals, moves, forgets and crashes: a key is plain or sealed, never both (I12)."""

import asyncio
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from bead import age
from bead.errors import Exists, NotFound, Sealed
from bead.facts import Sensitivity, Trust
from bead.home import Home
from bead.wire.store import ConfirmForget, ForgetKeys, Rekey, WriteFact
from bead.wire.vault import OpenVersion, Seal, Unseal
from bead_store import disk
from bead_store.app import Store
from tests.bytescan import traces
from tests.contract.store.crashes import CrashingOs, Ended, living

IDENTITY = age.Identity(bytes(range(32)))
KEYS = st.sampled_from(["user/a", "user/a/b", "user/c"])
BODIES = st.sampled_from(["The Zebrafish sleeps.", "A Quokkaling sings", 'Narwhal "gamma" dives'])
WORDS = {"The Zebrafish sleeps.": "Zebrafish", "A Quokkaling sings": "Quokkaling", 'Narwhal "gamma" dives': "Narwhal"}


class Vaulting(RuleBasedStateMachine):
    """A whole store beside a model of what each key says, and whether it is sealed."""

    @initialize()
    def begin(self) -> None:
        self.root = Path(tempfile.mkdtemp())
        self.home = Home(self.root / "home")
        self.patch = pytest.MonkeyPatch()
        self.runner = asyncio.Runner()
        self.plain: dict[str, list[str]] = {}
        self.sealed: dict[str, list[str]] = {}
        self.life = living(self.home, self.patch)
        self.store: Store = self.runner.run(self.life.__aenter__())
        self.store.vault.create(str(IDENTITY.recipient()), b"an identity under a passphrase")

    def teardown(self) -> None:
        if hasattr(self, "root"):
            self.runner.run(self.life.__aexit__(None, None, None))
            self.runner.close()
            self.patch.undo()
            shutil.rmtree(self.root)

    @rule(key=KEYS, body=BODIES)
    def write(self, key: str, body: str) -> None:
        request = WriteFact(body=body, key=key, trust=Trust.USER_STATED)
        if key in self.sealed:
            with pytest.raises(Sealed):
                self.runner.run(self.store.fact_lane.run(self.store.facts.write, request))
            return
        self.runner.run(self.store.fact_lane.run(self.store.facts.write, request))
        bodies = self.plain.setdefault(key, [])
        if bodies[-1:] != [body]:
            bodies.append(body)

    @rule(key=KEYS, body=BODIES)
    def write_secret(self, key: str, body: str) -> None:
        request = WriteFact(body=body, key=key, trust=Trust.USER_STATED, sensitivity=Sensitivity.SECRET)
        self.runner.run(self.store.sealing.write(request))
        self.sealed[key] = [*self.sealed.get(key, []), *self.plain.pop(key, []), body]

    @rule(key=KEYS, last=st.none() | st.integers(0, 60))
    def seal(self, key: str, last: int | None) -> None:
        """Ended before the changing call number `last`, and begun again, when there is one."""
        if key in self.sealed or key not in self.plain:
            with pytest.raises(Sealed if key in self.sealed else NotFound):
                self.runner.run(self.store.sealing.seal(Seal(key=key)))
            return
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(disk, "os", CrashingOs(last))
            try:
                self.runner.run(self.store.sealing.seal(Seal(key=key)))
            except Ended:
                pass
        if last is not None:
            self._restart()
        if self.store.vault.versions(key):
            self.sealed[key] = self.plain.pop(key)

    @rule(key=KEYS)
    def unseal(self, key: str) -> None:
        if key in self.sealed:
            opened = self.store.vault.read(key).versions
            versions = tuple(
                OpenVersion(version=each.version, text=age.decrypt(each.data, [IDENTITY]).decode()) for each in opened
            )
            self.store.sealing.unseal(Unseal(key=key, versions=versions))
            self.plain[key] = self.sealed.pop(key)

    @rule(old=KEYS, new=KEYS)
    def move(self, old: str, new: str) -> None:
        if old not in self.sealed or old == new:
            return
        request = Rekey(old=old, new=new)
        if new in self.sealed or new in self.plain:
            with pytest.raises(Sealed if new in self.sealed else Exists):
                self.store.sealing.rekey(request, self.store.rekeying.rekey)
            return
        self.store.sealing.rekey(request, self.store.rekeying.rekey)
        self.sealed[new] = self.sealed.pop(old)

    @rule(key=KEYS)
    def forget_sealed(self, key: str) -> None:
        if key in self.sealed:
            preview = self.runner.run(self.store.forgetting.preview(ForgetKeys(keys=(key,))))
            confirmed = ConfirmForget(keys=(key,), confirm=preview.confirm or "")
            self.runner.run(self.store.forgetting.forget(confirmed))
            del self.sealed[key]

    @rule()
    def restart(self) -> None:
        self._restart()

    def _restart(self) -> None:
        try:
            self.runner.run(self.life.__aexit__(None, None, None))
        except (Ended, BaseExceptionGroup):  # the killed process's own task ends with it
            pass
        self.life = living(self.home, self.patch)
        self.store = self.runner.run(self.life.__aenter__())

    @invariant()
    def every_key_says_what_it_said_on_its_one_side(self) -> None:
        if not hasattr(self, "store"):
            return
        plain = {
            entry.key: [fact.body for fact in self.store.catalogue.history(entry.key)]
            for entry in self.store.catalogue.entries()
        }
        assert plain == self.plain
        assert {each.key: self._opened(each.key) for each in self.store.vault.keys()} == self.sealed

    @invariant()
    def no_file_holds_what_is_only_sealed(self) -> None:
        if hasattr(self, "store"):
            said = {body for bodies in self.plain.values() for body in bodies}
            for body in {body for bodies in self.sealed.values() for body in bodies} - said:
                assert traces(self.home.root, WORDS[body]) == []

    def _opened(self, key: str) -> list[str]:
        texts = (age.decrypt(each.data, [IDENTITY]).decode() for each in self.store.vault.read(key).versions)
        return [text.rpartition("---\n")[2].strip() for text in texts]


Vaulting.TestCase.settings = settings(
    max_examples=15, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
)
TestVaulting = Vaulting.TestCase
