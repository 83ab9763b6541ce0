"""Where bead is, as a unit and a profile may name it: absolute, and still there tomorrow."""

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bead.errors import Refused

_CACHES = (".cache", "Caches", "_npx")
"""Folders in which tools keep a program for one run."""
_VERSIONED = ("Cellar", "store", "installs", "versions")
"""Folders that have one folder a version: the next version lies elsewhere and this one is cleaned up (Homebrew, Nix,
mise, asdf, pyenv)."""


def find(environ: Mapping[str, str], *, allow_temporary: bool) -> str:
    """The `bead` that runs now, by the name that will still lead to it after an upgrade.

    Raises:
        Refused: it lies where things are cleaned up, or cannot be found.
    """
    beside = os.path.join(os.path.dirname(sys.executable), "bead")
    found = beside if os.access(beside, os.X_OK) else shutil.which("bead", path=environ.get("PATH"))
    if not found:
        raise Refused("no `bead` command was found; install it first, for example with: pipx install bead-memory")
    path = stable(os.path.abspath(found), environ)
    if not allow_temporary and (why := temporary(path, environ)):
        raise Refused(
            f"{path} lies in {why}, where it will be gone one day; install bead in a place that stays, or say"
            " --allow-temporary to try it"
        )
    return path


def stable(path: str, environ: Mapping[str, str]) -> str:
    """A link on the PATH that leads to the same program, where `path` names a version; else `path`."""
    if not _is_versioned(path):
        return path
    real = os.path.realpath(path)
    for folder in (environ.get("PATH") or "").split(os.pathsep):
        other = os.path.join(folder, "bead")
        if os.path.isabs(folder) and not _is_versioned(other) and os.path.realpath(other) == real:
            return other
    return path


def temporary(path: str, environ: Mapping[str, str]) -> str:
    """The folder that is cleaned up and holds `path`; empty for none."""
    real = Path(os.path.realpath(path))
    folders = {"/tmp", "/var/tmp", "/dev/shm", tempfile.gettempdir()}
    folders |= {
        environ[name] for name in ("TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "UV_CACHE_DIR") if environ.get(name)
    }
    for folder in sorted(folders):
        if any(each.is_relative_to(os.path.realpath(folder)) for each in (real, Path(path))):
            return folder
    return next((f"a folder named {cache}" for cache in _CACHES if cache in real.parts), "")


def _is_versioned(path: str) -> bool:
    return any(name in Path(path).parts for name in _VERSIONED)
