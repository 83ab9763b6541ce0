"""Asks git who a directory belongs to. Reads only; without git, or outside a repository, a path is a path."""

import os
import subprocess
from pathlib import Path

from bead.projects import Identity, identity

_TIMEOUT_S = 2.0
# The first commit of a very long history is not worth waiting for when the remote says who it is.
_ROOT_BESIDE_REMOTE_S = 0.5
# A repository must not be able to make a question about it run a program or wait for a person.
_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")


def identify(directory: str) -> Identity | None:
    """Who the project around `directory` is, worktrees and sub-folders included; None where there is none."""
    home = str(Path.home())
    if not os.path.isdir(directory):
        return identity(directory, home)
    common = _ask(directory, "rev-parse", "--path-format=absolute", "--git-common-dir")
    if common is None:
        return identity(os.path.realpath(directory), home)
    main_tree = common.removesuffix("/.git")
    remote = _ask(directory, "config", "--get", "remote.origin.url")
    # First parents only: a subtree that was merged in brings a root of its own, and long histories are read faster.
    limit_s = _ROOT_BESIDE_REMOTE_S if remote else _TIMEOUT_S
    root = _ask(directory, "rev-list", "--first-parent", "--max-parents=0", "HEAD", timeout_s=limit_s)
    return identity(main_tree, home, remote=remote, root_commit=root)


def _ask(directory: str, *question: str, timeout_s: float = _TIMEOUT_S) -> str | None:
    environ = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        answer = subprocess.run(
            ["git", "-C", directory, *_QUIET, *question],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env=environ,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None if answer.returncode == 0 else None
