"""A backup as a person makes one: the vault's passphrase brings it back on a machine where bead never was."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e.bead_process import Machine
from tests.e2e.terminal import typed

pytestmark = pytest.mark.e2e

PASSPHRASE = "correct horse battery"
NEW_VAULT = (("or more): ", PASSPHRASE), ("once more: ", PASSPHRASE))
ASKED = "of the vault: "


def person(machine: Machine, *argv: str, answers: Sequence[tuple[str, str]]) -> subprocess.CompletedProcess[str]:
    return typed([sys.executable, "-m", "bead_cli", *argv], answers, machine.environ, machine.root)


def bead(machine: Machine, *argv: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bead_cli", *argv]
    return subprocess.run(command, env=machine.environ, cwd=machine.root, capture_output=True, text=True, timeout=60)


def test_the_passphrase_brings_everything_back_on_another_machine(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    first, second = Machine(tmp_path / "first"), Machine(tmp_path / "second")
    stick = tmp_path / "stick"
    assert person(first, "vault", "init", answers=NEW_VAULT).returncode == 0
    assert bead(first, "write", "user/editor", "helix").returncode == 0
    assert bead(first, "write", "user/bank", "in the green folder").returncode == 0
    assert bead(first, "seal", "user/bank").returncode in (0, 3)

    made = json.loads(bead(first, "backup", str(stick), "--json").stdout)
    checked = bead(first, "backup", str(stick), "--verify")
    wrong = person(second, "restore", str(stick), answers=((ASKED, "not the passphrase"),))
    back = person(second, "restore", str(stick), "--json", answers=((ASKED, PASSPHRASE),))

    assert made["files"] == made["written"] > 4
    assert checked.returncode == 0, checked.stderr
    assert wrong.returncode == 1
    assert json.loads(back.stdout) == {"files": made["files"], "forgotten": 0}
    assert bead(second, "recall", "user/editor").stdout.strip() == "helix"
    shown = person(second, "sealed", "show", "user/bank", answers=((ASKED, PASSPHRASE),))
    assert shown.stdout.strip() == "in the green folder"
    assert bead(second, "restore", str(stick), "--identity", str(tmp_path / "none")).returncode == 2
