"""Gets real coding agents from npm, each at one pinned version, into a cache outside the repository, once.

Running them is `claude_code`'s and `agents`' job. npm is used as the machine has it configured.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLAUDE_CODE_VERSION = "2.1.332"
NODE_VERSION = "22.23.3"
_NPM_TIMEOUT_S = 900
_SMALLEST_BINARY_BYTES = 10_000_000
"""Before its install script has run, the package holds a stub of a few hundred bytes in place of the program."""


class HarnessUnavailable(RuntimeError):
    """The harness could not be installed; the text says why and what to do."""


def cache_folder() -> Path:
    """$BEAD_TEST_CACHE, else bead-tests in $XDG_CACHE_HOME or ~/.cache."""
    if named := os.environ.get("BEAD_TEST_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bead-tests"


def installed_claude_code(cache: Path | None = None) -> Path:
    """The folder that has `node_modules/.bin/claude` and `node_modules/.bin/node`, installed if it is not there yet.

    A folder of that name is always whole: it is built beside and renamed. Several processes may ask at once.

    Raises:
        HarnessUnavailable: npm is missing, or failed.
    """
    cache = cache or cache_folder()
    folder = cache / f"claude-code-{CLAUDE_CODE_VERSION}-node-{NODE_VERSION}"
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with _locked(cache / f".{folder.name}.lock"):
        if not folder.is_dir():
            _install_into(folder)
    return folder


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def installed_agent(package: str, version: str, cache: Path | None = None) -> Path:
    """The folder whose `node_modules/.bin` has the programs of that npm package, and node.

    Raises:
        HarnessUnavailable: npm is missing, or failed.
    """
    cache = cache or cache_folder()
    folder = cache / f"{package.strip('@').replace('/', '-')}-{version}-node-{NODE_VERSION}"
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with _locked(cache / f".{folder.name}.lock"):
        if not folder.is_dir():
            _install_package(folder, f"{package}@{version}")
    return folder


def _install_package(folder: Path, package: str) -> None:
    staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        _run(
            ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(staging), package, f"node@{NODE_VERSION}"],
            staging,
        )
        if not (staging / "node_modules/node/bin/node").exists():
            _run(["node", "installArchSpecificPackage"], staging / "node_modules/node")
        staging.rename(folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _install_into(folder: Path) -> None:
    staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        # A version must be named: on an older node npm would quietly choose an old claude-code.
        packages = [f"@anthropic-ai/claude-code@{CLAUDE_CODE_VERSION}", f"node@{NODE_VERSION}"]
        _run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(staging), *packages], staging)
        modules = staging / "node_modules"
        # npm may leave a package's install scripts out; both of these can run again without harm.
        if not (modules / "node/bin/node").exists():
            _run(["node", "installArchSpecificPackage"], modules / "node")
        _run([str(modules / "node/bin/node"), "install.cjs"], modules / "@anthropic-ai/claude-code")
        _check(modules)
        staging.rename(folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _check(modules: Path) -> None:
    claude = modules / ".bin/claude"
    if not os.access(claude, os.X_OK) or claude.stat().st_size < _SMALLEST_BINARY_BYTES:
        raise HarnessUnavailable(f"npm installed claude-code {CLAUDE_CODE_VERSION} without its program")


def _run(command: list[str], folder: Path) -> None:
    if shutil.which(command[0]) is None:
        raise HarnessUnavailable(
            f"{command[0]} is not installed: coding agents come from npm. Install Node.js with npm, "
            "or leave these tests out with -m 'not harness'"
        )
    try:
        subprocess.run(command, cwd=folder, check=True, timeout=_NPM_TIMEOUT_S, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        raise HarnessUnavailable(f"`{' '.join(command)}` failed:\n{error.stderr[-2000:]}") from error
    except subprocess.TimeoutExpired as error:
        raise HarnessUnavailable(f"`{' '.join(command)}` took more than {_NPM_TIMEOUT_S} s") from error
