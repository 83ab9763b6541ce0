"""`bead wrap claude` becomes the harness: with memory when bead answers, untouched when it does not (I10)."""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bead.wire.store import ResolveProject
from bead_cli.wrapping import HARNESSES, with_memory
from tests.unit.cli.desk import HOME_ID, Desk, write_runtime
from tests.unit.cli.test_loopback import HEAD, answering

# A harness that says what it was started with.
FAKE_HARNESS = """#!{python}
import json, os, sys
print(json.dumps({{"pid": os.getpid(), "argv": sys.argv[1:], "environ": dict(os.environ)}}))
"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    claude = folder / "claude"
    claude.write_text(FAKE_HARNESS.format(python=sys.executable))
    claude.chmod(0o755)
    return folder


class Wrapped:
    """One run of `bead wrap claude` as a process."""

    def __init__(self, home: Path, programs: Path, *argv: str, folder: Path | None = None, **environ: str) -> None:
        self.environ = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(home.parent), **environ}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bead_cli", "wrap", "--home", str(home), "claude", *argv],
            env=self.environ,
            cwd=folder or home.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.out, self.err = self.process.communicate(timeout=60)

    @property
    def harness(self) -> dict[str, object]:
        seen: dict[str, object] = json.loads(self.out)
        return seen


def health(home_id: str) -> bytes:
    body = json.dumps({"name": "proxy", "version": "0.1.0", "ready": True, "home_id": home_id, "degraded": []}).encode()
    return HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode() + body


def test_a_bead_that_answers_is_put_between_and_nothing_else_changes(desk: Desk, programs: Path) -> None:
    with answering(health(HOME_ID)) as (port, _):
        write_runtime(desk.home, {"proxy": port, "curate": desk.port})
        run = Wrapped(desk.home, programs, "--", "-p", "what day?", "--json", KEEP="me", NO_PROXY="corp.example")

    changed = dict(set(run.harness["environ"].items()) - set(run.environ.items()))  # type: ignore[attr-defined]
    assert changed == {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}/t/proxy-of-this-test",
        "BEAD_IN_PATH": "1",
        "CLAUDE_CODE_GATEWAY_HINT_HEADERS": "1",
        "NO_PROXY": "corp.example,127.0.0.1,localhost,::1",
        "no_proxy": "corp.example,127.0.0.1,localhost,::1",
    } | {name: value for name, value in changed.items() if name == "LC_CTYPE"}
    assert run.harness["argv"] == ["-p", "what day?", "--json"]
    assert run.harness["pid"] == run.process.pid
    assert run.err == ""


def test_wrap_makes_the_directorys_project_known(desk: Desk, programs: Path, tmp_path: Path) -> None:
    """A proxy in a container cannot ask git about a directory of the host; the store's table must know it (D1)."""
    work = tmp_path / "work"
    work.mkdir()
    for command in (["init", "-q"], ["remote", "add", "origin", "git@host.example:acme/shop.git"]):
        subprocess.run(["git", *command], cwd=work, check=True)
    with answering(health(HOME_ID)) as (port, _):
        write_runtime(desk.home, {"proxy": port, "curate": desk.port})
        Wrapped(desk.home, programs, "--", "x", folder=work)
    known = desk.store.resolve_project(ResolveProject(directory=str(work)))
    assert known is not None
    assert (known.name, known.identity) == ("shop", "remote:host.example/acme/shop")


def check_untouched(run: Wrapped, why: str) -> None:
    environ = {name: value for name, value in run.harness["environ"].items() if name != "LC_CTYPE"}  # type: ignore[attr-defined]
    assert environ == run.environ
    assert run.harness["argv"] == ["-p", "x"]
    assert run.err == f"bead: {why})\n".replace(" (", ", starting claude without memory (")


GATEWAY = "https://gateway.example"


def test_without_a_home_the_environment_is_untouched(tmp_path: Path, programs: Path) -> None:
    run = Wrapped(tmp_path / "home", programs, "--", "-p", "x", ANTHROPIC_BASE_URL=GATEWAY)
    check_untouched(run, "not running (start it with: bead up")
    assert not (tmp_path / "home").exists()


