"""bead's part of an agent's JSON settings: put in beside what is there, and taken out again. Pure: bytes in and out.

What a person has set stays as they set it. Hooks are `bead_cli.drain.seeding`'s.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from bead.errors import Refused
from bead_cli.drain.seeding import Hook, seeded, unseeded

_INDENT = 2


class Value(NamedTuple):
    """One value and the names that lead to it."""

    path: tuple[str, ...]
    value: Any


class Part(NamedTuple):
    """What bead puts into one file."""

    values: tuple[Value, ...] = ()
    hooks: tuple[Hook, ...] = ()


class Put(NamedTuple):
    """The file with bead's part; `taken` are names that the person had set to something else."""

    data: bytes
    taken: tuple[str, ...]


def with_part(data: bytes | None, part: Part, where: str) -> Put:
    """`data` with `part`; the very same bytes when all of it is there.

    Raises:
        Refused: the file is no JSON object, so that nothing can be added safely.
    """
    before = _object(data, where)
    try:
        after = seeded(before, part.hooks) if part.hooks else json.loads(json.dumps(before))
    except ValueError as error:
        raise Refused(f"{where}: {error}; nothing was changed there") from None
    taken = tuple(".".join(value.path) for value in part.values if not _put(after, value))
    if after == before:
        return Put(data or b"{}\n", taken)
    return Put(_bytes(after, data), taken)


def without_part(data: bytes, part: Part, where: str) -> bytes:
    """`data` without what is still there of `part`, and without what only held it. Raises Refused."""
    before = _object(data, where)
    after = unseeded(before, part.hooks)
    for value in part.values:
        _take(after, value)
    return data if after == before else _bytes(after, data)


def _object(data: bytes | None, where: str) -> dict[str, Any]:
    if data is None or not data.strip():
        return {}
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise Refused(f"{where} is not plain JSON (a comment in it, perhaps); nothing was changed there") from None
    if not isinstance(found, dict):
        raise Refused(f"{where} is no JSON object; nothing was changed there")
    return found


def _put(settings: dict[str, Any], value: Value) -> bool:
    """Whether the value is there now; not when something else is."""
    *folders, name = value.path
    place: Any = settings
    for folder in folders:
        place = place.setdefault(folder, {})
        if not isinstance(place, dict):
            return False
    return bool(place.setdefault(name, value.value) == value.value)


def _take(settings: dict[str, Any], value: Value) -> None:
    trail = [settings]
    for folder in value.path[:-1]:
        if not isinstance(inner := trail[-1].get(folder), dict):
            return
        trail.append(inner)
    if trail[-1].get(value.path[-1]) == value.value:
        del trail[-1][value.path[-1]]
    for outer, folder in reversed(list(zip(trail, value.path[:-1], strict=False))):
        if not outer[folder]:
            del outer[folder]


def _bytes(settings: dict[str, Any], like: bytes | None) -> bytes:
    indent: str | int = _indent(like or b"") or _INDENT
    text = json.dumps(settings, indent=indent, ensure_ascii=False)
    ends = b"" if like and not like.endswith(b"\n") else b"\n"
    found = text.encode("utf-8", "surrogatepass") + ends
    return found.replace(b"\n", b"\r\n") if like and b"\r\n" in like else found


def _indent(data: bytes) -> str:
    """What the first inner line begins with."""
    for line in data.splitlines()[1:]:
        if stripped := line.lstrip(b" \t"):
            return line[: len(line) - len(stripped)].decode() if stripped != line else ""
    return ""


def in_lines(part: Part) -> list[str]:
    """`part` for a person: nothing of what stands beside it."""
    values = [f"+ {'.'.join(value.path)} = {json.dumps(value.value)}" for value in part.values]
    return values + [f"+ hooks.{hook.event}: {hook.command}" for hook in part.hooks]


def as_document(part: Part) -> dict[str, Any]:
    """`part` as the journal keeps it."""
    return {
        "values": [[list(value.path), value.value] for value in part.values],
        "hooks": [list(hook) for hook in part.hooks],
    }


def from_document(document: dict[str, Any]) -> Part:
    """The part that the journal kept."""
    values: Iterable[Sequence[Any]] = document.get("values", ())
    hooks: Iterable[Sequence[Any]] = document.get("hooks", ())
    return Part(
        tuple(Value(tuple(path), value) for path, value in values),
        tuple(Hook(event, command, matcher) for event, command, matcher in hooks),
    )
