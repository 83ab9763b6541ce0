"""`bead review` on a real pseudo-terminal, typed as a person types."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select

import pyte
import pytest

from tests.e2e.bead_process import Machine

pytestmark = pytest.mark.e2e

LIMIT_S = 30.0
WIDE = {"COLUMNS": "160", "LINES": "45", "TERM": "xterm-256color"}


class Terminal:
    """A review that runs, and the screen that a person sees: the program draws only what has changed."""

    def __init__(self, master: int, process: subprocess.Popen[bytes]) -> None:
        self._master, self.process = master, process
        self._screen = pyte.Screen(int(WIDE["COLUMNS"]), int(WIDE["LINES"]))
        self._stream = pyte.ByteStream(self._screen)
        self.said = b""
        """Every byte that it has written."""

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def sees(self, text: str) -> None:
        """Wait until the text is on the screen."""
        end = time.monotonic() + LIMIT_S
        while text not in "\n".join(self._screen.display):
            ready, _, _ = select([self._master], [], [], max(0.0, end - time.monotonic()))
            try:
                more = os.read(self._master, 65_536) if ready else b""
            except OSError:  # it has ended
                more = b""
            assert more, f"{text!r} is not on the screen: {[line for line in self._screen.display if line.strip()]}"
            self.said += more
            self._stream.feed(more)
            if b"\x1b[6n" in more:  # where is the cursor? a terminal answers
                os.write(self._master, b"\x1b[1;1R")

    def end(self) -> int:
        self.type("q")
        self.sees(" left")
        return self.process.wait(LIMIT_S)


@contextmanager
def review(machine: Machine) -> Iterator[Terminal]:
    master, slave = os.openpty()
    os.set_blocking(master, True)
    process = subprocess.Popen(
        [sys.executable, "-m", "bead_cli", "review"],
        env=machine.environ | WIDE,
        cwd=machine.root,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Terminal(master, process)
    finally:
        process.kill()
        process.wait()
        os.close(master)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path / "person")
    machine.root.mkdir()
    try:
        for key, body, proposed in (
            ("user/editor", "I edit in Helix.", "They edit in vim."),
            ("user/shell", "I use fish.", "They use zsh."),
            ("user/tea", "I drink green tea.", "They drink \x1b]0;evil\x07 coffee."),
        ):
            assert machine.run("write", key, body).returncode == 0
            assert machine.run("write", key, proposed, CLAUDECODE="1").returncode == 0
        yield machine
    finally:
        machine.end()


def test_a_person_accepts_edits_and_rejects_by_keys(machine: Machine) -> None:
    with review(machine) as terminal:
        terminal.sees("1 of 3")
        terminal.sees("They edit in vim.")
        terminal.sees("I edit in Helix.")
        terminal.type("a")
        terminal.sees("accepted user/editor")
        terminal.type("j")
        terminal.sees("coffee.")
        assert b"\x1b]0;evil" not in terminal.said, "what is stored does not act on the terminal"
        terminal.type("r")
        terminal.sees("rejected user/tea")
        terminal.type("je")
        terminal.sees("Ctrl-S")
        terminal.type(" On servers only.\x13")
        terminal.sees("accepted user/shell")
        assert terminal.end() == 0
        assert b"3 decided, 0 left" in terminal.said

    facts = {fact["key"]: (fact["body"], fact["trust"]) for fact in machine.json("memories", "--all")["facts"]}
    assert facts == {
        "user/editor": ("They edit in vim.", "user_stated"),
        "user/shell": ("They use zsh. On servers only.", "user_stated"),
        "user/tea": ("I drink green tea.", "user_stated"),
    }
    assert machine.json("queue", "list")["items"] == []


@pytest.fixture
def drained(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path / "person")
    folder = machine.root / ".claude" / "projects" / "-shop" / "memory"
    folder.mkdir(parents=True)
    for each in (folder, *list(folder.parents)[:4]):
        each.chmod(0o700)
    (folder / "MEMORY.md").write_text("- the quokka server listens on 48151\n- tabs are four wide\n- lunch is at one\n")
    try:
        assert machine.json("drain")["counts"] == {"created": 3}
        yield machine
    finally:
        machine.end()


def test_a_draft_is_approved_and_the_rest_of_its_agent_rejected_at_once(drained: Machine) -> None:
    with review(drained) as terminal:
        terminal.sees("1 of 3")
        terminal.sees("draft, from claude")
        terminal.sees("48151")
        terminal.type("a")
        terminal.sees("1 of 2")
        terminal.type("R")
        terminal.sees("R again: reject all 2 of claude")
        terminal.type("j")
        terminal.sees("2 of 2")
        terminal.type("RR")
        terminal.sees("rejected 2 of 2")
        assert terminal.end() == 0
        assert b"3 decided, 0 left" in terminal.said

    assert [fact["body"] for fact in drained.json("memories", "--all")["facts"]] == [
        "the quokka server listens on 48151"
    ]
    assert drained.json("drain")["counts"] == {"decided": 3}


def test_a_review_that_is_left_decides_nothing(machine: Machine) -> None:
    with review(machine) as terminal:
        terminal.sees("1 of 3")
        terminal.type("e")
        terminal.sees("Ctrl-S")
        terminal.type("not this\x1b")
        terminal.sees("j next")
        terminal.type("jk")
        assert terminal.end() == 0
        assert b"0 decided, 3 left" in terminal.said
    assert len(machine.json("queue", "list")["items"]) == 3


def test_an_agent_and_a_pipe_get_no_review(machine: Machine) -> None:
    inside = machine.run("review", CLAUDECODE="1")
    piped = machine.run("review")
    assert (inside.returncode, "person's decision" in inside.stderr) == (1, True)
    assert (piped.returncode, "needs a terminal" in piped.stderr) == (2, True)
