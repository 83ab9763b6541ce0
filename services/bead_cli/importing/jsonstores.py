"""Memories in JSON: the MCP memory server's graph, and what mem0 exports."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bead.errors import BadRequest
from bead_cli.importing.files import lines_of, text_of
from bead_cli.importing.records import Kept, Record, Wrong

_MAX_JSON_BYTES = 256 << 20


def read_mcp_memory(path: str) -> Iterator[Record]:
    """Each observation of an entity with its name, and each relation as a sentence; JSON lines, or one document."""
    for place, item in _graph(path):
        if isinstance(item, Wrong):
            yield item
        elif item.get("type") == "entity":
            yield from _entity(place, item)
        elif item.get("type") == "relation":
            parts = [item.get(name) for name in ("from", "relationType", "to")]
            if all(isinstance(part, str) and part.strip() for part in parts):
                yield Kept(" ".join(str(part).strip() for part in parts), place)
            else:
                yield Wrong(place, "a relation needs from, to and relationType")
        else:
            yield Wrong(place, "it is neither an entity nor a relation")


def read_mem0(path: str) -> Iterator[Record]:
    """Each memory of `get_all` or an export: a list, or a document with `results` or `memories`."""
    said = _json(text_of(path, _MAX_JSON_BYTES), path)
    found = said
    if isinstance(said, dict):
        found = next((said[name] for name in ("results", "memories", "data") if isinstance(said.get(name), list)), None)
    if not isinstance(found, list):
        raise BadRequest(f"{path} holds no list of memories (`results`)")
    for number, each in enumerate(found, 1):
        place = f"memory {number}"
        text = next((each[name] for name in ("memory", "text", "data") if each.get(name)), None) if _is(each) else None
        if isinstance(text, str) and text.strip():
            yield Kept(text, place)
        else:
            yield Wrong(place, "it has no text in `memory`")


def _entity(place: str, item: Mapping[str, Any]) -> Iterator[Record]:
    name, observations = item.get("name"), item.get("observations")
    if not isinstance(name, str) or not isinstance(observations, list):
        yield Wrong(place, "an entity needs a name and observations")
        return
    for number, said in enumerate(observations, 1):
        where = f"{place} observation {number}"
        if isinstance(said, str) and said.strip():
            yield Kept(f"{name.strip()}: {said.strip()}", where)
        else:
            yield Wrong(where, "an observation is a text")


def _graph(path: str) -> Iterator[tuple[str, Any]]:
    """Place and item; the server writes a line each, older ones a document with `entities` and `relations`."""
    first = next((line for _, line in lines_of(path) if line.strip()), b"")
    document = _document(first, path)
    if document is not None:
        for kind, name in (("entity", "entities"), ("relation", "relations")):
            for number, each in enumerate(document.get(name) or (), 1):
                yield (
                    f"{kind} {number}",
                    {**each, "type": kind} if _is(each) else Wrong(f"{kind} {number}", "no object"),
                )
        return
    for number, line in lines_of(path):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            said = None
        yield place, said if _is(said) else Wrong(place, "it is not a JSON object")


def _document(first: bytes, path: str) -> dict[str, Any] | None:
    try:
        said = json.loads(first)
        is_line = _is(said) and "type" in said
    except (ValueError, RecursionError):
        is_line = first.strip() not in (b"{", b"[") and not first.lstrip().startswith(b'{"entities"')
        said = None
    if is_line:
        return None
    if said is None:
        try:
            said = json.loads(text_of(path, _MAX_JSON_BYTES))
        except (ValueError, RecursionError):
            return None
    return said if _is(said) and ("entities" in said or "relations" in said) else None


def _json(text: str, path: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadRequest(f"{path} is not JSON (line {error.lineno}); it may have been cut off") from None
    except RecursionError:
        raise BadRequest(f"{path} is nested deeper than any such file is") from None


def _is(said: Any) -> bool:
    return isinstance(said, dict)
