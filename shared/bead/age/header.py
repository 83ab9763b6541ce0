"""The header of an age v1 file: stanzas in text, sealed by an authentication code. Strict both ways.

Pure. Who can open a stanza is `hybrid`'s; what follows the header is `payload`'s. Source: C2SP age, "Header".
"""

import base64
import hmac
import re
from collections.abc import Iterable
from hashlib import sha256
from typing import BinaryIO, NamedTuple

from bead.age.derive import derive
from bead.age.errors import HeaderChanged, MalformedHeader

VERSION_LINE = b"age-encryption.org/v1\n"
_LINE_CHARS = 64
_LONGEST_LINE = 8192
_MOST_STANZAS = 1024
_BASE64 = re.compile(rb"[A-Za-z0-9+/]*\Z")
_STANZA_LINE = re.compile(rb"->(?: [\x21-\x7e]+)+\Z")
_MAC_LINE = re.compile(rb"--- [A-Za-z0-9+/]{43}\Z")


class Stanza(NamedTuple):
    """The file key, wrapped for one recipient."""

    args: tuple[bytes, ...]
    """Printable words; the first names the kind of recipient."""
    body: bytes

    def encode(self) -> bytes:
        """Its lines; the last line of the body is always shorter than a full one."""
        text = to_base64(self.body)
        lines = [text[at : at + _LINE_CHARS] for at in range(0, len(text) + 1, _LINE_CHARS)]
        return b"\n".join([b"-> " + b" ".join(self.args), *lines, b""])


class Header(NamedTuple):
    """What stands before the payload."""

    stanzas: tuple[Stanza, ...]
    authenticated: bytes
    """Everything up to and including the three hyphens."""
    mac: bytes

    def require_written_with(self, file_key: bytes) -> None:
        """Raises HeaderChanged unless whoever wrote this header had the file key."""
        if not hmac.compare_digest(_mac(file_key, self.authenticated), self.mac):
            raise HeaderChanged("the header was changed after it was written")


def render(stanzas: Iterable[Stanza], file_key: bytes) -> bytes:
    """The header of a new file."""
    authenticated = VERSION_LINE + b"".join(stanza.encode() for stanza in stanzas) + b"---"
    return authenticated + b" " + to_base64(_mac(file_key, authenticated)) + b"\n"


def read(source: BinaryIO) -> Header:
    """Read up to the payload.

    Raises:
        MalformedHeader: it is no age v1 file, or breaks the format in any way.
    """
    if source.read(len(VERSION_LINE)) != VERSION_LINE:
        raise MalformedHeader("this is no age v1 file")
    raw = bytearray(VERSION_LINE)
    stanzas: list[Stanza] = []
    while not (line := _line(source)).startswith(b"---"):
        raw += line + b"\n"
        if len(stanzas) == _MOST_STANZAS:
            raise MalformedHeader("there are too many stanzas")
        stanzas.append(_stanza(line, source, raw))
    if not _MAC_LINE.match(line) or not stanzas:
        raise MalformedHeader("the last line of the header is malformed")
    return Header(tuple(stanzas), bytes(raw) + b"---", from_base64(line[4:]))


def to_base64(data: bytes) -> bytes:
    """Standard alphabet, without padding."""
    return base64.b64encode(data).rstrip(b"=")


def from_base64(text: bytes) -> bytes:
    """Of exactly what `to_base64` writes: other spellings of the same bytes are refused."""
    if not _BASE64.match(text) or len(text) % 4 == 1:
        raise MalformedHeader("there is base64 that is none")
    data = base64.b64decode(text + b"=" * (-len(text) % 4))
    if to_base64(data) != text:
        raise MalformedHeader("there is base64 with bits behind its end")
    return data


def _stanza(line: bytes, source: BinaryIO, raw: bytearray) -> Stanza:
    if not _STANZA_LINE.match(line):
        raise MalformedHeader("a stanza's first line is malformed")
    text = bytearray()
    while True:
        part = _line(source)
        raw += part + b"\n"
        text += part
        if len(part) > _LINE_CHARS:
            raise MalformedHeader("a line of a stanza is too long")
        if len(part) < _LINE_CHARS:
            return Stanza(tuple(line[3:].split(b" ")), from_base64(bytes(text)))


def _line(source: BinaryIO) -> bytes:
    line = source.readline(_LONGEST_LINE)
    if not line.endswith(b"\n"):
        raise MalformedHeader("the header ends too early, or has a line that is too long")
    return line[:-1]


def _mac(file_key: bytes, authenticated: bytes) -> bytes:
    return hmac.new(derive(file_key, None, b"header"), authenticated, sha256).digest()
