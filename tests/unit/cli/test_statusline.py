"""The status line tells what a session was given, and is there at once whatever bead does."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bead_cli.statusline import line, session_of
from bead_proxy.caller import session_name
from tests.unit.cli.desk import Desk, write_runtime

DOCUMENT = {"session_id": "s-1", "model": {"display_name": "x"}, "workspace": {"current_dir": "/"}}


class Shown:
    """One run of `bead statusline` as a process."""

    def __init__(self, home: Path, given: bytes = json.dumps(DOCUMENT).encode()) -> None:
        begun = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "bead_cli", "statusline", "--home", str(home)],
            input=given,
            capture_output=True,
            env={"PATH": os.environ["PATH"], "HOME": str(home.parent)},
            timeout=60,
        )
        self.took_s = time.monotonic() - begun
        self.out, self.err, self.code = done.stdout.decode(), done.stderr.decode(), done.returncode


def standing(**said: object) -> dict[str, object]:
    nothing = {"facts": 0, "excerpts": 0, "requests": 0, "input_tokens": 0, "cache_read_tokens": 0, "failures": []}
    return nothing | said


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (
            {"facts": 2, "excerpts": 1, "input_tokens": 1_000, "cache_read_tokens": 949},
            "2 facts, 1 excerpt, cache 94 %",
        ),
        ({"facts": 1}, "1 fact"),
        ({"facts": 0, "input_tokens": 10}, "0 facts, cache 0 %"),
        ({"failures": ["the index did not answer"]}, "0 facts, memory not loaded"),
    ],
)
def test_the_line_says_facts_excerpts_and_the_share_from_the_cache(said: dict[str, object], text: str) -> None:
    assert line(standing(**said)) == f"bead: {text}"


@pytest.mark.parametrize("given", [b"", b"{", b"[]", b'{"session_id": 3}', b"\xff", b"[" * 100_000])
def test_a_document_without_a_session_names_none(given: bytes) -> None:
    assert session_of(given) == ""


@pytest.mark.parametrize("session", ["6f9619ff-8b86-d011-b42d-00cf4fc964ff", "S-1", "a/b", "x" * 300])
def test_a_session_is_named_as_the_proxy_names_it(session: str) -> None:
    assert session_of(json.dumps({"session_id": session}).encode()) == session_name(session)


def test_a_bead_that_runs_is_asked_for_this_session(desk: Desk) -> None:
    for _ in range(60):  # its limit is short, and this machine may be busy
        shown = Shown(desk.home)
        if shown.out == "bead: 0 facts\n":
            break
    assert (shown.out, shown.err, shown.code) == ("bead: 0 facts\n", "", 0)


def test_no_home_and_no_bead_are_a_harmless_line(tmp_path: Path) -> None:
    shown = Shown(tmp_path / "home")
    assert (shown.out, shown.err, shown.code) == ("bead: off\n", "", 0)
    assert not (tmp_path / "home").exists()


def test_a_bead_that_hangs_holds_the_line_no_longer_than_its_limit(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "tokens").mkdir(parents=True)
    (home / "tokens" / "admin").write_text("x\n")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        write_runtime(home, {"curate": port, "store": port, "proxy": port})
        shown = Shown(home)
    assert (shown.out, shown.err, shown.code) == ("bead: no answer\n", "", 0)
    assert shown.took_s < 5.0


def test_a_damaged_home_is_a_harmless_line(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "runtime.json").write_text("{")
    assert Shown(tmp_path / "home").out == "bead: no answer\n"
