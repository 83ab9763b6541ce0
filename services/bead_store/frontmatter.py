"""A fact version as a Markdown file: read it however a person's editor left it, write one, change a few fields.

Pure: bytes in, bytes out. How a header is spelled is `header`; what a damaged file means for its key is `catalogue`.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, TypeVar

from ruamel.yaml.nodes import CollectionNode, Node, ScalarNode

from bead.errors import DamagedFile
from bead.facts import FactType, FactVersion, Sensitivity, Status, TriggerCard, Trust
from bead_store import header
from bead_store.files import damaged
from bead_store.header import Bare, Field, Parts, flag_text, moment_text

MAX_FILE_BYTES = 1 << 20

_TRUE = frozenset({"true", "yes", "on", "y"})
_FALSE = frozenset({"false", "no", "off", "n"})
_CARD = ("say", "do", "see", "unless")


class Place(NamedTuple):
    """What a file's path says about it, and what to assume where the header is silent."""

    path: Path
    key: str
    version: int
    owner: str
    written: datetime
    """The file's modification time, for files that do not say when they were written."""


def parse_fact(data: bytes, place: Place) -> FactVersion:
    """The fact version in `data`; `uid` is empty when the file has none.

    Raises:
        DamagedFile: names line and reason.
    """
    parts = header.split(data, place.path)
    fields = header.parse(parts, place.path)
    body = normal_body(parts.body)
    if not body.strip():
        raise damaged(place.path, parts.line_at(parts.body_start), "has no text below its header")
    return FactReader(fields, place).fact(body)


def normal_body(text: str) -> str:
    """A body as it is compared and stored: line ends are line feeds, no empty lines around it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")


def render_fact(fact: FactVersion, supersedes: int | None) -> bytes:
    """The file of a new version."""
    fields: dict[str, header.Written] = {
        "id": Bare(fact.id),
        "key": Bare(fact.key),
        "type": Bare(fact.type),
        "owner": fact.owner,
        "status": Bare(fact.status),
        "version": Bare(fact.version),
        "supersedes": Bare(f"{fact.key}@v{supersedes}") if supersedes else None,
        "uid": Bare(fact.uid),
        "valid_from": moment_text(fact.valid_from),
        "trust": Bare(fact.trust),
        "sensitivity": Bare(fact.sensitivity),
        "pinned": flag_text(fact.pinned),
        "sources": fact.sources,
        "harness": fact.harness,
        "project_id": fact.project_id,
        "when": card_fields(fact.when),
    }
    return header.render(fields, fact.body)


def card_fields(card: TriggerCard) -> dict[str, tuple[str, ...]]:
    """A trigger card as a header holds it."""
    return {part: items for part in _CARD if (items := getattr(card, part))}


# -- reading -------------------------------------------------------------------------------------------------------

ChoiceT = TypeVar("ChoiceT", bound=StrEnum)


class Reader:
    """Typed fields out of text; every complaint names the field and its line."""

    def __init__(self, fields: Mapping[str, Field], path: Path) -> None:
        self._fields = fields
        self._path = path

    def text(self, name: str) -> str | None:
        """The field's text, None when it is absent or empty."""
        field = self._fields.get(name)
        if field is None or not field.value:
            return None
        if not isinstance(field.value, str):
            raise self.wrong(name, "must be one line of text")
        return field.value

    def needed(self, name: str) -> str:
        """The field's text, which must be there."""
        text = self.text(name)
        if text is None:
            raise damaged(self._path, 1, f"has no field '{name}' in its header")
        return text

    def items(self, name: str) -> tuple[str, ...]:
        """A list, or one text as a list of one."""
        field = self._fields.get(name)
        if field is None or not field.value:
            return ()
        if isinstance(field.value, dict):
            raise self.wrong(name, "must be a list")
        return (field.value,) if isinstance(field.value, str) else tuple(field.value)

    def choice(self, name: str, kind: type[ChoiceT], default: ChoiceT | None = None) -> ChoiceT:
        """One of the words of `kind`; without a default it must be there."""
        text = self.needed(name) if default is None else self.text(name)
        try:
            return kind(text) if text is not None else default  # type: ignore[return-value]  # one of both is there
        except ValueError:
            raise self.wrong(name, f"must be one of {', '.join(kind)}") from None

    def flag(self, name: str) -> bool:
        """Yes or no in any of YAML's words; no when it is absent."""
        text = (self.text(name) or "false").lower()
        if text not in _TRUE | _FALSE:
            raise self.wrong(name, "must be true or false")
        return text in _TRUE

    def moment(self, name: str) -> datetime | None:
        """A time; a date is its midnight, and without a zone it is UTC."""
        text = self.text(name)
        if text is None:
            return None
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise self.wrong(name, "must be a time like 2026-11-05T09:12:00Z") from None
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)

    def card(self, name: str) -> TriggerCard:
        """A trigger card."""
        field = self._fields.get(name)
        if field is None or not field.value:
            return TriggerCard()
        if not isinstance(field.value, dict) or not set(field.value) <= set(_CARD):
            raise self.wrong(name, f"may hold lists named {', '.join(_CARD)}")
        return TriggerCard(**{part: tuple(items) for part, items in field.value.items()})

    def wrong(self, name: str, reason: str) -> DamagedFile:
        """The complaint about one field."""
        return damaged(self._path, self._fields[name].line, f"the field '{name}' {reason}")


