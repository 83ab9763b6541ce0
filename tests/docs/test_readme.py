"""What the README tells people to type exists."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text()
BEAD = Path(sys.executable).with_name("bead")


def typed_lines() -> list[str]:
    return [line.strip() for line in re.findall(r"^    (.+)$", README, re.MULTILINE)]


def commands() -> list[str]:
    """Every `bead VERB` in an example, alternatives too."""
    found: set[str] = set()
    for line in typed_lines():
        typed = line.split("#", 1)[0]
        for part in re.split(r"\s\|\s(?=[a-z])", typed):
            words = part.removeprefix(".venv/bin/").removeprefix("docker compose exec proxy ").split()
            if words and words[0] == "bead":
                found.add(words[1])
            elif words and typed.startswith("bead "):
                found.add(words[0])
    return sorted(found)


@pytest.mark.parametrize("command", commands())
def test_every_command_in_the_readme_exists(command: str) -> None:
    done = subprocess.run([BEAD, command, "--help"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_readme_shows_commands() -> None:
    assert {"remember", "memories", "show", "history", "search", "wrap", "status", "down"} <= set(commands())


def test_a_fresh_machine_needs_exactly_two_commands() -> None:
    section = README.split("## Set up")[1].split("##")[0]
    assert re.findall(r"^    make (\S+)", section, re.MULTILINE) == ["up", "test"]
