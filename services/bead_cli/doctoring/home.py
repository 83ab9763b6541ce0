"""The home itself: who may read it, its tokens, its clock, what a killed bead left behind."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from bead_cli import runtime
from bead_cli.context import Context, token_file
from bead_cli.doctoring.finding import Finding
from bead_cli.probe import answers_for

_PRIVATE = 0o077
"""What nobody else may do."""
_MOST_FILES = 100_000
_TOKENS = ("bus", "admin", "proxy")
_SHORTEST_TOKEN = 20
_AHEAD_S = 300.0
_BEFORE_BEAD_S = 1_767_225_600.0
"""2026-01-01: a clock that says less is not set."""


def readable(context: Context, *, fix: bool) -> Iterator[Finding]:
    """Files and folders of the home that others may read or write; with `fix` they no longer may.

    A key, a token or a folder needs a person; a plain file in folders that nobody else may enter is only noted: an
    editor may have made it.
    """
    secret = _secrets(context)
    found: list[str] = []
    foreign: list[str] = []
    for path in _everything(context.home):
        state = os.lstat(path) if os.path.lexists(path) else None
        if state is None or stat.S_ISLNK(state.st_mode):
            continue
        if state.st_uid != os.geteuid():
            foreign.append(path)
        elif stat.S_IMODE(state.st_mode) & _PRIVATE:
            found.append(path)
            if fix:
                os.chmod(path, 0o700 if stat.S_ISDIR(state.st_mode) else 0o600)
    if foreign:
        mend = f"sudo chown -R $USER {context.home}"
        yield Finding("person", "home", f"{_named(foreign)} to another user", mend, foreign[0])
    if found and fix:
        cause = f"could be read or written by others; private now ({len(found)} in all)"
        yield Finding("note", "home", cause, "", found[0])
        return
    for path in (each for each in found if each in secret):
        mode = stat.S_IMODE(os.lstat(path).st_mode)
        cause = f"others may read or write it (mode {mode:o})"
        yield Finding("person", "home", cause, "bead doctor --fix", path)
    if others := [each for each in found if each not in secret]:
        more = f", and {len(others) - 1} more like it" if len(others) > 1 else ""
        yield Finding("note", "home", f"is not private by itself{more}", "bead doctor --fix", others[0])


def _secrets(context: Context) -> set[str]:
    layout = context.layout()
    tokens = layout.token("bus").parent
    names = ("audit.log", "tombstones.log", "tombstone.key", "config.yaml", "index.db")
    folders = (layout.root, layout.facts.parent, tokens)
    return {str(path) for path in (*folders, *tokens.glob("*"), *(layout.root / name for name in names))}


def tokens(context: Context) -> Iterator[Finding]:
    """Each secret is there, and is one."""
    if not os.path.exists(os.path.join(context.home, "home-id")):
        return
    for name in _TOKENS:
        path = token_file(context.home, name, context.environ)
        try:
            with open(path, encoding="ascii") as file:
                text = file.read().strip()
        except FileNotFoundError:
            yield Finding("unavailable", "tokens", "is missing", "bead down; bead up   (makes a new one)", path)
            continue
        except (OSError, UnicodeDecodeError) as error:
            yield Finding("person", "tokens", f"cannot be read ({type(error).__name__})", f"rm {path}; bead up", path)
            continue
        if len(text) < _SHORTEST_TOKEN or len(text.split()) != 1:
            yield Finding("person", "tokens", "holds no token of bead's", f"rm {path}; bead down; bead up", path)


def clock(context: Context, now_s: float) -> Iterator[Finding]:
    """A clock that went back, or was never set: versions and nights would be dated wrongly."""
    if now_s < _BEFORE_BEAD_S:
        yield Finding("unavailable", "clock", "says a time before bead was written", "set the time of this machine")
        return
    newest, path = 0.0, ""
    for name in ("audit.log", "tombstones.log", "runtime.json", "index.db"):
        place = os.path.join(context.home, name)
        changed = os.path.getmtime(place) if os.path.exists(place) else 0.0
        if changed > newest:
            newest, path = changed, place
    if newest > now_s + _AHEAD_S:
        minutes = int((newest - now_s) / 60)
        cause = f"was written {minutes} minutes from now: the clock was ahead then, or is behind"
        yield Finding("note", "clock", cause, "set the time of this machine (timedatectl set-ntp true)", path)


def left_behind(context: Context, who: runtime.Runtime | None, *, fix: bool) -> Iterator[Finding]:
    """`runtime.json` of a bead that was killed; with `fix` it goes, if nobody answers there."""
    if who is None or runtime.is_running(who):
        return
    if fix and not answers_for(who):
        runtime.remove(context.home, who)
        yield Finding("note", "bead", f"runtime.json of a bead that was killed (pid {who.pid}) is gone now", "")


def _everything(home: str) -> Iterator[str]:
    if not os.path.isdir(home):
        return
    yield home
    count = 0
    for folder, folders, names in os.walk(home):
        for name in (*folders, *names):
            yield os.path.join(folder, name)
            count += 1
            if count >= _MOST_FILES:
                return


def _named(paths: list[str]) -> str:
    return "belongs" if len(paths) == 1 else f"and {len(paths) - 1} more belong"


def inodes(context: Context) -> Iterator[Finding]:
    """A disk with room and without names for files cannot be written either."""
    place = Path(context.home)
    while not place.exists():
        place = place.parent
    state = os.statvfs(place)
    if state.f_files and state.f_favail < 1_000:
        yield Finding("unavailable", "disk", f"only {state.f_favail} more files fit on it", "make room", str(place))
    if state.f_flag & os.ST_RDONLY:
        yield Finding("unavailable", "disk", "is mounted read-only", "mount it so that it can be written", str(place))
