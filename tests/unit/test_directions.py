"""The import contracts hold, and each is seen to fail on a planted import."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]

PLANTED = {
    "services-apart": ("services/bead_index/planted.py", "import bead_store"),
    "shared-below": ("shared/bead/planted.py", "import bead_index"),
    "nobody-imports-the-cli": ("services/bead_curate/planted.py", "import bead_cli"),
    "shared-layers": ("shared/bead/wire/planted.py", "import bead.clients"),
    "pure": ("shared/bead/keys.py", "import os"),
    "sqlite-in-the-index": ("services/bead_proxy/planted.py", "import sqlite3"),
    "age-at-the-ends": ("services/bead_proxy/planted.py", "import bead.age"),
    "one-writer": ("services/bead_dream/planted.py", "import fcntl"),
    "yaml-in-the-store": ("services/bead_proxy/planted.py", "import ruamel.yaml"),
}


@pytest.fixture(scope="module")
def clean_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("tree")
    shutil.copy(REPOSITORY / "pyproject.toml", tree)
    for folder in ("shared", "services", "evals"):
        shutil.copytree(REPOSITORY / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return tree


def lint(tree: Path, contract: str) -> subprocess.CompletedProcess[str]:
    folders = [str(tree / folder) for folder in ("shared", "services", "evals")]
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--contract", contract],
        cwd=tree,
        env={"PYTHONPATH": ":".join(folders), "PATH": ""},
        capture_output=True,
        text=True,
    )


def contracts() -> list[str]:
    tool = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]
    return [contract["id"] for contract in tool["contracts"]]


def test_every_contract_has_a_planted_import() -> None:
    assert sorted(PLANTED) == sorted(contracts())


@pytest.mark.parametrize("contract", PLANTED)
def test_a_contract_holds_here_and_breaks_on_a_planted_import(clean_tree: Path, contract: str) -> None:
    assert lint(clean_tree, contract).returncode == 0

    file, line = PLANTED[contract]
    planted = clean_tree / file
    before = planted.read_text() if planted.exists() else None
    planted.write_text(f"{before or ''}\n{line}\n")
    try:
        broken = lint(clean_tree, contract)
    finally:
        planted.write_text(before) if before is not None else planted.unlink()

    assert broken.returncode == 1
    assert "BROKEN" in broken.stdout
