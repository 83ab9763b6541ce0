"""`bead wrap claude` becomes the harness: with memory when bead answers, untouched when it does not (I10)."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

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
    for name in ("claude", "codex", "copilot", "cn", "cline"):
        (folder / name).write_text(FAKE_HARNESS.format(python=sys.executable))
        (folder / name).chmod(0o755)
    return folder


class Wrapped:
    """One run of `bead wrap` as a process."""

    def __init__(
        self, home: Path, programs: Path, *argv: str, folder: Path | None = None, name: str = "claude", **environ: str
    ) -> None:
        self.environ = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(home.parent), **environ}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bead_cli", "wrap", "--home", str(home), name, *argv],
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


BASE = "http://127.0.0.1:7077/t/x"


@pytest.mark.parametrize(
    ("name", "variables", "arguments"),
    [
        ("gemini", {"GOOGLE_GEMINI_BASE_URL": f"{BASE}/gemini"}, ()),
        ("qwen", {"OPENAI_BASE_URL": f"{BASE}/openai/v1"}, ()),
        ("codex", {}, ("-c", f'openai_base_url="{BASE}/openai/v1"')),
        ("aider", {"OPENAI_API_BASE": f"{BASE}/openai/v1", "ANTHROPIC_API_BASE": f"{BASE}/anthropic"}, ()),
    ],
)
def test_every_agent_is_pointed_at_the_proxy_in_its_own_way(
    name: str, variables: dict[str, str], arguments: tuple[str, ...]
) -> None:
    harness = HARNESSES[name]

    assert harness.settings(BASE) == variables
    assert harness.arguments(BASE) == arguments


def test_opencode_keeps_what_its_variable_held_and_gets_an_address_for_each_provider() -> None:
    own = {"model": "openai/x", "provider": {"openai": {"options": {"apiKey": "k"}}, "mine": {"npm": "y"}}}
    wanted = with_memory(HARNESSES["opencode"], BASE, {"OPENCODE_CONFIG_CONTENT": json.dumps(own)})

    config = json.loads(wanted["OPENCODE_CONFIG_CONTENT"])
    assert config["model"] == "openai/x"
    assert config["provider"] == {
        "openai": {"options": {"apiKey": "k", "baseURL": f"{BASE}/openai/v1"}},
        "mine": {"npm": "y"},
        "anthropic": {"options": {"baseURL": f"{BASE}/anthropic/v1"}},
        "google": {"options": {"baseURL": f"{BASE}/gemini/v1beta"}},
    }


@pytest.mark.parametrize(("kind", "path"), [("anthropic", "/anthropic"), ("openai", "/openai/v1"), ("", "/openai/v1")])
def test_copilot_with_a_provider_of_its_own_goes_through_bead(kind: str, path: str) -> None:
    environ = {"COPILOT_PROVIDER_BASE_URL": "https://api.example", "COPILOT_PROVIDER_TYPE": kind}
    assert HARNESSES["copilot"].refuses(environ) == ""
    assert with_memory(HARNESSES["copilot"], BASE, environ)["COPILOT_PROVIDER_BASE_URL"] == BASE + path


def test_copilot_with_githubs_own_models_starts_directly_and_says_why(desk: Desk, programs: Path) -> None:
    run = Wrapped(desk.home, programs, "--", "-p", "x", name="copilot")
    assert "COPILOT_PROVIDER_BASE_URL" not in run.harness["environ"]  # type: ignore[operator]
    assert "BEAD_IN_PATH" not in run.harness["environ"]  # type: ignore[operator]
    assert run.err.count("\n") == 1 and "without memory" in run.err


@contextmanager
def answering_each(*answers: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """A server that gives one of `answers` to each connection, in their order; its port and what it was asked."""
    seen: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)

        def serve() -> None:
            for answer in answers:
                connection, _ = server.accept()
                with connection:
                    seen.append(connection.recv(65_536))
                    connection.sendall(answer)

        thread = Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], seen
        thread.join(10)


def usage(status: bytes) -> bytes:
    return b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize("knows", [True, False])
def test_codex_is_shown_the_capability_only_where_it_cannot_do_without(desk: Desk, programs: Path, knows: bool) -> None:
    """Arguments can be read by every user of the machine; a proxy with bare_url: false takes nothing else."""
    status = b"200 OK" if knows else b"401 Unauthorized"
    with answering_each(health(HOME_ID), usage(status)) as (port, seen):
        write_runtime(desk.home, {"proxy": port, "curate": desk.port})
        run = Wrapped(desk.home, programs, "--", "exec", name="codex")

    shown = "" if knows else "/t/proxy-of-this-test"
    assert run.harness["argv"] == ["-c", f'openai_base_url="http://127.0.0.1:{port}{shown}/openai/v1"', "exec"]
    assert ("other users here can read" in run.err) is not knows
    assert not [request for request in seen if b"proxy-of-this-test" in request]


CONTINUE = """\
name: mine
schema: v1
models:
  - {name: a, provider: anthropic, model: m, apiKey: k-1}
  - {name: b, provider: openai, model: m, apiKey: k-2, apiBase: "https://elsewhere.example/v1"}
  - {name: c, provider: openrouter, model: m, apiKey: k-3, apiBase: "https://api.openai.com/v1"}
