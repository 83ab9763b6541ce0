"""Facts as a folder of Markdown in the Open Knowledge Format 0.2: a file a fact, an index a folder. Pure.

bead's own fields stand under names of their own; whoever reads the format leaves alone what it does not know.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

VERSION = "0.2"
_RESERVED = ("index", "log", "readme")
_TITLE = 80
_MORE = ("trust", "pinned", "harness")


class Page(NamedTuple):
    """One file of the folder."""

    path: str
    """Below it, with slashes."""
    text: str

    def __repr__(self) -> str:  # names are keys
        return f"Page({len(self.text)} characters)"


def pages(facts: Sequence[Mapping[str, Any]]) -> Iterator[Page]:
    """A page for each fact, and the index of each folder."""
    folders: dict[str, list[tuple[str, str]]] = {"": []}
    for fact in facts:
        path = page_path(str(fact["key"]))
        yield Page(path, _page(fact))
        _enter(folders, path, _title(str(fact["body"])))
    for folder, entries in folders.items():
        yield Page(f"{folder}index.md", _index(folder, sorted(set(entries))))


def page_path(key: str) -> str:
    """Where the fact of that key lies; names that the format keeps for itself get a suffix."""
    folder, _, name = key.rpartition("/")
    return f"{folder}/{name}-fact.md" if name.lower() in _RESERVED else f"{folder}/{name}.md"


def _page(fact: Mapping[str, Any]) -> str:
    body = str(fact["body"]).strip()
    fields: dict[str, Any] = {
        "type": fact["type"],
        "title": _title(body),
        "timestamp": fact["valid_from"],
        "tags": [str(fact["key"]).split("/", 1)[0]],
        "key": fact["key"],
        "version": fact["version"],
        **{name: fact[name] for name in _MORE if fact.get(name)},
    }
    if fact.get("sources"):
        fields["sources"] = list(fact["sources"])
    # JSON is YAML: no value can be taken for a date, a number or a marker.
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    return "\n".join(["---", *lines, "---", "", body, ""])


def _index(folder: str, entries: list[tuple[str, str]]) -> str:
    head = [f"---\nokf_version: {json.dumps(VERSION)}\n---\n\n# What bead remembers"] if not folder else []
    head = head or [f"# {folder.rstrip('/')}"]
    return "\n".join([*head, "", *(f"* [{title}]({name})" for name, title in entries), ""])


def _enter(folders: dict[str, list[tuple[str, str]]], path: str, title: str) -> None:
    folder, _, name = path.rpartition("/")
    folders.setdefault(f"{folder}/", []).append((name, title))
    parts = folder.split("/")
    for depth in range(len(parts)):
        above = "/".join(parts[:depth])
        folders.setdefault(f"{above}/" if above else "", []).append((f"{parts[depth]}/index.md", parts[depth]))


def _title(body: str) -> str:
    first = next((line.strip() for line in body.splitlines() if line.strip()), "")
    plain = first.strip("#*->` ").replace("[", "(").replace("]", ")") or "fact"
    return plain if len(plain) <= _TITLE else plain[: _TITLE - 1].rstrip() + "…"
