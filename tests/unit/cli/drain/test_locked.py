"""A store that somebody else has locked: the end of a session waits for nobody, and loses nothing (B23)."""

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

from bead_cli.drain import notes


def bead(root: Path, *argv: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bead_cli", *argv],
        env={"HOME": str(root), "PATH": os.environ["PATH"], "BEAD_STORE__LOCK_WAIT_S": "0.1"},
        cwd=root,
        input=given,
        capture_output=True,
        text=True,
        timeout=30,
    )


def test_the_hook_leaves_its_note_while_the_store_is_locked_and_the_next_drain_has_everything(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "-shop" / "memory"
    folder.mkdir(parents=True)
    for each in (folder, *list(folder.parents)[:4]):
        each.chmod(0o700)
    (folder / "MEMORY.md").write_text("- we ship on Tuesdays\n")
    home = tmp_path / ".bead"
    assert bead(tmp_path, "write", "user/tea", "green").returncode == 0
    ended = json.dumps({"session_id": "s-1", "hook_event_name": "SessionEnd", "cwd": str(tmp_path)})

    with (home / ".lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        hook = bead(tmp_path, "hook", "session-end", given=ended)  # is back though nobody lets go of the lock
        assert (hook.returncode, hook.stdout, hook.stderr) == (0, "", "")
        assert [note for _, note in notes.waiting(str(home))] == [{"cli": "claude", "session": "s-1"}]
        early = bead(tmp_path, "drain")
        assert (early.returncode, "in use" in early.stderr) == (3, True), early.stderr
        assert len(notes.waiting(str(home))) == 1

    later = bead(tmp_path, "drain", "--json")
    assert json.loads(later.stdout)["counts"] == {"created": 1}, later.stderr
    assert notes.waiting(str(home)) == []
    assert (folder / "MEMORY.md").read_text() == "- we ship on Tuesdays\n"
