"""Content codings: whatever a body is packed in, in whatever pieces it comes, and never more than the limit."""

import gzip
import sys
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]  # it has no stubs
import pytest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from bead_proxy.codings import Damaged, TooLarge, UnknownCoding, Unpacker, codings_of, pack, unpack

TEXT = b'{"messages":[{"role":"user","content":"' + bytes(range(32, 127)) * 400 + b'"}]}'


def _raw_deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "gzip of two members": ("gzip", lambda data: gzip.compress(data[:99]) + gzip.compress(data[99:])),
    "zlib deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", _raw_deflated),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstd.compress),
    "zstd of two frames": ("zstd", lambda data: zstd.compress(data[:99]) + zstd.compress(data[99:])),
    "gzip in zstd": ("gzip, zstd", lambda data: zstd.compress(gzip.compress(data))),
    "identity": ("identity", lambda data: data),
}


@pytest.mark.parametrize(("header", "packed"), PACKED.values(), ids=PACKED)
@pytest.mark.parametrize("step", [1, 7, 1 << 20])
def test_any_pieces_unpack_to_the_same(header: str, packed: Callable[[bytes], bytes], step: int) -> None:
    data = packed(TEXT)
    unpacker = Unpacker(codings_of(header), len(TEXT))

    pieces = [piece for at in range(0, len(data), step) for piece in unpacker.feed(data[at : at + step])]

    assert b"".join(pieces) == TEXT and unpacker.is_whole


@pytest.mark.parametrize(("header", "packed"), PACKED.values(), ids=PACKED)
def test_what_is_packed_again_unpacks_to_the_same(header: str, packed: Callable[[bytes], bytes]) -> None:
    codings = codings_of(header)

    assert unpack(pack(TEXT, codings), codings, len(TEXT)) == TEXT == unpack(packed(TEXT), codings, len(TEXT))


@pytest.mark.parametrize("header", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "br, zstd"])
def test_a_bomb_is_noticed_at_the_limit(header: str) -> None:
    codings = codings_of(header)
    bomb = pack(bytes(64 << 20), codings)
    unpacker = Unpacker(codings, 1 << 20)

    seen = 0
    with pytest.raises(TooLarge):
        for piece in unpacker.feed(bomb):
            seen += len(piece)
    assert len(bomb) < 1 << 20 and seen <= 1 << 20


@pytest.mark.parametrize("header", ["gzip", "deflate", "br", "zstd"])
def test_a_body_that_is_cut_or_changed_is_damaged(header: str) -> None:
    codings = codings_of(header)
    packed = pack(TEXT, codings)

    for broken in (packed[:-3], b"\x01" + packed[1:], b"\xff" * 50):
        with pytest.raises(Damaged):
            unpack(broken, codings, 1 << 20)


@pytest.mark.parametrize("header", ["compress", "gzip, exi", "aes128gcm", "gzip, gzip, gzip, gzip, gzip"])
def test_other_codings_are_not_known(header: str) -> None:
    with pytest.raises(UnknownCoding):
        codings_of(header)


def test_names_are_read_as_http_has_them() -> None:
    assert codings_of(" GZIP ,identity, x-gzip,Br") == ("gzip", "gzip", "br")
    assert codings_of("") == ()
