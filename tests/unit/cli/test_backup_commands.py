"""What `bead backup` and `bead restore` say and refuse; what they do: tests/contract/store/test_backups.py."""

import json
from pathlib import Path

from bead import age
from tests.unit.cli.desk import Desk

IDENTITY = age.Identity(bytes(range(32)))


def test_a_backup_is_told_in_counts_and_damage_has_its_exit_code(desk: Desk, tmp_path: Path) -> None:
    folder = str(tmp_path / "stick")

    done = desk.bead("backup", folder)
    assert done.code == 0
    assert "backed up 3 files" in done.out

    desk.store.backup = desk.store.backup.model_copy(update={"wrong": 1})
    done = desk.bead("backup", folder, "--verify", "--json")
    assert (done.code, json.loads(done.out)["wrong"]) == (4, 1)


def test_restore_while_bead_runs_and_of_no_backup_are_refused(desk: Desk, tmp_path: Path) -> None:
    done = desk.bead("restore", str(tmp_path), "--json")
    assert (done.code, json.loads(done.out)["type"]) == (3, "urn:bead:error:store-locked")


def test_an_agent_cannot_restore(desk: Desk, tmp_path: Path) -> None:
    done = desk.bead("restore", str(tmp_path), environ={"CLAUDECODE": "1"})
    assert done.code == 1
