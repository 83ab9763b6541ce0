"""`bead dream`: a night without a running bead, its answer as text and JSON, and who may take one back."""

import io
import json
import plistlib
from pathlib import Path

import pytest

from bead_cli.__main__ import run
from bead_cli.commands.dream import plist
from bead_cli.commands.queue import consequences
from tests.unit.cli.desk import Done


class Alone:
    """Commands on a home that no bead runs on."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.run("remember", "Releases are cut on Friday.")

    def run(self, *argv: str, **environ: str) -> Done:
        out, err = io.StringIO(), io.StringIO()
        try:
            code = run([*argv, "--home", str(self.home)], environ, out, err)
        except SystemExit as end:
            code = int(str(end.code))
        return Done(code, out.getvalue(), err.getvalue())


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Alone:
    monkeypatch.chdir(tmp_path)
    return Alone(tmp_path / "home")


def test_night_runs_without_a_bead_and_can_be_taken_back(alone: Alone) -> None:
    night = json.loads(alone.run("dream", "run", "--json").out)
    assert (night["state"], night["provider"]) == ("done", "none")
    assert (alone.home / "store" / night["report"]).exists()

    undone = alone.run("dream", "undo", night["id"])
    assert undone.code == 0 and undone.out.startswith(f"undid {night['id']}: 0 versions")
    assert alone.run("dream", "undo", night["id"]).code == 1
    assert night["id"] in alone.run("dream", "status").out


def test_dry_run_writes_no_report(alone: Alone) -> None:
    told = alone.run("dream", "run", "--dry-run").out
    assert "nothing was changed" in told
    assert not (alone.home / "store" / "reports").exists()


def test_undo_needs_a_run_and_a_person(alone: Alone) -> None:
    assert alone.run("dream", "undo").code == 2
    assert alone.run("dream", "run", "x").code == 2
    assert alone.run("dream", "undo", "x", CLAUDECODE="1").code == 1


def test_timer_runs_the_command_at_night() -> None:
    document = plistlib.loads(plist(["/opt/a & b/bead", "dream", "run"], Path("/tmp/dream.log")).encode())
    assert document["ProgramArguments"] == ["/opt/a & b/bead", "dream", "run"]
    assert document["StartCalendarInterval"] == {"Hour": 3, "Minute": 7}


def test_queue_says_what_accepting_does_besides_writing_the_text() -> None:
    plain: dict[str, object] = {"reason": None, "suspicious": False, "new_key": None, "others": []}
    assert consequences(plain) == []
    told = consequences(plain | {"suspicious": True, "new_key": "user/deploy/day", "others": ["user/a", "user/b"]})
    assert [line.rpartition(" ")[2] for line in told] == ["twice", "stays", "user/b"]
