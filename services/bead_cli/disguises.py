"""A text in the disguises in which software keeps text, and where in some bytes one of them stands. Pure.

`places` tells what was found: a disguise by name, never the text. A trace is the whole value; a hint is a word or a
piece of it, which may as well be somebody else's.
"""

import base64
import bz2
import hashlib
import html
import json
import lzma
import quopri
import re
import unicodedata
import urllib.parse
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from bead_store.values import fold

LEAST_CHARS = 3
_LEAST_BYTES = 3
_PIECE_BYTES = 16
_WORD = re.compile(r"[^\W_]{8,}")
_MOST_CUT = 3
"""A full-text table leaves out the letters that a word shares with the one before it."""
_STREAM = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]|BZh[1-9]|\xfd7zXZ\x00")
_STREAM_BYTES = 8 << 20
_INFLATED_BYTES = 32 << 20
_DEPTH = 2


class Disguises(NamedTuple):
    """What to look for, in lower case."""

    traces: tuple[tuple[str, bytes], ...]
    hints: tuple[tuple[str, bytes], ...]
    folded: str

    def __repr__(self) -> str:
        return "Disguises()"


def disguises(value: str) -> Disguises:
    """Every disguise of `value`."""
    traces: dict[bytes, str] = {}
    for name, data in _spelled(value):
        if len(data) >= _LEAST_BYTES:
            traces.setdefault(data.lower(), name)
    hints: dict[bytes, str] = {}
    for word in _WORD.findall(value.lower()):
        for cut in range(min(_MOST_CUT, len(word) - 7) + 1):
            hints.setdefault(word[cut:].encode(), "a word of it")
    data = value.encode().lower()
    for at in range(0, max(0, len(data) - _PIECE_BYTES), _PIECE_BYTES // 2):
        hints.setdefault(data[at : at + _PIECE_BYTES], "a piece of it")
    named = tuple((name, data) for data, name in traces.items())
    return Disguises(named, tuple((name, data) for data, name in hints.items() if data not in traces), fold(value))


def places(data: bytes, wanted: Disguises, depth: int = _DEPTH) -> tuple[set[str], set[str]]:
    """The disguises that stand in `data`, and the hints."""
    low = data.lower()
    found = {name for name, each in wanted.traces if each in low}
    hints = {name for name, each in wanted.hints if each in low}
    found |= {name for name, text in _undone(data) if wanted.folded in fold(text)}
    if depth:
        for inside in _inflated(data):
            deeper, more = places(inside, wanted, depth - 1)
            found |= {f"{name}, compressed" for name in deeper}
            hints |= more
    return found, hints


def _spelled(value: str) -> Iterator[tuple[str, bytes]]:
    data = value.encode()
    yield "as it is", data
    yield "JSON", json.dumps(value, ensure_ascii=False)[1:-1].encode()
    yield "JSON, ASCII only", json.dumps(value)[1:-1].encode()
    yield "JSON in JSON", json.dumps(json.dumps(value))[3:-3].encode()
    yield "URL", urllib.parse.quote(value, safe="").encode()
    yield "URL", urllib.parse.quote(value).encode()
    yield "URL form", urllib.parse.quote_plus(value).encode()
    yield "HTML", html.escape(value).encode()
    yield "HTML, numbers", value.encode("ascii", "xmlcharrefreplace")
    yield "Python", repr(value)[1:-1].encode()
    yield "Python bytes", repr(data)[2:-1].encode()
    yield "quoted-printable", quopri.encodestring(data).replace(b"=\n", b"")
    for name in ("utf-16-le", "utf-16-be", "utf-32-le"):
        yield name.upper(), value.lower().encode(name)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        yield f"Unicode {form}", unicodedata.normalize(form, value).encode()
    yield "hexadecimal", data.hex().encode()
    yield "backwards", data[::-1]
    for name in ("sha256", "sha1", "md5"):
        yield f"unsalted {name}", hashlib.new(name, data, usedforsecurity=False).hexdigest().encode()
    yield from _base64(data)


def _base64(data: bytes) -> Iterator[tuple[str, bytes]]:
    """At each of the three places it can begin in a longer text, without the signs that depend on what is around."""
    for shift, cut in ((0, 0), (1, 2), (2, 3)):
        core = base64.b64encode(b"\0" * shift + data).rstrip(b"=")[cut:-2]
        if len(core) >= 8:
            yield "base64", core
            yield "base64 of a URL", core.replace(b"+", b"-").replace(b"/", b"_")


def _undone(data: bytes) -> Iterator[tuple[str, str]]:
    """The text as it is read, and with common encodings taken off, for what is spelled in a mixture of ways."""
    text = data.decode("utf-8", "replace")
    yield "with other case, spaces or signs", text
    if "&" in text and ";" in text:
        yield "HTML", html.unescape(text)
    if "%" in text:
        yield "URL", urllib.parse.unquote_plus(text)
    if b"=\n" in data or re.search(rb"=[0-9A-F]{2}", data):
        yield "quoted-printable", quopri.decodestring(data).decode("utf-8", "replace")
    if "\\" in text:
        yield "JSON", re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)


def _inflated(data: bytes) -> Iterator[bytes]:
    for match in _STREAM.finditer(data):
        part = data[match.start() : match.start() + _STREAM_BYTES]
        try:
            if part[:2] == b"BZ":
                found = bz2.BZ2Decompressor().decompress(part, _INFLATED_BYTES)
            elif part[:1] == b"\xfd":
                found = lzma.LZMADecompressor().decompress(part, _INFLATED_BYTES)
            else:
                found = zlib.decompressobj(47).decompress(part, _INFLATED_BYTES)
        except (OSError, ValueError, EOFError, zlib.error, lzma.LZMAError):
            continue
        if len(found) >= LEAST_CHARS:
            yield found
