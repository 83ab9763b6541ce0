"""A hook leaves a note and nothing else; what it leaves holds no content, and missing it loses nothing (B23)."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bead_cli.drain import notes
from bead_cli.drain.hooks import is_memory, post_tool_use, session_end

ENDED = {
    "session_id": "s-1",
    "transcript_path": "/home/dev/.claude/projects/-home-dev-shop/s-1.jsonl",
    "cwd": "/home/dev/shop",
    "hook_event_name": "SessionEnd",
    "reason": "other",
}
ENVIRON = {"HOME": "/home/dev"}


@pytest.fixture
def home(tmp_path: Path) -> str:
    (tmp_path / "home-id").write_text("x")
    return str(tmp_path)


def left(home: str) -> list[dict[str, object]]:
    return [note for _, note in notes.waiting(home)]


def test_the_end_of_a_session_leaves_a_note_without_content(home: str) -> None:
    assert session_end(home, json.dumps(ENDED).encode(), ENVIRON)

    assert left(home) == [{"cli": "claude", "session": "s-1"}]
    (path,) = (path for path, _ in notes.waiting(home))
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700
    notes.done([path, path])
    assert left(home) == []


@pytest.mark.parametrize("given", [b"", b"{", b"[]", b"null", b"\xff\xfe"])
def test_a_broken_input_leaves_a_note_that_asks_for_everything(home: str, given: bytes) -> None:
    assert session_end(home, given, ENVIRON)
    assert left(home) == [{}]


def test_two_sessions_that_end_at_once_leave_two_notes(home: str) -> None:
    both = [threading.Thread(target=session_end, args=(home, json.dumps(ENDED).encode(), ENVIRON)) for _ in range(8)]
    for each in both:
        each.start()
    for each in both:
        each.join(5)
    assert len(left(home)) == len({path for path, _ in notes.waiting(home)}) == 8


def test_without_a_home_nothing_is_made(tmp_path: Path) -> None:
    assert not session_end(str(tmp_path / "none"), b"{}", ENVIRON)
    assert list(tmp_path.iterdir()) == []


def test_notes_that_nobody_reads_have_a_bound(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "_MAX_NOTES", 3)
    assert [session_end(home, b"", ENVIRON) for _ in range(4)] == [True, True, True, False]


def test_a_note_that_cannot_be_read_still_wakes(home: str, tmp_path: Path) -> None:
    session_end(home, b"{}", ENVIRON)
    folder = tmp_path / "spool" / "drain"
    (folder / "0.json").write_text("{")
    (folder / "1.json").symlink_to("/etc/hostname")
    (folder / ".half.tmp").write_text("{")
    assert len(left(home)) == 3


MEMORY = "/home/dev/.claude/projects/-home-dev-shop/memory/role.md"


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        (MEMORY, True),
        ("/home/dev/.claude/projects/-home-dev-shop/memory/deep/er.md", True),
        ("/home/dev/.claude/projects/-home-dev-shop/s-1.jsonl", False),
        ("/home/dev/.claude/projects/-home-dev-shop/memory", False),
        ("/home/dev/.claude/projects/x/memory/../../../settings.json", False),
        ("/home/dev/.claude-other/projects/x/memory/a.md", False),
        ("/home/dev/shop/memory/a.md", False),
        ("relative/.claude/projects/x/memory/a.md", False),
        ("", False),
    ],
)
def test_only_a_path_inside_a_memory_folder_leaves_a_note(home: str, path: str, inside: bool) -> None:
    given = json.dumps({"tool_name": "Write", "tool_input": {"file_path": path, "content": "secret words"}}).encode()

    assert post_tool_use(home, given, ENVIRON) is inside

    assert left(home) == ([{"cli": "claude", "on_write": True}] if inside else [])


def test_the_folder_that_the_agent_was_told_counts() -> None:
    environ = {**ENVIRON, "CLAUDE_CONFIG_DIR": "/srv/c"}
    assert is_memory("/srv/c/projects/x/memory/a.md", "claude", environ)
    assert not is_memory(MEMORY, "claude", environ)
    assert is_memory("/home/dev/.qwen/memories/MEMORY.md", "qwen", ENVIRON)


def hooked(home: str, *argv: str, given: bytes | None) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bead_cli", "hook", *argv, "--home", home],
        env={"HOME": "/home/dev", "PATH": os.environ["PATH"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    if given is not None:
        process.stdin.write(given)
        process.stdin.close()
    return process


@pytest.mark.parametrize("given", [json.dumps(ENDED).encode(), b""])
def test_the_command_says_nothing_and_imports_no_service(home: str, given: bytes) -> None:
    with hooked(home, "session-end", given=given) as process:
        assert (process.wait(10), process.stdout.read(), process.stderr.read()) == (0, b"", b"")  # type: ignore[union-attr]
    assert len(left(home)) == 1
    code = "import sys, bead_cli.drain.hooks; print(sorted(m for m in sys.modules if m.startswith('pydantic')))"
    assert subprocess.check_output([sys.executable, "-c", code]) == b"[]\n"


def test_an_input_that_stays_open_holds_the_agent_for_half_a_second_at_most(home: str) -> None:
    with hooked(home, "session-end", given=None) as process:
        assert process.wait(5) == 0
    assert len(left(home)) == 1


def test_a_killed_hook_leaves_a_whole_note_or_none(home: str) -> None:
    for delay_ms in range(0, 60, 6):
        with hooked(home, "session-end", given=json.dumps(ENDED).encode()) as process:
            try:
                process.wait(delay_ms / 1000)
            except subprocess.TimeoutExpired:
                process.kill()
    assert all(note == {"cli": "claude", "session": "s-1"} for note in left(home))
    assert session_end(home, b"{}", ENVIRON), "what a killed one left does not stop the next"


def test_a_hook_is_back_within_a_tenth_of_a_second(home: str) -> None:
    def took_s() -> float:
        began = time.perf_counter()
        with hooked(home, "session-end", given=json.dumps(ENDED).encode()) as process:
            process.wait(10)
        return time.perf_counter() - began

    assert min(took_s() for _ in range(5)) < 0.1
