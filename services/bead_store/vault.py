"""The vault's files: whom facts are sealed for, the identity under the person's passphrase, and the sealed versions.

It can encrypt and not decrypt: that is done where the person types the passphrase. A key is plaintext or sealed, never
both; how one becomes the other is `sealing`'s. Called from the facts' lane; `keys` may be asked from anywhere.
"""

import os
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from bead import keys
from bead.errors import Corrupt, Exists, InvalidKey, NotFound, NoVault, Refused, Sealed
from bead.home import Home
from bead.wire.vault import MAX_IDENTITY_BYTES, SealedFact, SealedKey, SealedVersion, VaultState
from bead_store import files, header
from bead_store.disk import Disk
from bead_store.frontmatter import Place, Reader

MAX_SEALED_BYTES = 2 << 20
"""A fact's file at its largest, and what encryption adds."""
_MAX_RECIPIENT_BYTES = 8 << 10
_SEALED_FILE = re.compile(r"v([1-9][0-9]{0,8})\.md\.age\Z")


class Vault:
    """The vault of one home."""

    def __init__(self, home: Home, disk: Disk) -> None:
        self._recipient = home.recipient
        self._identity = home.identity
        self._folder = home.sealed
        self._disk = disk
        self._keys: dict[str, tuple[int, ...]] = {}

    def load(self) -> None:
        """Find what is sealed, and take away what a crash left half made: temporaries, and folders that are empty."""
        self._disk.sweep(self._folder.parent)
        self._disk.remove_empty_below(self._folder)
        found: dict[str, list[int]] = {}
        for folder, _, names in os.walk(self._folder):
            for name in names:
                if match := _SEALED_FILE.match(name):
                    found.setdefault(Path(folder).relative_to(self._folder).as_posix(), []).append(int(match[1]))
        self._keys = {key: tuple(sorted(versions)) for key, versions in found.items() if _is_key(key)}

    # -- what there is -----------------------------------------------------------------------------------------------

    def state(self) -> VaultState:
        """Whether there is a vault, and whom it seals for."""
        return VaultState(recipient=self._read_recipient(), has_identity=self._identity.exists())

    def recipient(self) -> str:
        """Whom facts are sealed for.

        Raises:
            NoVault: nobody.
        """
        recipient = self._read_recipient()
        if recipient is None:
            raise _no_vault()
        return recipient

    def keys(self) -> tuple[SealedKey, ...]:
        """Every sealed key, in order."""
        return tuple(SealedKey(key=key, versions=versions) for key, versions in sorted(self._keys.items()))

    def versions(self, key: str) -> tuple[int, ...]:
        """The sealed versions of a key, ascending; none when it is not sealed."""
        return self._keys.get(key, ())

    def require_plain(self, key: str) -> None:
        """Raises Sealed when the key is in the vault: a plaintext beside it would be a second truth."""
        if key in self._keys:
            raise self.sealed(key)

    def sealed(self, key: str) -> Sealed:
        """What is said instead of a sealed fact: its name and its versions."""
        return Sealed(
            f"'{key}' is sealed; 'bead sealed show' prints it, 'bead unseal' makes it a plain fact again, and "
            "'bead write --sensitivity secret' gives it a new text",
            key=key,
            versions=list(self.versions(key)),
            status="sealed",
        )

    def read_identity(self) -> bytes:
        """The identity, under the person's passphrase.

        Raises:
            NoVault: there is none.
        """
        try:
            return files.read(self._identity, MAX_IDENTITY_BYTES)
        except FileNotFoundError:
            raise _no_vault() from None

    def read(self, key: str) -> SealedFact:
        """Every version's file, encrypted as it lies there.

        Raises:
            NotFound: the key is not sealed.
        """
        if key not in self._keys:
            raise NotFound(f"nothing is sealed under '{key}'")
        try:
            versions = tuple(
                SealedVersion(version=version, data=files.read(self.path(key, version), MAX_SEALED_BYTES))
                for version in self._keys[key]
            )
        except FileNotFoundError as error:
            raise files.damaged(Path(str(error.filename)), None, "has just gone away") from None
        return SealedFact(key=key, versions=versions)

    # -- changes -----------------------------------------------------------------------------------------------------

    def create(self, recipient: str, identity: bytes) -> None:
        """Begin the vault; durable when this returns.

        Raises:
            Exists: there is an identity; it is never replaced, what was sealed for it would be lost.
            Refused: the recipient is none.
        """
        _checked_recipient(recipient)
        if self._keys and not self._identity.exists():
            raise Exists(
                f"facts are sealed and {self._identity} is missing; restore it from a backup: a new one opens none"
            )
        try:
            # First: a recipient without its identity would seal what nobody can open.
            self._disk.create(self._identity, identity)
        except FileExistsError:
            raise Exists(f"{self._identity} is there already, and bead never replaces an identity") from None
        self.restore_recipient(recipient)

    def restore_recipient(self, recipient: str) -> None:
        """Write down whom facts are sealed for, where that is missing."""
        _checked_recipient(recipient)
        if not self._identity.exists():
            raise _no_vault()
        try:
            self._disk.create(self._recipient, f"{recipient.strip()}\n".encode())
        except FileExistsError:
            if self._read_recipient() != recipient.strip():
                raise Exists(f"{self._recipient} names another recipient; bead does not replace it") from None

    def require(self) -> None:
        """Raises NoVault when nothing can be sealed."""
        self._encrypted(b"")

    def put(self, key: str, version: int, data: bytes) -> None:
        """Seal `data` as this version of `key`, encrypted in memory; durable when this returns.

        Raises:
            FileExistsError: the version is there.
            NoVault: there is no recipient.
        """
        self._disk.create(self.path(key, version), self._encrypted(data))
        self._keys[key] = tuple(sorted({*self.versions(key), version}))

    def move(self, old: str, new: str) -> None:
        """Bring every version of `old` that is left there under `new`; the files stay as they are."""
        for version in self.versions(old):
            self._disk.move(self.path(old, version), self.path(new, version))
            self._keys[new] = tuple(sorted({*self.versions(new), version}))
        self._drop(old)

    def forget_key(self, key: str) -> int:
        """Overwrite and remove every sealed version of `key`; how many there were."""
        versions = self.versions(key)
        for version in versions:
            self._disk.erase(self.path(key, version))
        self._drop(key)
        return len(versions)

    def drop(self, key: str, versions: Iterable[int]) -> None:
        """Take these versions out of the vault."""
        for version in versions:
            self._disk.remove(self.path(key, version))
        left = tuple(version for version in self.versions(key) if version not in {*versions})
        if left:
            self._keys[key] = left
        else:
            self._drop(key)

    def path(self, key: str, version: int) -> Path:
        """Where a sealed version lies."""
        return self._folder / str(keys.parse(key)) / f"v{version}.md.age"

    def _drop(self, key: str) -> None:
        self._keys.pop(key, None)
        remove_folder(self._disk, self._folder / key, self._folder)

    def _encrypted(self, data: bytes) -> bytes:
        from bead import age  # late: most homes have no vault, and a start is short

        recipient = self._read_recipient()
        if recipient is None:
            raise _no_vault()
        try:
            return age.encrypt(data, [age.Recipient(recipient)])
        except age.AgeError as error:
            raise Corrupt(f"{self._recipient} names nobody that facts can be sealed for: {error}") from None

    def _read_recipient(self) -> str | None:
        try:
            return files.read(self._recipient, _MAX_RECIPIENT_BYTES).decode("ascii", "replace").strip() or None
        except FileNotFoundError:
            return None


def remove_folder(disk: Disk, folder: Path, root: Path) -> None:
    """Take away a key's folder and those above it, as far as they are empty; also what a crash has left of that."""
    if folder.is_dir():
        disk.remove_empty(folder, root)
    else:
        disk.remove_empty_below(root)


def place_inside(key: str, version: int, data: bytes, owner: str, now: datetime) -> Place:
    """Where a decrypted file lay when it was sealed: a sealed fact that has moved still names its old key inside."""
    path = Path(f"{key}/v{version}.md.age")
    inner = Reader(header.parse(header.split(data, path), path), path).text("key")
    return Place(path, inner or key, version, owner, now)


def _checked_recipient(recipient: str) -> None:
    from bead import age

    try:
        age.Recipient(recipient)
    except age.AgeError as error:
        raise Refused(f"facts cannot be sealed for this: {error}") from None


def _is_key(text: str) -> bool:
    try:
        keys.parse(text)
    except InvalidKey:
        return False
    return True


def _no_vault() -> NoVault:
    return NoVault("there is no vault yet; 'bead vault init' makes one and asks you for a passphrase")
