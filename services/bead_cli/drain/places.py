"""Where the coding agents keep memories of their own. Looks at names and at settings; reads no memory.

An agent without such a place, or with a layout that is not known, is told so: nothing is guessed.
Source: seeds/hive-memory-drain.txt; field cases B52.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from bead.wire.drafts import CLIS
from bead_cli.drain.safely import NotSafe, Tree, opened

_MAX_DEPTH = 4
_HEAD_BYTES = 64 << 10
_TRANSCRIPTS = 3
_CWD = re.compile(rb'"cwd":("(?:[^"\\]|\\.)*")')
_NOT_IN_SLUG = re.compile(r"[^a-zA-Z0-9]")
_WORKING_FILES = ("raw_memories.md", "rollout_summaries/")
WITHOUT = {
    "opencode": "keeps no memories on disk, only transcripts",
    "copilot": "keeps its memories on GitHub, none on disk",
}


class Kind(StrEnum):
    """How the files of a place fall into memories."""

    INDEX = "index"
    """MEMORY.md and its topic files."""
    GEMINI = "gemini"
    """One section of GEMINI.md."""
    WHOLE = "whole"
    """Each file one memory: no form of it is promised."""


class Place(NamedTuple):
    """One folder of memories."""

    cli: str
    kind: Kind
    root: str
    """What is opened first; links below it are not followed."""
    folder: str
    """Below `root`, empty for itself."""
    files: tuple[str, ...]
    """Below `folder`."""
    directory: str | None = None
    """The project's, where it is certain."""


class Note(NamedTuple):
    """Something that is not drained, and why."""

    cli: str
    path: str
    reason: str


class Found(NamedTuple):
    """What there is to drain, and what there is not."""

    places: tuple[Place, ...]
    notes: tuple[Note, ...]


def find(environ: Mapping[str, str], clis: Sequence[str], uid: int, *, usual: bool = False) -> Found:
    """The places of these agents; the `usual` ones, or where `environ` says."""
    places: list[Place] = []
    notes: list[Note] = []
    told: Mapping[str, str] = {"HOME": environ.get("HOME", "")} if usual else environ
    for cli in clis:
        if cli in WITHOUT:
            notes.append(Note(cli, "", WITHOUT[cli]))
            continue
        root = root_of(cli, told)
        try:
            with opened(root, uid) as tree:
                if tree is None:
                    notes.append(Note(cli, root, "is not there"))
                    continue
                for each in _FINDERS[cli](root, tree, told, uid):
                    (places if isinstance(each, Place) else notes).append(each)  # type: ignore[arg-type]
        except NotSafe as error:
            notes.append(Note(cli, root, str(error)))
    return Found(tuple(places), tuple(notes))


def root_of(cli: str, environ: Mapping[str, str]) -> str:
    """The folder of an agent's settings and memories."""
    home = environ.get("HOME") or os.path.expanduser("~")
    named = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}.get(cli)
    return (environ.get(named) if named else None) or os.path.join(home, f".{cli}")


def slug_of(directory: str) -> str:
    """The name that Claude Code and Qwen Code give a project's folder."""
    return _NOT_IN_SLUG.sub("-", directory)


# -- one function an agent -----------------------------------------------------------------------------------------


def _claude(root: str, tree: Tree, environ: Mapping[str, str], uid: int) -> Iterator[Place | Note]:
    yield from _projects("claude", root, tree)
    moved = _memory_directory(tree, environ)
    if moved is None:
        return
    with opened(moved, uid) as there:
        if there is None:
            yield Note("claude", moved, "is not there (autoMemoryDirectory)")
        else:
            yield Place("claude", Kind.INDEX, moved, "", _markdown(there, ""))


def _qwen(root: str, tree: Tree, environ: Mapping[str, str], uid: int) -> Iterator[Place | Note]:
    if files := _markdown(tree, "memories"):
        yield Place("qwen", Kind.INDEX, root, "memories", files)
    yield from _projects("qwen", root, tree)


