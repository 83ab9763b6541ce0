"""Completion scripts: the shells accept them, and bash offers what the parsers know."""

import io
import shutil
import subprocess
from pathlib import Path

import pytest

from bead_cli.__main__ import run
from bead_cli.catalogue import COMMANDS

ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_bead; printf '%s\\n' "${COMPREPLY[@]}"
"""


def script(shell: str, folder: Path) -> Path:
    out = io.StringIO()
    assert run(["completion", shell], {}, out, io.StringIO()) == 0
    path = folder / f"completion.{shell}"
    path.write_text(out.getvalue())
    return path


def offered(folder: Path, *words: str) -> set[str]:
    asked = ["bash", "-uec", ASK, "bash", str(script("bash", folder)), *words]
    return set(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split())


def test_bash_offers_every_command_and_its_options(tmp_path: Path) -> None:
    assert offered(tmp_path, "bead", "") == {command.name for command in COMMANDS} | {"--version"}
    assert offered(tmp_path, "bead", "re") == {"remember", "recall", "reinforce", "rekey", "restore", "review"}
    assert {"--do", "--key", "--json", "--home"} <= offered(tmp_path, "bead", "remember", "--")
    assert "store" in offered(tmp_path, "bead", "serve", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_reads_the_script_without_complaint(tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", str(script(shell, tmp_path))], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
