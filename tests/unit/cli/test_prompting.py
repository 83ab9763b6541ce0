"""What a hook tells a prompt: what matters, once a session, in the agent's JSON, and nothing where the proxy does."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bead_cli import firing
from bead_cli.prompting import read
from tests.unit.cli.desk import Desk, Done, write_runtime

FACT = "I edit Python with Helix and never with vim"
PROMPT = "which editor do I edit python with?"


@contextmanager
def on_input(document: bytes) -> Iterator[None]:
    """`document` on this process's standard input, then its end."""
    reading, writing = os.pipe()
    os.write(writing, document)
    os.close(writing)
    before, sys.stdin = sys.stdin, os.fdopen(reading)
    try:
        yield
    finally:
        sys.stdin.close()
        sys.stdin = before


class Alone(Desk):
    """A person with no bead running: each command starts what it needs and stops it again."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def prompt(
        self,
        text: str = PROMPT,
        *,
        session: str = "s-1",
        event: str = "user-prompt",
        cli: str = "claude",
        **environ: str,
    ) -> Done:
        """What the agent's hook gets before a prompt."""
        document = {"session_id": session, "cwd": str(self.home.parent), "prompt": text}
        with on_input(json.dumps(document).encode()):
            done = self.bead("hook", event, "--cli", cli, environ=environ)
        assert done.code == 0
        return done

    def start(self, source: str, *, session: str = "s-1", **environ: str) -> Done:
        """What its session-start hook gets."""
        document = {"session_id": session, "cwd": str(self.home.parent), "source": source}
        with on_input(json.dumps(document).encode()):
            return self.bead("prime", "--hook-json", environ=environ)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one fact, which every test gets a copy of."""
    folder = tmp_path_factory.mktemp("written")
    desk = Alone(folder / "home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.chdir(folder)
        desk.bead("write", "user/editor", FACT)
    return desk.home


@pytest.fixture
def alone(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Alone:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    shutil.copytree(written, tmp_path / "home")
    return Alone(tmp_path / "home")


def said(done: Done) -> Any:
    return json.loads(done.out)["hookSpecificOutput"]


def test_a_prompt_is_told_what_matters_in_the_proxys_words_and_only_once_a_session(alone: Alone) -> None:
    first = said(alone.prompt())

    assert first["hookEventName"] == "UserPromptSubmit"
    assert first["additionalContext"].startswith('<bead-memory kind="recall">\nNotes from memory that may matter')
    assert FACT in first["additionalContext"]
    assert alone.prompt().out == ""
    assert FACT in said(alone.prompt(session="s-2"))["additionalContext"]


def test_gemini_gets_it_before_its_agent(alone: Alone) -> None:
    answer = said(alone.prompt(event="before-agent", cli="gemini"))
    assert answer["hookEventName"] == "BeforeAgent"
    assert FACT in answer["additionalContext"]


def test_a_prompt_that_nothing_matters_to_is_told_nothing(alone: Alone) -> None:
    assert alone.prompt("what is the capital of France?").out == ""


def test_what_the_session_started_with_is_not_told_again_until_its_history_is_gone(alone: Alone) -> None:
    assert FACT in said(alone.start("startup"))["additionalContext"]
    assert alone.prompt().out == ""
    alone.bead("write", "user/linter", "my linter for python is ruff")
    assert "ruff" in said(alone.prompt("which linter do I use for python?"))["additionalContext"]
    alone.bead("unpin", "user/linter")
    (alone.home / "config.yaml").write_text("prime: {max_items: 1}\n")

    after = said(alone.start("compact"))["additionalContext"]

    gone = "which linter do I use for python?" if FACT in after else PROMPT
    assert ("ruff" in after) + (FACT in after) == 1
    assert said(alone.prompt(gone))["additionalContext"]


def test_a_resumed_session_keeps_what_it_was_told(alone: Alone) -> None:
    alone.prompt()
    alone.start("resume")
    assert alone.prompt().out == ""


def test_a_new_version_is_told_again(alone: Alone) -> None:
    alone.prompt()
    alone.bead("write", "user/editor", "I edit Python with Zed now")
    assert "Zed" in said(alone.prompt())["additionalContext"]


@pytest.mark.parametrize("where", ["environment", "wrapped", "settings"])
def test_where_the_proxy_is_in_the_path_nothing_is_told_twice(alone: Alone, where: str) -> None:
    environ = {"HOME": str(alone.home.parent)}
    if where == "wrapped":
        environ["BEAD_IN_PATH"] = "1"
    else:
        write_runtime(alone.home, {"curate": 9, "store": 9, "proxy": 22_077}, pid=2**22 + 1)
        if where == "environment":
            environ["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:22077/t/x"
        else:
            (alone.home.parent / ".codex").mkdir()
            (alone.home.parent / ".codex" / "config.toml").write_text(
                'openai_base_url = "http://127.0.0.1:22077/openai/v1"\n'
            )
    assert alone.prompt(cli="codex", **environ).out == ""


def test_a_forgotten_fact_is_gone_from_what_was_told_and_is_not_told_again(alone: Alone) -> None:
    alone.prompt()
    alone.bead("forget", "user/editor", "--yes")
    assert alone.prompt().out == ""
    left = [path for path in alone.home.rglob("*") if path.is_file() and b"Helix" in path.read_bytes()]
    assert left == []


def test_memory_that_is_switched_off_for_a_directory_is_off_for_hooks(alone: Alone) -> None:
    (alone.home / "config.yaml").write_text(f"proxy: {{projects: {{off: [{alone.home.parent}]}}}}\n")
    assert alone.prompt().out == ""


def test_a_bead_that_does_not_answer_is_told_to_the_person_and_not_to_the_model(alone: Alone) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = int(nobody.getsockname()[1])
        write_runtime(alone.home, {"curate": port, "store": port, "proxy": port})
        document = json.loads(alone.prompt().out)
    assert set(document) == {"systemMessage"}
    assert "goes without memory" in document["systemMessage"] and "does not answer" in document["systemMessage"]


@pytest.mark.parametrize(
    "given",
    [b"", b"{", b"[1]", b"\xff\x00", b'{"prompt": 5, "session_id": "s"}', b'{"prompt": "hi"}', b"[" * 100_000,
     b'{"prompt": "<system-reminder>x</system-reminder>", "session_id": "s"}'],
)  # fmt: skip
def test_what_no_person_said_asks_for_nothing(given: bytes) -> None:
    assert read(given) is None


def test_a_private_span_is_no_cue() -> None:
    prompt = read(json.dumps({"prompt": "a <private>b</private> c", "session_id": "s"}).encode())
    assert prompt is not None and "b" not in prompt.text


def test_no_home_is_told_nothing_and_none_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Alone(tmp_path / "nowhere").prompt().out == ""
    assert not (tmp_path / "nowhere").exists()


def test_when_a_hook_ran_last_is_known(alone: Alone) -> None:
    alone.prompt(cli="codex")
    alone.start("startup")
    assert [(each.agent, each.event) for each in firing.fired(str(alone.home))] == [
        ("claude", "session-start"),
        ("codex", "user-prompt"),
    ]


def test_a_trace_says_what_a_hook_told_without_a_word_of_it(alone: Alone) -> None:
    alone.prompt()
    kept = alone.bead("trace", "--no-follow", "--json").document
    trace = kept["trace"]
    assert (trace["protocol"], trace["harness"], len(trace["selected"])) == ("hook", "claude", 1)
    assert "Helix" not in json.dumps(kept)


def test_two_hooks_of_one_session_at_once_tell_a_fact_once_between_them(alone: Alone) -> None:
    document = json.dumps({"session_id": "s-9", "cwd": str(alone.home.parent), "prompt": PROMPT}).encode()
    command = [sys.executable, "-m", "bead_cli", "hook", "user-prompt", "--home", str(alone.home)]
    environ = {"PATH": os.environ["PATH"], "HOME": str(alone.home.parent)}
    both = [
        subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=alone.home.parent)
        for _ in range(2)
    ]
    told = [process.communicate(document, timeout=60)[0].decode().count(FACT) for process in both]
    assert sum(told) == 1
