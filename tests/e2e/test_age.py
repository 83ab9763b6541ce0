"""Our age files are age's: the vectors of its specification, and the program itself, both ways."""

import subprocess
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from bead import age
from bead.age import bech32, passphrase
from bead.age.derive import derive
from bead.age.errors import DamagedPayload, HeaderChanged, MalformedHeader, NoIdentityMatched
from bead.age.header import Stanza, from_base64
from tests.e2e.age_world import age_programs, vectors

pytestmark = pytest.mark.e2e

CHUNK = 64 << 10
EDGES = tuple(chunks * CHUNK + more for chunks in (1, 2) for more in (-1, 0, 1))
SIZES = (0, 1, 63, 64, 4_095, *EDGES, 3 * CHUNK, 200_000, 1_000_003)
KEY_VECTORS, PASSPHRASE_VECTORS = 80, 20
"""Fewer than these would mean that the vectors were not read as they are meant."""
PASSPHRASE = "correct horse battery staple"


class Vector(NamedTuple):
    """One file of the specification's."""

    name: str
    expect: str
    payload: str | None
    """SHA-256 of the text, as far as it may be given out."""
    identities: tuple[str, ...]
    passphrases: tuple[str, ...]
    is_armored: bool
    file: bytes


def read_vector(path: Path) -> Vector:
    head, _, file = path.read_bytes().partition(b"\n\n")
    fields = [line.decode().split(": ", 1) for line in head.splitlines()]
    named = dict(fields)
    return Vector(
        path.name,
        named["expect"],
        named.get("payload"),
        tuple(value for name, value in fields if name == "identity"),
        tuple(value for name, value in fields if name == "passphrase"),
        named.get("armored") == "yes",
        zlib.decompress(file) if named.get("compressed") == "zlib" else file,
    )


class X25519Identity:
    """The older kind of key, which bead never writes: with it the vectors of the format itself can be read."""

    def __init__(self, text: str) -> None:
        self._secret = X25519PrivateKey.from_private_bytes(bech32.decode(text, "AGE-SECRET-KEY-"))

    def unwrap(self, stanzas: Iterable[Stanza]) -> bytes | None:
        for stanza in stanzas:
            if stanza.args[0] == b"X25519" and (file_key := self._open(stanza)):
                return file_key
        return None

    def _open(self, stanza: Stanza) -> bytes | None:
        if len(stanza.args) != 2 or len(share := from_base64(stanza.args[1])) != 32 or len(stanza.body) != 32:
            raise MalformedHeader("a stanza breaks the format")
        try:
            secret = self._secret.exchange(X25519PublicKey.from_public_bytes(share))
        except ValueError:
            raise MalformedHeader("a share of low order") from None
        salt = share + self._secret.public_key().public_bytes_raw()
        cipher = ChaCha20Poly1305(derive(secret, salt, b"age-encryption.org/v1/X25519"))
        try:
            return cipher.decrypt(bytes(12), stanza.body, None)
        except InvalidTag:
            return None


def opener(key: str) -> age.Opener:
    return age.Identity.parse(key) if key.startswith("AGE-SECRET-KEY-PQ-1") else X25519Identity(key)


def result_of(vector: Vector) -> tuple[str, bytes]:
    """How reading it ends in the specification's words, and the text."""
    target = BytesIO()
    try:
        if vector.passphrases:
            return "success", passphrase.decrypt(vector.file, vector.passphrases[0])
        age.decrypt_stream(BytesIO(vector.file), target, [opener(key) for key in vector.identities])
    except NoIdentityMatched:
        return "no match", b""
    except HeaderChanged:
        return "HMAC failure", b""
    except MalformedHeader:
        return "header failure", b""
    except DamagedPayload:
        return "payload failure", b""
    return "success", target.getvalue()


def test_every_vector_of_the_specification_ends_as_it_says() -> None:
    """All but those in ASCII armour, which bead neither writes nor reads."""
    found = [vector for path in vectors() if not (vector := read_vector(path)).is_armored]
    kinds = Counter(bool(vector.passphrases) for vector in found)
    assert kinds[False] >= KEY_VECTORS and kinds[True] >= PASSPHRASE_VECTORS
    for vector in found:
        result, text = result_of(vector)
        assert (vector.name, result) == (vector.name, vector.expect)
        if result == "success":
            assert (vector.name, sha256(text).hexdigest()) == (vector.name, vector.payload)


