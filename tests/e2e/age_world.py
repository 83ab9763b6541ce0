"""Gets what other people's age is: the program, and the test vectors of its specification; into a cache, once.

The program is Debian unstable's package, unpacked beside the system and installed nowhere; the vectors are the npm
package of the specification's authors. Both come through the machine's own configuration of apt and npm.
"""

import fcntl
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness.install import cache_folder

PROGRAM_PACKAGE = "age"
LEAST_VERSION = (1, 3)
"""The first that knows the hybrid recipient."""
VECTORS_PACKAGE = "cctv-age@0.2.0"
_TIMEOUT_S = 300
_SOURCES = Path("/etc/apt/sources.list.d/debian.sources")
_DUMP = """
import * as vectors from 'cctv-age'; import fs from 'fs';
for (const [name, data] of Object.entries(vectors.default ?? vectors))
  if (data instanceof Uint8Array) fs.writeFileSync('vectors/' + name, data);
"""


class AgeUnavailable(RuntimeError):
    """It could not be had; the text says why."""


def age_programs() -> Path:
    """The folder with `age` and `age-keygen`.

    Raises:
        AgeUnavailable: the package cannot be had, or is too old.
    """
    folder = _made("age-debian-unstable", _unpack_program) / "root/usr/bin"
    said = subprocess.run([folder / "age", "--version"], capture_output=True, text=True, check=True).stdout
    version = tuple(int(part) for part in said.strip().removeprefix("v").split(".")[:2] if part.isdecimal())
    if version < LEAST_VERSION:
        raise AgeUnavailable(f"the package has age {said.strip()}, and the hybrid recipient came with 1.3")
    return folder


def vectors() -> list[Path]:
    """One file a vector: a header in lines, an empty line, an age file.

    Raises:
        AgeUnavailable: the package cannot be had.
    """
    return sorted((_made(VECTORS_PACKAGE, _install_vectors) / "vectors").iterdir())


def _made(name: str, make: Callable[[Path], None]) -> Path:
    """The folder of that name in the cache, always whole: it is made beside and renamed."""
    cache = cache_folder()
    folder = cache / name
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with _locked(cache / f".{name}.lock"):
        if not folder.is_dir():
            staging = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=cache))
            try:
                make(staging)
                staging.rename(folder)
            finally:
                shutil.rmtree(staging, ignore_errors=True)
    return folder


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _unpack_program(folder: Path) -> None:
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True)
    sources = folder / "unstable.sources"
    sources.write_text(_unstable_sources())
    apt = ["apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=/dev/null"]
    apt += ["-o", f"Dir::State::Lists={folder}/lists", "-o", f"Dir::Cache={folder}/cache"]
    apt += ["-o", "APT::Sandbox::User=root"]
    _run([*apt, "update"], folder)
    _run([*apt, "download", PROGRAM_PACKAGE], folder)
    [package] = folder.glob("*.deb")
    _run(["dpkg", "-x", str(package), str(folder / "root")], folder)
    for part in ("lists", "cache"):
        shutil.rmtree(folder / part)


def _unstable_sources() -> str:
    """The first of the machine's own sources, with its suite replaced."""
    try:
        first = _SOURCES.read_text().split("\n\n")[0]
    except OSError as error:
        raise AgeUnavailable(f"{_SOURCES} cannot be read ({error.strerror}); these tests need a Debian") from None
    return "\n".join("Suites: sid" if line.startswith("Suites:") else line for line in first.splitlines()) + "\n"


def _install_vectors(folder: Path) -> None:
    _run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", VECTORS_PACKAGE], folder)
    (folder / "vectors").mkdir()
    (folder / "dump.mjs").write_text(_DUMP)
    _run(["node", "dump.mjs"], folder)


def _run(command: list[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, timeout=_TIMEOUT_S, capture_output=True, text=True)
    except FileNotFoundError:
        raise AgeUnavailable(f"{command[0]} is not installed") from None
    except subprocess.CalledProcessError as error:
        raise AgeUnavailable(f"`{' '.join(command)}` failed:\n{error.stderr[-2000:]}") from None
    except subprocess.TimeoutExpired:
        raise AgeUnavailable(f"`{' '.join(command)}` took more than {_TIMEOUT_S} s") from None