def test_when_nobody_listens_the_environment_is_untouched(tmp_path: Path, programs: Path) -> None:
    (tmp_path / "home").mkdir()
    write_runtime(tmp_path / "home", {"proxy": free_port(), "curate": free_port()})
    run = Wrapped(tmp_path / "home", programs, "--", "-p", "x", ANTHROPIC_BASE_URL=GATEWAY)
    check_untouched(run, "does not answer (see: bead status")


def test_when_another_homes_bead_answers_the_environment_is_untouched(tmp_path: Path, programs: Path) -> None:
    """The capability of this home must not be shown to it, nor its memory be used here."""
    (tmp_path / "home").mkdir()
    with answering(health("another")) as (port, seen):
        write_runtime(tmp_path / "home", {"proxy": port, "curate": port})
        run = Wrapped(tmp_path / "home", programs, "--", "-p", "x", ANTHROPIC_BASE_URL=GATEWAY)
    check_untouched(run, "another bead answers on its port (see: bead status")
    assert seen[0].startswith(b"GET /bead/health ")


def test_a_bead_that_hangs_costs_about_a_second(tmp_path: Path, programs: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        write_runtime(home, {"proxy": silent.getsockname()[1], "curate": silent.getsockname()[1]})
        started = time.monotonic()
        run = Wrapped(home, programs)
        took_s = time.monotonic() - started
    assert run.err.startswith("bead: does not answer, ")
    assert 1.0 <= took_s < 5.0


def test_a_damaged_home_never_keeps_the_harness_from_starting(tmp_path: Path, programs: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "runtime.json").write_text("{")
    run = Wrapped(home, programs, "--", "x")
    assert run.harness["argv"] == ["x"]
    assert "runtime.json" in run.err


def test_a_missing_harness_is_named(tmp_path: Path) -> None:
    run = Wrapped(tmp_path / "home", tmp_path / "no-programs", "--", "x")
    assert run.process.returncode == 1
    assert run.err == "bead: claude is not on PATH; install it first\n"


def test_a_gateway_that_was_set_is_mentioned_but_its_address_is_not_shown(desk: Desk, programs: Path) -> None:
    with answering(health(HOME_ID)) as (port, _):
        write_runtime(desk.home, {"proxy": port, "curate": desk.port})
        run = Wrapped(desk.home, programs, ANTHROPIC_BASE_URL="https://user:word@gateway.example")
    assert "ANTHROPIC_BASE_URL was set and is replaced" in run.err
    assert "gateway.example" not in run.err


def test_no_proxy_is_extended_once() -> None:
    environ = {"no_proxy": "localhost, corp.example"}
    wanted = with_memory(HARNESSES["claude"], "http://127.0.0.1:7077/t/x", environ)
    assert wanted["no_proxy"] == wanted["NO_PROXY"] == "localhost,corp.example,127.0.0.1,::1"
    assert with_memory(HARNESSES["claude"], "http://127.0.0.1:7077/t/x", wanted) == wanted


@pytest.mark.parametrize(
    ("name", "variables", "arguments"),
    [
        ("gemini", {"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:7077/t/x/gemini"}, ()),
        ("qwen", {"OPENAI_BASE_URL": "http://127.0.0.1:7077/t/x/openai/v1"}, ()),
        ("codex", {}, ("-c", 'openai_base_url="http://127.0.0.1:7077/openai/v1"')),
    ],
)
def test_every_agent_is_pointed_at_the_proxy_in_its_own_way(
    monkeypatch: pytest.MonkeyPatch, name: str, variables: dict[str, str], arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    harness, base_url = HARNESSES[name], "http://127.0.0.1:7077/t/x"

    assert harness.settings(base_url) == variables
    assert harness.arguments(base_url) == arguments


def test_codex_is_shown_the_capability_only_where_it_cannot_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")

    assert HARNESSES["codex"].arguments("http://127.0.0.1:7077/t/x")[1] == (
        'openai_base_url="http://127.0.0.1:7077/t/x/openai/v1"'
    )


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
