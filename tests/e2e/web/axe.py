"""Gets axe-core, the accessibility checker, at one pinned version and hash, into the cache of the tests, once."""

import base64
import hashlib
import io
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from tests.harness.install import HarnessUnavailable, cache_folder

VERSION = "4.14.1"
INTEGRITY = "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
_MEMBER = "package/axe.min.js"
_LIMIT_S = 300


def axe_script() -> str:
    """The checker's source, to be run in a page.

    Raises:
        HarnessUnavailable: npm is missing or failed, or the package is not the one that is pinned.
    """
    kept = cache_folder() / f"axe-core-{VERSION}.js"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            script = Path(folder) / "axe.js"
            script.write_bytes(_unpacked(Path(folder)))
            script.replace(kept)
    return kept.read_text()


def _unpacked(folder: Path) -> bytes:
    if shutil.which("npm") is None:
        raise HarnessUnavailable("npm is not installed: axe-core comes from npm")
    command = ["npm", "pack", "--silent", f"axe-core@{VERSION}", "--pack-destination", str(folder)]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=_LIMIT_S)
    except subprocess.CalledProcessError as error:
        raise HarnessUnavailable(f"`{' '.join(command)}` failed:\n{error.stderr[-2000:]}") from error
    data = next(folder.glob("*.tgz")).read_bytes()
    if "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode() != INTEGRITY:
        raise HarnessUnavailable(f"axe-core {VERSION} is not the package that is pinned")
    with tarfile.open(fileobj=io.BytesIO(data)) as package:
        member = package.extractfile(_MEMBER)
        assert member is not None
        return member.read()