def _codex(root: str, tree: Tree, environ: Mapping[str, str], uid: int) -> Iterator[Place | Note]:
    for folder in ("memories", "memories_v2"):
        found = _markdown(tree, folder)
        files = tuple(name for name in found if not name.startswith(_WORKING_FILES))
        if len(found) > len(files):
            reason = f"{len(found) - len(files)} working files, from which Codex makes its memories, stay"
            yield Note("codex", os.path.join(root, folder), reason)
        if files:
            yield Place("codex", Kind.WHOLE, root, folder, files)


def _gemini(root: str, tree: Tree, environ: Mapping[str, str], uid: int) -> Iterator[Place | Note]:
    if "GEMINI.md" in tree.files():
        yield Place("gemini", Kind.GEMINI, root, "", ("GEMINI.md",))
    else:
        yield Note("gemini", os.path.join(root, "GEMINI.md"), "is not there")
    for folder in ("memory", "memories"):
        if tree.folders(folder) or tree.files(folder):
            yield Note("gemini", os.path.join(root, folder), "a layout that bead does not know; nothing was read")


_FINDERS = {"claude": _claude, "qwen": _qwen, "codex": _codex, "gemini": _gemini}
assert set(_FINDERS) == set(CLIS)


def _projects(cli: str, root: str, tree: Tree) -> Iterator[Place | Note]:
    for slug in tree.folders("projects"):
        folder = f"projects/{slug}/memory"
        try:
            files = _markdown(tree, folder)
        except NotSafe as error:
            yield Note(cli, os.path.join(root, folder), str(error))
            continue
        if files:
            yield Place(cli, Kind.INDEX, root, folder, files, _directory_of(tree, slug))


def _markdown(tree: Tree, folder: str, depth: int = 0) -> tuple[str, ...]:
    """Every Markdown file in `folder`, with its path below it."""
    found = [name for name in tree.files(folder) if name.endswith(".md") and not name.startswith(".")]
    if depth < _MAX_DEPTH:
        for name in tree.folders(folder):
            below = f"{folder}/{name}" if folder else name
            found += [f"{name}/{file}" for file in _markdown(tree, below, depth + 1)]
    return tuple(found)


def _memory_directory(tree: Tree, environ: Mapping[str, str]) -> str | None:
    """What the person's own settings call `autoMemoryDirectory`; a repository's are not asked."""
    try:
        with tree.hold("settings.json") as held:
            named = json.loads(held.data).get("autoMemoryDirectory")
    except (NotSafe, ValueError, AttributeError):
        return None
    if not isinstance(named, str) or not named:
        return None
    home = environ.get("HOME") or os.path.expanduser("~")
    path = os.path.join(home, named[2:]) if named.startswith("~/") else named
    return path if os.path.isabs(path) else None


# -- whose project -------------------------------------------------------------------------------------------------


def _directory_of(tree: Tree, slug: str) -> str | None:
    """The directory that a slug stands for, where only one can be meant: a slug is not its path."""
    try:
        transcripts = [name for name in tree.files(f"projects/{slug}") if name.endswith(".jsonl")]
    except NotSafe:
        return None
    for name in transcripts[-_TRANSCRIPTS:]:
        for spelled in _CWD.findall(tree.head(f"projects/{slug}/{name}", _HEAD_BYTES)):
            try:
                directory = str(json.loads(spelled))
            except ValueError:
                continue
            if slug_of(directory) == slug and os.path.isdir(directory):
                return directory
    candidates = list(_candidates("/", slug))
    return candidates[0] if len(candidates) == 1 else None


def _candidates(directory: str, slug: str) -> Iterator[str]:
    """Existing directories with this slug."""
    prefix = "" if directory == "/" else directory
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
    for name in sorted(names):
        own = slug_of(f"{prefix}/{name}")
        if own == slug:
            yield f"{prefix}/{name}"
        elif slug.startswith(f"{own}-"):
            yield from _candidates(f"{prefix}/{name}", slug)
