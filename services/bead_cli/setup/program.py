"""Where bead is, as a unit and a profile may name it: absolute, and still there tomorrow."""

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bead.errors import Refused

_CACHES = (".cache/uv", ".cache/pipx", ".local/pipx/.cache", "/_npx/")
"""Where tools keep a program for one run."""


def find(environ: Mapping[str, str], *, allow_temporary: bool) -> str:
    """The `bead` that runs now.

    Raises:
        Refused: it lies where things are cleaned up, or cannot be found.
    """
    beside = os.path.join(os.path.dirname(sys.executable), "bead")
    found = beside if os.access(beside, os.X_OK) else shutil.which("bead", path=environ.get("PATH"))
    if not found:
        raise Refused("no `bead` command was found; install it first, for example with: pipx install bead-memory")
    path = os.path.abspath(found)
    if not allow_temporary and (why := _temporary(path, environ)):
        raise Refused(
            f"{path} lies in {why}, where it will be gone one day; install bead in a place that stays, or say"
            " --allow-temporary to try it"
        )
    return path


def _temporary(path: str, environ: Mapping[str, str]) -> str:
    real = Path(os.path.realpath(path))
    folders = {"/tmp", "/var/tmp", tempfile.gettempdir(), environ.get("TMPDIR") or "/tmp"}
    for folder in sorted(folders):
        if any(each.is_relative_to(os.path.realpath(folder)) for each in (real, Path(path))):
            return folder
    return next((cache for cache in _CACHES if cache in str(real)), "")
