"""Transcripts that coding agents keep themselves: finds a text in them and, when a person says so, blanks it.

Files of other programs: opened without following a link at any step, changed only in place and by as many bytes, so
that JSON stays valid and an agent that has the file open goes on with it. Runs on the host, as the person.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from bead_store import blanking

MOST_BYTES = 512 << 20
_TEXT = frozenset({".jsonl", ".json", ".md", ".txt", ".log"})
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_PLACES: tuple[tuple[str, str, str], ...] = (
    ("Claude Code", "CLAUDE_CONFIG_DIR", ".claude/projects"),
    ("Claude Code", "CLAUDE_CONFIG_DIR", ".claude/history.jsonl"),
    ("Codex", "CODEX_HOME", ".codex/sessions"),
    ("Codex", "CODEX_HOME", ".codex/history.jsonl"),
    ("Codex", "CODEX_HOME", ".codex/memories"),
    ("Codex", "CODEX_HOME", ".codex/memories_v2"),
    ("Gemini CLI", "", ".gemini/GEMINI.md"),
    ("Gemini CLI", "", ".gemini/tmp"),
    ("Qwen Code", "", ".qwen/QWEN.md"),
    ("Qwen Code", "", ".qwen/memories"),
    ("Qwen Code", "", ".qwen/projects"),
    ("Qwen Code", "", ".qwen/tmp"),
    ("opencode", "", ".local/share/opencode"),
    ("Copilot CLI", "", ".copilot/session-state"),
    ("Continue", "", ".continue/sessions"),
    ("Cline", "", ".cline/data"),
    ("OpenHands", "", ".openhands/conversations"),
    ("Letta Code", "", ".letta/lc-local-backend"),
)


class Held(NamedTuple):
    """One file of an agent that holds the text."""

    harness: str
    path: Path
    can_change: bool
    """False for a database, say: its own program has to."""


def find(environ: Mapping[str, str], home: Path, holds: Callable[[bytes], bool]) -> list[Held]:
    """Every file of an agent that holds it."""
    found: list[Held] = []
    for harness, root in _roots(environ, home):
        for path in _below(root):
            data = _read(path)
            if data is not None and holds(data):
                found.append(Held(harness, path, path.suffix in _TEXT))
    return found


def redact(path: Path, holds: Callable[[str], bool]) -> bool:
    """Blank it where it lies; whether nothing of it is left. Raises OSError when the file cannot be written."""
    descriptor = _open(path, os.O_RDWR | _FILE)
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_uid != os.getuid() or state.st_nlink > 1:
            return False
        data = os.pread(descriptor, state.st_size, 0)
        for start, blank in blanking.changes(path.name, data, holds) or ():
            os.pwrite(descriptor, blank, start)
        os.fsync(descriptor)
        return not holds(os.pread(descriptor, state.st_size, 0).decode("utf-8", "replace"))
    finally:
        os.close(descriptor)


def _roots(environ: Mapping[str, str], home: Path) -> Iterator[tuple[str, Path]]:
    for harness, variable, below in _PLACES:
        base = environ.get(variable) if variable else None
        yield harness, Path(base) / below.partition("/")[2] if base else home / below


def _below(root: Path) -> Iterator[Path]:
    if root.is_file() and not root.is_symlink():
        yield root
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not os.path.islink(os.path.join(folder, name))]
        yield from (Path(folder) / name for name in sorted(names))


def _read(path: Path) -> bytes | None:
    try:
        descriptor = _open(path, os.O_RDONLY | _FILE)
    except OSError:
        return None
    try:
        state = os.fstat(descriptor)
        is_ours = stat.S_ISREG(state.st_mode) and state.st_size <= MOST_BYTES
        return os.pread(descriptor, state.st_size, 0) if is_ours else None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _open(path: Path, flags: int) -> int:
    """Open `path` folder by folder; a link anywhere below the person's home is refused."""
    home = Path.home()
    start = home if path.is_relative_to(home) else Path(path.anchor)
    folder = os.open(start, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        *folders, name = path.relative_to(start).parts
        for each in folders:
            inner = os.open(each, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(name, flags, dir_fd=folder)
    finally:
        os.close(folder)
