"""`bead doctor` on real homes: what is damaged is named once with line and reason, and left as it is (B36)."""

import io
import json
import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bead.home import Home
from bead_cli.__main__ import run
from bead_store.home import prepare
from tests.unit.cli.desk import Done, write_runtime

FIELD = Path(__file__).parents[2] / "vectors" / "field"
SERVICES = ("store", "index", "proxy", "dream", "curate", "scheduler")
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.chdir(tmp_path)
    home = Home(tmp_path / "home")
    prepare(home)
    return home


def free_ports() -> dict[str, str]:
    """Settings by which every service has a port that nobody has."""
    with_sockets = [socket.socket() for _ in SERVICES]
    for each in with_sockets:
        each.bind(("127.0.0.1", 0))
    ports = {
        f"BEAD_{name.upper()}__PORT": str(each.getsockname()[1])
        for name, each in zip(SERVICES, with_sockets, strict=True)
    }
    for each in with_sockets:
        each.close()
    return ports


def bead(home: Home, *argv: str, environ: Mapping[str, str] | None = None) -> Done:
    out, err = io.StringIO(), io.StringIO()
    code = run([*argv, "--home", str(home.root)], {**free_ports(), **(environ or {})}, out, err)
    return Done(code, out.getvalue(), err.getvalue())


def findings(home: Home, level: str, **environ: str) -> tuple[int, list[dict[str, Any]]]:
    """Exit code, and the findings of one level."""
    done = bead(home, "doctor", "--json", environ=environ)
    return done.code, [each for each in done.document["findings"] if each["level"] == level]


@pytest.fixture
def damaged(home: Home) -> Iterator[Home]:
    """The prepared tree; every file must be the same afterwards."""
    shutil.copytree(FIELD / "B36" / "facts", home.facts, dirs_exist_ok=True)
    before = {path: path.read_bytes() for path in home.facts.rglob("*.md")}
    yield home
    assert {path: path.read_bytes() for path in home.facts.rglob("*.md")} == before


def test_home_without_trouble_is_0(home: Home) -> None:
    done = bead(home, "doctor")

    assert done.code == 0 and "needs you" not in done.out and "bead up" in done.out


def test_each_damaged_file_is_named_once_with_line_and_reason(damaged: Home) -> None:
    code, found = findings(damaged, "person")

    lines = {Path(each["path"]).parent.name: each["line"] for each in found}
    assert code == 4 and len(found) == len(lines)
    assert lines == {
        "alias": 5,
        "dup": 7,
        "empty": 1,
        "latin1": 10,
        "nul": 10,
        "tab": 6,
        "unclosed": 1,
        "winpath": 5,
    }
    assert all(each["cause"] and each["mend"] for each in found)


def test_odd_names_are_notes_and_no_reason_to_fail(home: Home) -> None:
    names = json.loads((FIELD / "B59" / "names.json").read_text("utf-8"))["sync_conflict_files"]
    folder = home.facts / "user/editor"
    folder.mkdir(parents=True)
    (folder / "v1.md").write_text("---\nkey: user/editor\ntype: user\n---\nI use vim\n")
    for name in [*names, "vFinal.md"]:
        (folder / name).write_text("---\nkey: user/editor\ntype: user\n---\na copy\n")

    code, found = findings(home, "note")

    noted = {Path(each["path"]).name for each in found if each["check"] == "file"}
    assert code == 0 and noted == {*names, "vFinal.md"} - {".DS_Store"}


def test_text_for_a_person_names_file_and_line(damaged: Home) -> None:
    done = bead(damaged, "doctor")

    assert done.code == 4
    assert f"{damaged.facts}/project/shop-api/dup/v1.md:7: " in done.out


def test_home_that_others_can_read_needs_a_person_and_fix_makes_it_private(home: Home) -> None:
    bead(home, "write", "user/editor", "vim")
    home.audit_log.chmod(0o644)

    assert bead(home, "doctor").code == 4
    assert home.audit_log.stat().st_mode & 0o777 == 0o644
    assert bead(home, "doctor", "--fix").code == 0
    assert home.audit_log.stat().st_mode & 0o777 == 0o600


def test_wrong_setting_is_named(home: Home) -> None:
    home.config.write_text("store:\n  lock_wait: 3\n")
    home.config.chmod(0o600)

    code, found = findings(home, "person")

    assert code == 4 and any("lock_wait" in each["cause"] for each in found)


def test_port_of_another_program_is_told(home: Home) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        code, found = findings(home, "unavailable", BEAD_PROXY__PORT=str(other.getsockname()[1]))

    assert code == 3 and [each["check"] for each in found] == ["proxy"]


def test_bead_that_does_not_answer_is_not_available(home: Home) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        port = int(silent.getsockname()[1])
        write_runtime(home.root, dict.fromkeys(SERVICES, port))
    code, found = findings(home, "unavailable")

    assert code == 3 and {each["check"] for each in found} >= set(SERVICES)


def test_runtime_of_a_bead_that_was_killed_is_no_trouble(home: Home) -> None:
    write_runtime(home.root, dict.fromkeys(SERVICES, 1), pid=2**22 - 1)

    assert bead(home, "doctor").code == 0


def test_changed_audit_log_is_named_with_its_line(home: Home) -> None:
    for text in ("vim", "helix", "emacs"):
        assert bead(home, "write", "user/editor", text).code == 0
    assert bead(home, "audit", "verify").code == 0
    home.audit_log.write_text(home.audit_log.read_text().replace("superseded", "created", 1))

    done = bead(home, "audit", "verify")
    code, found = findings(home, "person")

    assert done.code == 4 and f"{home.audit_log}:3:" in done.out
    assert code == 4 and [each["line"] for each in found if each["check"] == "audit"] == [3]


def test_rescan_counts_by_rule_and_changes_the_file(home: Home) -> None:
    path = home.facts / "user/token/v1.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nkey: user/token\ntype: user\n---\nthe token is {SECRET}\n")

    done = bead(home, "scan", "--rescan", "--json")

    assert done.code == 0 and done.document["redacted"] == {"github-pat": 1}
    assert SECRET not in path.read_text()
    assert "replaced 0 credentials in 1 files" in bead(home, "scan", "--rescan").out


def test_doctor_leaves_no_home_where_there_was_none(tmp_path: Path) -> None:
    absent = Home(tmp_path / "absent")

    assert bead(absent, "doctor").code == 0
    assert not os.path.exists(absent.root)
