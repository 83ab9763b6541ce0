"""Keys: scopes, validation, and the frozen derivation of a key from words (D2).

Pure. A key is `user/…`, `global/…`, `team/<name>/…` or `project/<name>/…`; every way in goes through `parse`.
"""

import hashlib
import re
import unicodedata
from typing import NamedTuple

from bead.errors import InvalidKey

MAX_KEY_BYTES = 200
_SEGMENT = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")
# A segment is a folder: it must never be the name of a version's file beside it.
_VERSION_NAME = re.compile(r"v[0-9]+(\.md(\.age)?)?\Z")
_NAMED_SCOPES = ("project", "team")
_PLAIN_SCOPES = ("user", "global")

DERIVED_WORDS = 8
DERIVED_BYTES = 60
_HASH_SUFFIX_HEX = 8


class Key(NamedTuple):
    """A valid key, split where its scope ends: `("project/shop", "deploy/day")`."""

    scope: str
    name: str

    def __str__(self) -> str:
        return f"{self.scope}/{self.name}"


def parse(text: str) -> Key:
    """The key that `text` spells.

    Raises:
        InvalidKey: says which rule is broken.
    """
    segments = text.split("/")
    if len(text.encode()) > MAX_KEY_BYTES:
        raise InvalidKey(f"a key has at most {MAX_KEY_BYTES} bytes, this one has {len(text.encode())}")
    _check_segments(segments)
    scope_length = _scope_length(segments[0])
    if len(segments) <= scope_length:
        raise InvalidKey(f"'{segments[0]}/' needs a name after it, as in {_example(segments[0])}")
    return Key("/".join(segments[:scope_length]), "/".join(segments[scope_length:]))


def in_scope(scope: str, name: str) -> Key:
    """`name` under `scope`, unless `name` already spells a scope of its own, which then wins (D2)."""
    if name.split("/", 1)[0] in _PLAIN_SCOPES + _NAMED_SCOPES and "/" in name:
        return parse(name)
    return parse(f"{scope}/{name}")


def check_scope(scope: str) -> str:
    """`scope` itself when it is one: `user`, `global`, `project/<name>`, `team/<name>`.

    Raises:
        InvalidKey: it is something else.
    """
    if parse(f"{scope}/x").scope != scope:
        raise InvalidKey("a scope is user, global, project/<name> or team/<name>")
    return scope


def derive_name(text: str) -> str:
    """The key name that the words of `text` spell. FROZEN: tests/vectors/derived-keys.tsv pins it.

    Lower case, each run of other characters one hyphen, the first eight words, at most 60 bytes. Where letters or
    digits outside ASCII are lost, a hash of the whole text follows, so that two such texts never share a key.
    Changing one result leaves every old memory under a key that nobody derives any more.
    Source: seeds/beads-memory-plane.txt section 2.
    """
    normal = unicodedata.normalize("NFC", text).strip()
    words = re.findall(r"[a-z0-9]+", normal.lower())[:DERIVED_WORDS]
    name = "-".join(words)[:DERIVED_BYTES].rstrip("-")
    lost = any(not char.isascii() and char.isalnum() for char in normal)
    if lost or not name or _VERSION_NAME.match(name):
        digest = hashlib.sha256(normal.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_SUFFIX_HEX]
        room = DERIVED_BYTES - _HASH_SUFFIX_HEX - 1
        name = f"{name[:room].rstrip('-')}-{digest}".lstrip("-")
    return name


def project_name(name: str) -> str:
    """`name` where it can be a project's part of a key, else a name that can and reads like it.

    >>> project_name("ledger"), project_name("My Shop")
    ('ledger', 'my-shop')
    """
    try:
        return check_scope(f"project/{name}").removeprefix("project/")
    except InvalidKey:
        return derive_name(name)


def _check_segments(segments: list[str]) -> None:
    for segment in segments:
        if not _SEGMENT.match(segment):
            raise InvalidKey(
                "a key is made of segments of a-z, 0-9, '.', '_' and '-', each starting with a letter or digit,"
                " joined by '/': one of its segments is not"
            )
        if _VERSION_NAME.match(segment):
            raise InvalidKey(f"'{segment}' is a version name and cannot be part of a key")


def _scope_length(first: str) -> int:
    if first in _NAMED_SCOPES:
        return 2
    if first in _PLAIN_SCOPES:
        return 1
    raise InvalidKey(f"a key starts with user/, global/, project/<name>/ or team/<name>/, not with '{first}/'")


def _example(scope: str) -> str:
    return f"{scope}/<name>/deploy-day" if scope in _NAMED_SCOPES else f"{scope}/editor"