"""


def test_continue_reads_a_copy_that_only_it_sees(desk: Desk, programs: Path) -> None:
    (desk.home.parent / ".continue").mkdir()
    own = desk.home.parent / ".continue" / "config.yaml"
    own.write_text(CONTINUE)
    (programs / "cn").write_text(
        f"#!{sys.executable}\nimport json, sys\nprint(json.dumps([sys.argv[1:], open(sys.argv[2]).read()]))\n"
    )
    (programs / "cn").chmod(0o755)
    with answering(health(HOME_ID)) as (port, _):
        write_runtime(desk.home, {"proxy": port, "curate": desk.port})
        run = Wrapped(desk.home, programs, "--", "-p", "hi", name="continue")
    (option, _, *rest), text = json.loads(run.out)

    assert (option, rest) == ("--config", ["-p", "hi"])
    models = json.loads(text)["models"]
    base = f"http://127.0.0.1:{port}/t/proxy-of-this-test"
    assert [model["apiBase"] for model in models] == [
        f"{base}/anthropic/v1/",
        "https://elsewhere.example/v1",
        f"{base}/openai/v1",
    ]
    assert own.read_text() == CONTINUE
    left = [each for each in desk.home.rglob("*") if each.is_file() and b"k-1" in each.read_bytes()]
    assert left == []


def test_cline_reads_a_copy_that_is_gone_once_it_has_ended(desk: Desk, programs: Path, tmp_path: Path) -> None:
    own = desk.home.parent / ".cline" / "data" / "settings" / "providers.json"
    own.parent.mkdir(parents=True)
    settings = {"provider": "openai-compatible", "apiKey": "k-1", "baseUrl": "https://api.openai.com/v1"}
    other = {"provider": "ollama", "baseUrl": "http://127.0.0.1:11434"}
    own.write_text(json.dumps({"version": 1, "providers": {"a": {"settings": settings}, "b": {"settings": other}}}))
    before = own.read_bytes()
    (programs / "cline").write_text(
        f"#!{sys.executable}\nimport json, os, sys\npath = os.environ['CLINE_PROVIDER_SETTINGS_PATH']\n"
        "print(json.dumps([sys.argv[1:], path, os.stat(path).st_mode, open(path).read()]))\n"
    )
    memory = tmp_path / "memory"
    memory.mkdir()
    with answering(health(HOME_ID)) as (port, _):
        write_runtime(desk.home, {"proxy": port, "curate": desk.port})
        run = Wrapped(desk.home, programs, "--", "hi", name="cline", XDG_RUNTIME_DIR=str(memory))
    arguments, path, mode, text = json.loads(run.out)

    base = f"http://127.0.0.1:{port}/t/proxy-of-this-test"
    shown = {name: each["settings"]["baseUrl"] for name, each in json.loads(text)["providers"].items()}
    assert (arguments, shown) == (["hi"], {"a": f"{base}/openai/v1", "b": "http://127.0.0.1:11434"})
    assert Path(path).is_relative_to(memory) and mode & 0o777 == 0o600
    assert own.read_bytes() == before
    until = time.monotonic() + 30
    while list(memory.iterdir()):
        assert time.monotonic() < until, "the copy is still there"
        time.sleep(0.05)


@pytest.mark.parametrize("text", [None, "[", "a: 1\n", "models: [{provider: ollama}]\n"])
def test_continue_without_a_model_that_bead_could_stand_before_starts_directly(
    desk: Desk, programs: Path, text: str | None
) -> None:
    if text is not None:
        (desk.home.parent / ".continue").mkdir()
        (desk.home.parent / ".continue" / "config.yaml").write_text(text)
    with answering(health(HOME_ID)) as (port, _):
        write_runtime(desk.home, {"proxy": port, "curate": desk.port})
        run = Wrapped(desk.home, programs, "--", "-p", "hi", name="continue")
    assert run.harness["argv"] == ["-p", "hi"]
    assert run.err.count("\n") == 1 and "starting cn without memory" in run.err


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