class FactReader(Reader):
    """The fields of a fact, checked against where its file lies."""

    def __init__(self, fields: Mapping[str, Field], place: Place) -> None:
        super().__init__(fields, place.path)
        self._place = place

    def fact(self, body: str) -> FactVersion:
        """The whole version."""
        place = self._place
        if self.needed("key") != place.key:
            raise self.wrong("key", "is not the key that this folder stands for; a fact is moved with 'bead rekey'")
        version = self.text("version")
        if version is not None and not (version.isdecimal() and int(version) == place.version):
            raise self.wrong("version", f"is not {place.version}, as the file's name says")
        return FactVersion(
            uid=self.text("uid") or "",
            key=place.key,
            version=place.version,
            type=self.choice("type", FactType),
            owner=self.text("owner") or place.owner,
            status=self.choice("status", Status, Status.CURRENT),
            trust=self.choice("trust", Trust, Trust.AGENT_OBSERVED),
            sensitivity=self.choice("sensitivity", Sensitivity, Sensitivity.PRIVATE),
            valid_from=self.moment("valid_from") or place.written,
            body=body,
            pinned=self.flag("pinned"),
            sources=self.items("sources"),
            harness=self.text("harness"),
            project_id=self.text("project_id"),
            last_injected=self.moment("last_injected"),
            when=self.card("when"),
        )


# -- rewriting -----------------------------------------------------------------------------------------------------


class Rewrite(NamedTuple):
    """The only fields that ever change in a file that exists (I2); None leaves one as it is."""

    status: Status | None = None
    trust: Trust | None = None
    pinned: bool | None = None
    sensitivity: Sensitivity | None = None
    when: TriggerCard | None = None
    last_injected: datetime | None = None

    def apply(self, fact: FactVersion) -> FactVersion:
        """`fact` as its file reads afterwards."""
        return fact.model_copy(update={name: value for name, value in self._asdict().items() if value is not None})


def rewrite_fact(data: bytes, change: Rewrite, place: Place) -> bytes:
    """`data` with these fields changed and every other byte as it was, line ends and comments included.

    Raises:
        DamagedFile: it cannot be read, or not changed without touching something else.
    """
    before = parse_fact(data, place)
    written = data
    for name, value in change._asdict().items():
        if value is not None and getattr(before, name) != value:
            written = _set_field(header.split(written, place.path), name, _written(value), place.path)
    if parse_fact(written, place) != change.apply(before):
        raise damaged(place.path, None, "cannot be changed without touching other lines; edit it by hand")
    return written


class NewPlace(NamedTuple):
    """What a fact's header says after a move to another key."""

    key: str
    uid: str
    project_id: str | None
    """Identity of the project whose scope it is in now."""


def move_fact(data: bytes, place: Place, new: NewPlace) -> bytes:
    """`data` as a version of another key; only the fields that name the key or its project change.

    Raises:
        DamagedFile: it cannot be read, or not changed without touching something else.
    """
    before = parse_fact(data, place)
    there = header.parse(header.split(data, place.path), place.path)
    fields: dict[str, header.Written] = {"key": Bare(new.key), "uid": Bare(new.uid)}
    if "id" in there:
        fields["id"] = Bare(f"{new.key}@v{place.version}")
    if "supersedes" in there:
        fields["supersedes"] = Bare(f"{new.key}@{str(there['supersedes'].value).rpartition('@')[2]}")
    if before.project_id != new.project_id:
        fields["project_id"] = new.project_id or ""
    written = data
    for name, value in fields.items():
        written = _set_field(header.split(written, place.path), name, value, place.path)
    expected = before.model_copy(update={"key": new.key, "uid": new.uid, "project_id": new.project_id})
    if parse_fact(written, place._replace(key=new.key)) != expected:
        raise damaged(place.path, None, "cannot be moved without touching other lines; edit it by hand")
    return written


def _written(value: StrEnum | bool | TriggerCard | datetime) -> header.Written:
    if isinstance(value, TriggerCard):
        return card_fields(value)
    if isinstance(value, datetime):
        return moment_text(value)
    return flag_text(value) if isinstance(value, bool) else Bare(value)


def _set_field(parts: Parts, name: str, value: header.Written, path: Path) -> bytes:
    newline = "\r\n" if parts.header.endswith("\r\n") else "\n"
    text = header.value_text(value).replace("\n", newline)
    old = parts.header
    start, end = header.own_value_span(parts, name) or _yaml_value_span(parts, name, path)
    new = old[:start] + text + old[end:] if start < len(old) else f"{old}{name}:{text}{newline}"
    return (parts.text[: parts.header_start] + new + parts.text[parts.header_end :]).encode()


def _yaml_value_span(parts: Parts, name: str, path: Path) -> tuple[int, int]:
    """Where in the header the value of a field lies, as YAML sees it; its end twice when there is no such field."""
    for field in header.yaml_fields(parts, path):
        if field.name == name:
            start = parts.header.index(":", field.name_end) + 1
            return start, max(start, _end(field.node))
    return len(parts.header), len(parts.header)


def _end(node: Node) -> int:
    # A block collection's own end mark lies behind the comments that follow it; its last leaf's does not.
    is_empty_plain = isinstance(node, ScalarNode) and not node.value and not node.style
    if is_empty_plain:
        return 0
    if not isinstance(node, CollectionNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last)
