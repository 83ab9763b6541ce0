"""age files: what is written is read again, and nothing else is. What others write is tests/e2e/test_age.py's."""

import io
from collections.abc import Callable

import pytest
from cryptography.exceptions import UnsupportedAlgorithm
from hypothesis import given, settings
from hypothesis import strategies as st

from bead import age
from bead.age import bech32, header, hybrid
from bead.age.errors import HeaderChanged, MalformedHeader, NoIdentityMatched, Unsupported
from bead.age.payload import CHUNK_BYTES

MINE, OTHERS = age.Identity(bytes(range(32))), age.Identity(bytes(32))
EDGES = [size + more for size in (0, CHUNK_BYTES, 2 * CHUNK_BYTES) for more in (-1, 0, 1) if size + more >= 0]


class Dripping(io.BytesIO):
    """Gives at most 7,001 bytes at a time, as a pipe may."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(7_001 if size is None or size < 0 else min(size, 7_001))


@given(text=st.binary(max_size=300))
@settings(max_examples=50, deadline=None)
def test_what_is_encrypted_is_read_again_by_its_recipient_and_by_nobody_else(text: bytes) -> None:
    sealed = age.encrypt(text, [MINE.recipient()])

    assert age.decrypt(sealed, [OTHERS, MINE]) == text
    with pytest.raises(NoIdentityMatched):
        age.decrypt(sealed, [OTHERS])


@pytest.mark.parametrize("size", EDGES)
def test_a_stream_of_any_size_is_read_again(size: int) -> None:
    text = bytes(index % 251 for index in range(size))
    sealed, read = io.BytesIO(), io.BytesIO()

    age.encrypt_stream(Dripping(text), sealed, [MINE.recipient(), OTHERS.recipient()])
    age.decrypt_stream(Dripping(sealed.getvalue()), read, [OTHERS])

    assert read.getvalue() == text


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_no_changed_byte_goes_unnoticed(data: st.DataObject) -> None:
    sealed = bytearray(age.encrypt(b"a door code", [MINE.recipient()]))
    place = data.draw(st.integers(0, len(sealed) - 1))
    sealed[place] ^= data.draw(st.integers(1, 255))

    with pytest.raises(age.AgeError):
        age.decrypt(bytes(sealed), [MINE])


def test_a_header_with_another_stanza_is_not_the_one_that_was_written() -> None:
    sealed = age.encrypt(b"text", [MINE.recipient()])
    start = len(header.VERSION_LINE)
    with pytest.raises(HeaderChanged):
        age.decrypt(sealed[:start] + b"-> grease\n\n" + sealed[start:], [MINE])


@given(data=st.binary(max_size=80), prefix=st.sampled_from(["age1pq", "AGE-SECRET-KEY-PQ-"]))
def test_a_key_is_spelled_so_that_its_bytes_come_back(data: bytes, prefix: str) -> None:
    assert bech32.decode(bech32.encode(prefix, data), prefix) == data


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[:-1] + ("q" if text[-1] != "q" else "p"),
        lambda text: text.upper(),
        lambda text: text[:20] + text[20:].upper(),
        lambda text: text[:-7],
        lambda text: text.replace("age1pq", "age1tag"),
        lambda text: text[:30] + "b" + text[31:],
        lambda text: "",
    ],
)
def test_a_key_with_a_wrong_letter_is_refused(spoil: Callable[[str], str]) -> None:
    with pytest.raises(MalformedHeader):
        age.Recipient(spoil(str(MINE.recipient())))


def test_an_identity_is_in_no_repr_and_comes_back_from_its_spelling() -> None:
    spelled = MINE.reveal()

    assert spelled.startswith("AGE-SECRET-KEY-PQ-1") and spelled not in f"{MINE} {MINE!r} {vars(MINE.recipient())}"
    assert str(age.Identity.parse(f"{spelled}\n").recipient()) == str(MINE.recipient())


def test_a_machine_without_the_primitive_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a build of `cryptography` on an older OpenSSL answers."""

    class Lacking:
        @staticmethod
        def from_seed_bytes(_: bytes) -> None:
            raise UnsupportedAlgorithm("ML-KEM-768 is not supported")

    monkeypatch.setattr(hybrid, "MLKEM768PrivateKey", Lacking)
    with pytest.raises(Unsupported, match="ML-KEM"):
        age.require_support()