# -- the program ---------------------------------------------------------------------------------------------------


class Keys(NamedTuple):
    """A pair that age-keygen made, and the file with its secret half."""

    folder: Path
    file: Path
    recipient: str
    identity: age.Identity


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    file = tmp_path_factory.mktemp("keys") / "key.txt"
    subprocess.run([age_programs() / "age-keygen", "-pq", "-o", file], check=True, capture_output=True)
    lines = file.read_text().splitlines()
    [identity] = [line for line in lines if line.startswith("AGE-SECRET-KEY-PQ-1")]
    [recipient] = [line.split()[-1] for line in lines if "public key" in line]
    return Keys(age_programs(), file, recipient, age.Identity.parse(identity))


def program(keys: Keys, *args: str | Path, data: bytes, **environ: str) -> subprocess.CompletedProcess[bytes]:
    path = {"PATH": f"{keys.folder}:/usr/bin:/bin", **environ}
    return subprocess.run([keys.folder / "age", *args], input=data, capture_output=True, env=path, timeout=60)


def text_of(size: int) -> bytes:
    return (b"0123456789abcdef%d" % size * (size // 16 + 1))[:size]


def test_a_pair_of_keys_is_the_same_pair_for_both(keys: Keys) -> None:
    assert str(keys.identity.recipient()) == keys.recipient
    asked = [str(keys.folder / "age-keygen"), "-y"]
    mine = age.Identity.generate()
    told = subprocess.run(asked, input=mine.reveal().encode(), capture_output=True, check=True).stdout
    assert told.decode().strip() == str(mine.recipient())


@pytest.mark.parametrize("size", SIZES)
def test_a_file_of_any_size_goes_both_ways(keys: Keys, size: int) -> None:
    text = text_of(size)

    opened = program(keys, "-d", "-i", keys.file, data=age.encrypt(text, [age.Recipient(keys.recipient)]))
    written = program(keys, "-r", keys.recipient, data=text)

    assert (opened.returncode, opened.stdout == text) == (0, True), opened.stderr
    assert age.decrypt(written.stdout, [keys.identity]) == text


def test_a_file_for_two_is_opened_by_either(keys: Keys) -> None:
    mine = age.Identity.generate()
    sealed = age.encrypt(b"for two", [mine.recipient(), age.Recipient(keys.recipient)])

    assert program(keys, "-d", "-i", keys.file, data=sealed).stdout == age.decrypt(sealed, [mine]) == b"for two"


def _flip(place: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def _exchanged_chunks(data: bytes) -> bytes:
    start = data.index(b"\n--- ") + 1
    start = data.index(b"\n", start) + 1 + 16
    size = CHUNK + 16
    first, second = data[start : start + size], data[start + size : start + 2 * size]
    return data[:start] + second + first + data[start + 2 * size :]


TAMPERING: dict[str, Callable[[bytes], bytes]] = {
    "a changed header": _flip(60),
    "a changed text": _flip(-40),
    "a cut end": lambda data: data[:-1],
    "an added end": lambda data: data + b"x",
    "exchanged chunks": _exchanged_chunks,
}


@pytest.mark.parametrize("tampering", TAMPERING)
def test_what_was_tampered_with_is_refused_by_both(keys: Keys, tampering: str) -> None:
    text = text_of(3 * CHUNK)
    for sealed in (
        age.encrypt(text, [age.Recipient(keys.recipient)]),
        program(keys, "-r", keys.recipient, data=text).stdout,
    ):
        spoiled = TAMPERING[tampering](sealed)
        assert spoiled != sealed
        with pytest.raises(age.AgeError):
            age.decrypt(spoiled, [keys.identity])
        assert program(keys, "-d", "-i", keys.file, data=spoiled).returncode != 0


def test_a_file_under_a_passphrase_goes_both_ways(keys: Keys) -> None:
    sealed = passphrase.encrypt(b"an identity", PASSPHRASE)
    opened = program(keys, "-d", "-j", "batchpass", data=sealed, AGE_PASSPHRASE=PASSPHRASE)
    written = program(keys, "-e", "-j", "batchpass", data=b"hello", AGE_PASSPHRASE=PASSPHRASE)

    assert opened.stdout == b"an identity", opened.stderr
    assert passphrase.decrypt(written.stdout, PASSPHRASE) == b"hello"
    with pytest.raises(NoIdentityMatched):
        passphrase.decrypt(written.stdout, f"{PASSPHRASE}!")
