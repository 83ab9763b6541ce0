"""The header of a Markdown file: where it lies, its fields as text, and how values are written.

What bead writes itself is read by a strict line reader; everything else by YAML, as nodes only: every value is the
text that stands there, so `no`, `1.10`, `0123` and `12:30` mean what they say (B11), and no alias is ever expanded.
A header that cannot be understood is damaged, named with line and reason, and never read as no header (B36, B46).
Pure. What the fields mean is `frontmatter`, `queue` and `raw`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from bead_store.files import damaged

MAX_HEADER_CHARS = 64 << 10
_MAX_NESTING = 32
"""Deeper flow lists make the YAML reader recurse for seconds."""

_OPENING = re.compile(r"\ufeff?(?:[ \t]*\r?\n)*---[ \t]*(?:\r?\n|\Z)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9_./@#-]*\Z")
# Indent, then an item or a name, then a plain word that YAML takes for the same text, or a string as JSON writes it.
_OWN_LINE = re.compile(
    r"""( *)(?:(-[ ])|([a-z_]+):(?:[ ]|\Z))(?:([A-Za-z0-9](?:[A-Za-z0-9_./@:+#-]*[A-Za-z0-9_./@+#-])?)|("[^\n]*"))?\Z"""
)
_TAKEN_FOR_A_FLAG = frozenset({"true", "yes", "on", "y", "false", "no", "off", "n", "null"})
# Characters that JSON leaves alone in a string and YAML does not allow or takes for a line break.
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")

_decode_text = msgspec.json.Decoder(str).decode

Value = str | list[str] | dict[str, list[str]]
Written = str | Sequence[str] | Mapping[str, Sequence[str]] | None


class Field(NamedTuple):
    """One field of a header, and its line in the file."""

    value: Value
    line: int


class Parts(NamedTuple):
    """A file's text and where its header and body lie."""

    text: str
    header_start: int
    header_end: int
    body_start: int

    @property
    def header(self) -> str:
        """The lines between the fences."""
        return self.text[self.header_start : self.header_end]

    @property
    def body(self) -> str:
        """Everything below the header, as it stands there."""
        return self.text[self.body_start :]

    def line_at(self, position: int) -> int:
        """Number of the line that holds `position`."""
        return self.text.count("\n", 0, position) + 1


class YamlField(NamedTuple):
    """A top-level field as YAML sees it."""

    name: str
    name_end: int
    """Where its name ends in the header."""
    node: Node
    line: int


def split(data: bytes, path: Path) -> Parts:
    """Where header and body lie. A byte-order mark, blank lines first, CRLF and blanks after a fence are all fine.

    Raises:
        DamagedFile: no UTF-8, a NUL, no header, or one that never ends.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise damaged(path, line, "is not UTF-8 text; save it as UTF-8") from None
    if "\0" in text:
        raise damaged(path, text.count("\n", 0, text.index("\0")) + 1, "holds a NUL character")
    opening = _OPENING.match(text)
    if not opening:
        reason = "is empty" if not text.strip() else "does not start with a header between '---' lines"
        raise damaged(path, 1, reason)
    closing = _CLOSING.search(text, opening.end())
    if not closing:
        raise damaged(path, text.count("\n", 0, opening.end()), "opens a header that no '---' line closes")
    if closing.start() - opening.end() > MAX_HEADER_CHARS:
        raise damaged(path, 1, f"has a header of more than {MAX_HEADER_CHARS} characters")
    return Parts(text, opening.end(), closing.start(), closing.end())


def parse(parts: Parts, path: Path) -> dict[str, Field]:
    """The header's fields as written.

    Raises:
        DamagedFile: it is not a YAML mapping, or a field stands twice.
    """
    fields = _own_fields(parts)
    if fields is None:
        fields = {field.name: Field(_value(field.node, parts, path), field.line) for field in yaml_fields(parts, path)}
    return fields


def _own_fields(parts: Parts) -> dict[str, Field] | None:
    """The fields when every line is one that `render` could have written, else None."""
    fields: dict[str, Field] = {}
    items: list[str] | None = None
    card: dict[str, list[str]] | None = None
    for number, line in enumerate(parts.header.split("\n")[:-1], parts.line_at(parts.header_start)):
        match = _OWN_LINE.match(line)
        if not match:
            return None
        spaces, is_item, name, value, quoted = match.groups()
        indent = len(spaces)
        if quoted:
            try:
                value = _decode_text(quoted)
            except msgspec.DecodeError:
                return None
        if is_item:
            if items is None or value is None or indent != (2 if card is None else 4):
                return None
            items.append(value)
        elif indent == 2 and value is None and card is not None and name not in card:
            items = card[name] = []
        elif indent or name in fields:
            return None
        elif value is not None:
            items = card = None
            fields[name] = Field(value, number)
        elif name == "when":
            items, card = None, {}
            fields[name] = Field(card, number)
        else:
            items, card = [], None
            fields[name] = Field(items, number)
    return fields


def own_value_span(parts: Parts, name: str) -> tuple[int, int] | None:
    """Where in the header the value of a one-line field lies; its end twice when there is no such field.

    None when the header is not spelled as bead spells it, or the value takes several lines: `yaml_fields` knows then.
    """
    fields = _own_fields(parts)
    if fields is None or not isinstance(fields.get(name, Field("", 0)).value, str):
        return None
    text = parts.header
    found = re.search(rf"^{re.escape(name)}:", text, re.MULTILINE)
    return (found.end(), text.index("\n", found.end())) if found else (len(text), len(text))


def yaml_fields(parts: Parts, path: Path) -> list[YamlField]:
    """The header's top-level fields as YAML nodes.

    Raises:
        DamagedFile: it is not a YAML mapping, or a field stands twice.
    """
    first = parts.line_at(parts.header_start)
    root = _compose(parts, path)
    if not isinstance(root, MappingNode):
        raise damaged(path, first, "has a header that is not made of 'field: value' lines")
    found: dict[str, YamlField] = {}
    for name, value in root.value:
        line = first + name.start_mark.line
        if not isinstance(name, ScalarNode):
            raise damaged(path, line, "has a field whose name is not plain text")
        if name.value in found:
            raise damaged(path, line, "has a field a second time")
        found[name.value] = YamlField(name.value, name.end_mark.index, value, line)
    return list(found.values())


def _compose(parts: Parts, path: Path) -> Node | None:
    depth = 0
    for sign in re.finditer(r"[\[{\]}]", parts.header):
        depth += 1 if sign[0] in "[{" else -1
        if depth > _MAX_NESTING:
            raise damaged(path, parts.line_at(parts.header_start + sign.start()), "is nested too deeply")
    first = parts.line_at(parts.header_start)
    try:
        root: Node | None = YAML(pure=True, plug_ins=[]).compose(parts.header)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = first + (mark.line if mark else 0)
        raise damaged(path, line, f"is not valid YAML ({_unquoted(error.problem)})") from None
    except (YAMLError, RecursionError, ValueError) as error:
        raise damaged(path, first, f"is not valid YAML ({type(error).__name__})") from None
    return root


def _unquoted(problem: str | None) -> str:
    """The parser's complaint up to where it quotes: what it quotes is a person's text."""
    return re.split(r"[,'\"(\n]", problem or "")[0].strip() or "unreadable"


def _value(node: Node, parts: Parts, path: Path) -> Value:
    """Known shapes as text; what is nested deeper than any field of ours is left out."""
    if isinstance(node, ScalarNode):
        return str(node.value)
    if isinstance(node, SequenceNode):
        return [str(item.value) for item in node.value if isinstance(item, ScalarNode)]
    found: dict[str, list[str]] = {}
    for name, value in node.value:
        if isinstance(name, ScalarNode) and not isinstance(value, MappingNode):
            if name.value in found:
                line = parts.line_at(parts.header_start) + name.start_mark.line
                raise damaged(path, line, "has a field a second time")
            below = _value(value, parts, path)
            found[str(name.value)] = below if isinstance(below, list) else [str(below)]
    return found


# -- writing -------------------------------------------------------------------------------------------------------


def render(fields: Mapping[str, Written], body: str) -> bytes:
    """A Markdown file with these fields (empty ones left out) and this text."""
    header = "".join(f"{name}:{value_text(value)}\n" for name, value in fields.items() if value)
    return f"---\n{header}---\n{body}\n".encode()


def value_text(value: Written) -> str:
    """What stands behind a field's colon: one line for a text, indented lines for a list or a mapping of lists."""
    if isinstance(value, str):
        return f" {quote(value)}"
    if isinstance(value, Mapping):
        return "".join(f"\n  {name}:{_items(items, 4)}" for name, items in value.items() if items)
    return _items(value or (), 2)


def _items(items: Sequence[str], indent: int) -> str:
    return "".join(f"\n{' ' * indent}- {quote(item)}" for item in items)


class Bare(str):
    """A number, time or flag of bead's own, written without quotes."""

    __slots__ = ()


def quote(text: str) -> str:
    """`text` as a one-line YAML value that every reader takes for exactly this string."""
    if isinstance(text, Bare) or (_TEXT.match(text) and text.lower() not in _TAKEN_FOR_A_FLAG):
        return str(text)
    return _NOT_IN_YAML.sub(lambda char: f"\\u{ord(char[0]):04x}", json.dumps(text, ensure_ascii=False))


def flag_text(flag: bool) -> Bare:
    """`true` or `false`."""
    return Bare("true" if flag else "false")


def moment_text(moment: datetime) -> Bare:
    """RFC 3339 in UTC."""
    return Bare(moment.astimezone(UTC).isoformat().replace("+00:00", "Z"))
