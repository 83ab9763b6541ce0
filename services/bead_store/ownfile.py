"""Reads a fact's file as bead itself writes it, in one match; every other spelling is `frontmatter`'s.

A start reads a hundred thousand of them. It never says anything else than `frontmatter.parse_fact` would, or it says
nothing (tests/unit/store/test_ownfile.py). Pure.
"""

import re
from datetime import UTC, datetime

import msgspec

from bead.facts import FactType, Sensitivity, Status, Trust
from bead_store.frontmatter import normal_body
from bead_store.header import MAX_HEADER_CHARS
from bead_store.packed import Card, Packed

# A plain word that YAML takes for the same text, or a string as JSON writes it.
_VALUE = r'(?:[A-Za-z0-9](?:[A-Za-z0-9_./@:+#-]*[A-Za-z0-9_./@+#-])?|"[^\n]*")'
_LIST = rf"(?:\n  - {_VALUE})+"
_CARD = rf"(?:\n  (?:say|do|see|unless):(?:\n    - {_VALUE})+)+"
_FILE = re.compile(
    "---\n"
    f"id: {_VALUE}\n"
    "key: (?P<key>[a-z0-9._/-]+)\n"
    "type: (?P<type>[a-z]+)\n"
    f"owner: (?P<owner>{_VALUE})\n"
    "status: (?P<status>[a-z]+)\n"
    "version: (?P<version>[1-9][0-9]*)\n"
    f"(?:supersedes: {_VALUE}\n)?"
    "uid: (?P<uid>[0-9a-f]+)\n"
    "valid_from: (?P<valid_from>[0-9T:.-]+Z)\n"
    "trust: (?P<trust>[a-z_]+)\n"
    "sensitivity: (?P<sensitivity>[a-z]+)\n"
    "pinned: (?P<pinned>true|false)\n"
    f"(?:sources:(?P<sources>{_LIST})\n)?"
    f"(?:harness: (?P<harness>{_VALUE})\n)?"
    f"(?:project_id: (?P<project_id>{_VALUE})\n)?"
    f"(?:when:(?P<when>{_CARD})\n)?"
    "(?:last_injected: (?P<last_injected>[0-9T:.-]+Z)\n)?"
    "---\n"
)
_TYPES = {each.value: each for each in FactType}
_STATUSES = {each.value: each for each in Status}
_TRUSTS = {each.value: each for each in Trust}
_SENSITIVITIES = {each.value: each for each in Sensitivity}

_decode_text = msgspec.json.Decoder(str).decode


def read(data: bytes, key: str, version: int) -> Packed | None:
    """The fact in `data`, when it is this version of this key spelled as bead spells it; else None."""
    try:
        text = data.decode("utf-8")
        match = _FILE.match(text)
        if match is None or match["key"] != key or match["version"] != str(version) or "\0" in text:
            return None
        body = normal_body(text[match.end() :])
        if not body.strip() or match.end() > MAX_HEADER_CHARS:
            return None
        return Packed(
            uid=match["uid"],
            type=_TYPES[match["type"]],
            owner=_text(match["owner"]),
            status=_STATUSES[match["status"]],
            trust=_TRUSTS[match["trust"]],
            sensitivity=_SENSITIVITIES[match["sensitivity"]],
            valid_from=_moment(match["valid_from"]),
            body=body,
            pinned=match["pinned"] == "true",
            sources=_items(match["sources"], "\n  - "),
            harness=_text(match["harness"]) if match["harness"] else None,
            project_id=_text(match["project_id"]) if match["project_id"] else None,
            last_injected=_moment(match["last_injected"]) if match["last_injected"] else None,
            when=_card(match["when"]),
        )
    except (KeyError, ValueError, msgspec.DecodeError):
        return None


def _moment(value: str) -> datetime:
    return datetime.fromisoformat(value).astimezone(UTC)


def _text(value: str) -> str:
    if value[0] != '"':
        return value
    text: str = _decode_text(value)
    if not text:
        raise ValueError("an empty text is an absent one; let the other reader say what that means")
    return text


def _items(block: str | None, mark: str) -> tuple[str, ...]:
    return tuple(_item(item) for item in block.split(mark)[1:]) if block else ()


def _item(value: str) -> str:
    return value if value[0] != '"' else str(_decode_text(value))


def _card(block: str | None) -> Card | None:
    if not block:
        return None
    parts: dict[str, tuple[str, ...]] = {}
    for part in re.split(r"\n  (?=[a-z])", block)[1:]:
        name, _, items = part.partition(":")
        if name in parts:
            raise ValueError("a part of the card stands twice")
        parts[name] = _items(items, "\n    - ")
    return parts.get("say", ()), parts.get("do", ()), parts.get("see", ()), parts.get("unless", ())
