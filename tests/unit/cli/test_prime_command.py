"""`bead prime` on a home that nothing runs on, beside a bead that is away, and where there is no home at all."""

import json
import socket
from pathlib import Path

import pytest

from tests.unit.cli.desk import Desk, Done, write_runtime


class Alone(Desk):
    """A person with no bead running: each command starts what it needs and stops it again."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def hook(self, **environ: str) -> Done:
        """What an agent's session-start hook gets."""
        done = self.bead("prime", "--hook-json", environ=environ)
        assert done.code == 0
        return done


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Alone:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return Alone(tmp_path / "home")


def context(done: Done) -> str:
    said = json.loads(done.out)["hookSpecificOutput"]
    assert said["hookEventName"] == "SessionStart"
    text: str = said["additionalContext"]
    return text


def test_no_home_says_nothing_and_makes_none(alone: Alone) -> None:
    assert alone.hook().out == ""
    assert not alone.home.exists()


def test_what_was_remembered_is_told_and_an_empty_home_says_nothing(alone: Alone) -> None:
    alone.bead("write", "user/editor", "I edit in Helix")
    assert "I edit in Helix" in context(alone.hook())
    assert "bead remember" in context(alone.hook())
    assert "bead remember" not in alone.bead("prime", "--memories-only").out
    assert "Helix" not in alone.bead("prime", "--no-memories").out
    alone.bead("forget", "user/editor", "--yes")
    assert alone.hook().out == ""


def test_where_the_proxy_is_in_the_path_a_hook_tells_nothing_twice(alone: Alone) -> None:
    alone.bead("write", "user/editor", "I edit in Helix")
    assert alone.hook(BEAD_IN_PATH="1").out == ""
    assert "Helix" in alone.bead("prime", environ={"BEAD_IN_PATH": "1"}).out


def test_a_template_of_ones_own_replaces_the_words_on_bead_and_no_memory(alone: Alone) -> None:
    alone.bead("write", "user/editor", "I edit in Helix")
    (alone.home / "PRIME.md").write_text("Our own rules.\n")
    text = alone.bead("prime").out
    assert text.index("Helix") < text.index("Our own rules.") and "bead remember" not in text


def test_a_sealed_fact_and_one_that_sleeps_are_not_told(alone: Alone) -> None:
    alone.bead("write", "user/editor", "I edit in Helix")
    alone.bead("write", "user/shell", "I use fish")
    path = next((alone.home / "store" / "facts" / "user" / "shell").glob("v1.md"))
    path.write_text(path.read_text().replace("status: current", "status: dormant"))
    assert "fish" not in alone.bead("prime").out


def test_a_bead_that_does_not_answer_is_told_loudly(alone: Alone) -> None:
    alone.bead("write", "user/editor", "I edit in Helix")
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = int(nobody.getsockname()[1])
        write_runtime(alone.home, {"curate": port, "store": port, "proxy": port})
        text = context(alone.hook())
    assert "NOT LOADED" in text and "does not answer" in text and "bead doctor" in text


def test_a_config_that_cannot_be_read_is_told_loudly(alone: Alone) -> None:
    alone.bead("write", "user/editor", "I edit in Helix")
    (alone.home / "config.yaml").write_text("prime: {max_items: none}\n")
    assert "prime.max_items" in context(alone.hook())


def test_opencodes_plugin_starts_this_bead_on_this_home(alone: Alone) -> None:
    text = alone.bead("prime", "--opencode-plugin", environ={"PATH": ""}).out
    (line,) = [line for line in text.splitlines() if line.startswith("const PROGRAM = ")]
    program, *rest = json.loads(line.removeprefix("const PROGRAM = "))
    assert Path(program).is_absolute() and rest == ["--home", str(alone.home)]
    assert not alone.home.exists()
