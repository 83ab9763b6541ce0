"""`bead up` and its clients as processes: one home, six services, and an orderly or a sudden end."""

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.bead_process import LIMIT_S, SERVICES, Machine, free_ports, read_until

pytestmark = pytest.mark.e2e

STOP_LIMIT_S = 2.0


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path)
    try:
        yield machine
    finally:
        machine.end()


def test_all_six_services_answer_for_the_same_home(machine: Machine) -> None:
    machine.up()
    answers = {name: machine.health(name) for name in SERVICES}

    assert {name: answer["name"] for name, answer in answers.items()} == {name: name for name in SERVICES}
    assert len({answer["home_id"] for answer in answers.values()}) == 1
    runtime = json.loads((machine.home / "runtime.json").read_text())
    assert runtime["home_id"] == answers["store"]["home_id"]
    assert runtime["ports"] == machine.ports
    assert runtime["pid"] == machine.started[0].pid


@pytest.mark.parametrize("command", ["up", "status"])
def test_the_line_it_prints_starts_a_harness_through_the_proxy(machine: Machine, command: str) -> None:
    """Pasted into a shell; what is printed into a file does not hold the capability itself."""
    printed = read_until(machine.start("up"), b"or: bead wrap claude\n").decode()
    if command == "status":
        printed += machine.run("status").stdout
    line = next(line for line in reversed(printed.splitlines()) if "ANTHROPIC_BASE_URL=" in line)
    line = line[line.index("ANTHROPIC_BASE_URL=") :]
    shell = ["sh", "-c", line.replace(" claude", " env")]
    environ = subprocess.run(shell, capture_output=True, text=True, check=True).stdout.splitlines()

    token = (machine.home / "tokens" / "proxy").read_text().strip()
    assert f"ANTHROPIC_BASE_URL=http://127.0.0.1:{machine.ports['proxy']}/t/{token}" in environ
    assert "CLAUDE_CODE_GATEWAY_HINT_HEADERS=1" in environ
    assert token not in printed
    assert all(f"http://127.0.0.1:{port}\n" in printed for port in machine.ports.values())


def test_up_says_ready_when_every_service_is(machine: Machine) -> None:
    printed = read_until(machine.start("up"), b"or: bead wrap claude\n").decode()
    health = {name: machine.health(name)["ready"] for name in SERVICES}
    assert " is ready (pid " in printed
    assert health == dict.fromkeys(SERVICES, True)


def test_up_says_what_is_not_ready(machine: Machine) -> None:
    (machine.home / "index.db").mkdir(parents=True)
    machine.home.chmod(0o700)
    printed = read_until(machine.start("up"), b"or: bead wrap claude\n").decode()
    assert " is not ready yet (pid " in printed
    assert re.search(r"^  index +http://\S+  \S", printed, re.MULTILINE)


def test_a_damaged_file_is_named_by_status_which_ends_with_4(machine: Machine) -> None:
    machine.json("write", "user/editor", "helix")
    file = machine.home / "store" / "facts" / "user" / "editor" / "v1.md"
    file.write_text("---\nbody: [\n---\nhelix\n")
    machine.up()
    done = machine.run("status")
    assert done.returncode == 4
    assert re.search(rf"^  {file}(:\d+)?: .+$", done.stdout, re.MULTILINE)
    assert json.loads(machine.run("status", "--json").stdout)["damaged"][0]["path"] == str(file)


def test_a_bead_that_was_stopped_costs_five_seconds_and_down_says_how_to_end_it(machine: Machine) -> None:
    process = machine.up()
    process.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    for argv in (("memories",), ("remember", "we ship on Tuesdays")):
        done = machine.run(*argv)
        assert done.returncode == 3
        assert f"bead (pid {process.pid}) does not answer" in done.stderr and "within 5 s" in done.stderr
    assert time.monotonic() - began < 20
    done = machine.run("down")
    assert done.returncode == 3
    assert f"kill -9 {process.pid}" in done.stderr


def test_up_with_json_prints_one_document_and_serves(machine: Machine) -> None:
    process = machine.start("up", "--json")
    document = json.loads(read_until(process, b"\n"))
    assert document["pid"] == process.pid
    assert document["ready"] is True
    assert Path(document["token_file"]).read_text().strip() not in json.dumps(document)
    assert machine.health("proxy")["home_id"] == document["home_id"]


def check_life_of_a_fact(machine: Machine) -> None:
    assert (
        machine.json("remember", "deploys happen on Tuesdays", "--key", "project/shop/deploy-day")["verb"] == "created"
    )
    changed = machine.json("write", "project/shop/deploy-day", "deploys happen on Wednesdays")
    assert (changed["verb"], changed["version"], changed["replaced"]) == ("superseded", 2, "deploys happen on Tuesdays")

    shown = machine.json("show", "project/shop/deploy-day")
    assert (shown["body"], shown["trust"]) == ("deploys happen on Wednesdays", "user_stated")
    assert [fact["version"] for fact in machine.json("history", "project/shop/deploy-day")["versions"]] == [1, 2]
    hits = machine.json("search", "deploys", "--project", "shop")["hits"]
    assert hits[0]["id"] == "project/shop/deploy-day"
    assert machine.run("recall", "project/shop/deploy-day").stdout == "deploys happen on Wednesdays\n"
    assert [fact["key"] for fact in machine.json("memories", "wednesdays", "--all")["facts"]] == [
        "project/shop/deploy-day"
    ]
    assert machine.json("pin", "project/shop/deploy-day")["pinned"] is True
    assert machine.json("index", "rebuild") == {"rebuilt": True}
    assert machine.json("queue", "list") == {"items": []}


def test_a_fact_lives_through_the_cli_while_bead_runs(machine: Machine) -> None:
    machine.up()
    check_life_of_a_fact(machine)
    status = machine.json("status")
    assert {name: state["ready"] for name, state in status["services"].items()} == dict.fromkeys(SERVICES, True)


def test_a_fact_lives_through_the_cli_when_nothing_runs(machine: Machine) -> None:
    check_life_of_a_fact(machine)
    assert not (machine.home / "runtime.json").exists()
    assert machine.run("status").returncode == 3

    machine.up()
    assert machine.json("show", "project/shop/deploy-day")["version"] == 2


def test_a_repository_keeps_its_memory_when_it_gets_a_remote_and_when_that_moves(machine: Machine) -> None:
    work = machine.root / "shop"
    work.mkdir()

    def git(*argv: str) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@t"]
        subprocess.run(["git", *who, *argv], cwd=work, check=True, capture_output=True)

    machine.up()
    git("init", "-q")
    git("commit", "--allow-empty", "-m", "first")
    machine.run_in(work, "remember", "we ship on Tuesdays")
    for change in (["add", "origin", "git@host.example:acme/web.git"], ["set-url", "origin", "https://b.example/x/y"]):
        git("remote", *change)
        listed = machine.run_in(work, "memories", "--json")
        assert [fact["key"] for fact in json.loads(listed.stdout)["facts"]] == ["project/shop/we-ship-on-tuesdays"]


def test_a_secret_in_a_text_never_reaches_the_disk(machine: Machine) -> None:
    secret = "ghp_" + "Ab3dE5gH" * 4 + "Xy12"
    done = machine.run("remember", f"the token is {secret}")
    files = [path for path in machine.home.rglob("*") if path.is_file()]
    assert not [path for path in files if secret.encode() in path.read_bytes()]
    assert secret not in done.stdout + done.stderr


def test_a_second_bead_on_the_home_says_who_runs(machine: Machine) -> None:
    first = machine.up()
    other_ports = dict(zip(SERVICES, free_ports(len(SERVICES)), strict=True))
    second = machine.run("up", **{f"BEAD_{name.upper()}__PORT": str(port) for name, port in other_ports.items()})

    assert second.returncode == 3
    assert second.stderr.startswith(f"bead: bead runs already on {machine.home} as pid {first.pid} ")
    assert second.stderr.count("\n") == 1
    assert machine.health("store")["ready"]


@pytest.mark.parametrize("service", ["store", "proxy"])
def test_a_port_that_is_taken_is_named_and_nothing_is_left(machine: Machine, service: str) -> None:
    with socket.create_server(("127.0.0.1", machine.ports[service])):
        done = machine.run("up")
    assert done.returncode == 3
    assert re.fullmatch(rf"bead: .*port {machine.ports[service]}\b.*\n", done.stderr)
    assert not (machine.home / "runtime.json").exists()


def test_an_address_that_is_not_loopback_is_refused(machine: Machine) -> None:
    done = machine.run("up", BEAD_PROXY__HOST="0.0.0.0")
    assert done.returncode == 1
    assert "not a loopback address" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_home_that_cannot_be_written_is_one_line(machine: Machine) -> None:
    machine.home.mkdir(mode=0o500)
    done = machine.run("up")
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_home_of_another_user_is_one_line(machine: Machine) -> None:
    machine.home.mkdir(mode=0o700)
    os.chown(machine.home, 12_345, 12_345)
    done = machine.run("up")
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert "another user" in done.stderr


def test_a_home_below_a_file_is_one_line(machine: Machine) -> None:
    (machine.root / "file").write_text("")
    done = machine.run("up", "--home", str(machine.root / "file" / "home"))
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert "Traceback" not in done.stderr


def test_a_home_open_to_others_is_refused(machine: Machine) -> None:
    machine.home.mkdir()
    machine.home.chmod(0o777)
    done = machine.run("up")
    assert done.returncode == 3
    assert str(machine.home) in done.stderr


def epoch_of(machine: Machine, token: str) -> str:
    """The present life of the change feed; asking with another epoch would be answered at once."""
    url = f"http://127.0.0.1:{machine.ports['store']}/v1/manifest"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=5) as answer:
        epoch: str = json.load(answer)["epoch"]
    return epoch


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_within_two_seconds_with_streams_open(machine: Machine, end: signal.Signals) -> None:
    process = machine.up()
    token = (machine.home / "tokens" / "bus").read_text().strip()
    epoch = epoch_of(machine, token)
    # A long poll on the store and half a request to the proxy: both would wait for a minute.
    head = f"HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n"
    poll = f"GET /v1/changes?epoch={epoch}&after=1000&wait_s=60 {head}"
    half = "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"
    with (
        socket.create_connection(("127.0.0.1", machine.ports["store"])) as polling,
        socket.create_connection(("127.0.0.1", machine.ports["proxy"])) as sending,
    ):
        polling.sendall(poll.encode())
        sending.sendall(half.encode())
        machine.health("store")
        started = time.monotonic()
        process.send_signal(end)
        output = process.communicate(timeout=LIMIT_S)[0]
        took_s = time.monotonic() - started

    assert took_s < STOP_LIMIT_S
    assert process.returncode == 0, output.decode()
    assert b"Traceback" not in output
    assert not (machine.home / "runtime.json").exists()


def test_down_ends_it_and_says_so_and_again_says_it_was_not_running(machine: Machine) -> None:
    process = machine.up()
    done = machine.run("down")
    assert (done.returncode, done.stdout) == (0, f"bead (pid {process.pid}) has stopped\n")
    assert process.wait(timeout=LIMIT_S) == 0
    assert machine.run("down").stdout == "bead was not running\n"


def test_after_a_kill_the_facts_are_there_and_the_stale_file_fools_nobody(machine: Machine) -> None:
    process = machine.up()
    machine.json("write", "user/editor", "helix")
    process.kill()
    process.wait(timeout=LIMIT_S)
    assert (machine.home / "runtime.json").exists()

    assert machine.json("recall", "user/editor")["body"] == "helix"
    assert machine.run("status").returncode == 3
    machine.up()
    assert machine.json("recall", "user/editor")["body"] == "helix"


def test_a_bead_that_hangs_is_reported_and_its_home_is_not_opened(machine: Machine) -> None:
    process = machine.up()
    machine.json("write", "user/editor", "helix")
    process.send_signal(signal.SIGSTOP)
    try:
        machine_done = machine.run("status", "--json")
    finally:
        process.send_signal(signal.SIGCONT)
    assert machine_done.returncode == 3
    assert not any(state["ready"] for state in json.loads(machine_done.stdout)["services"].values())


def test_two_commands_at_once_wait_for_each_other_when_nothing_runs(machine: Machine) -> None:
    """They take turns at the same lock; neither write is lost."""
    first = machine.start("write", "user/a", "one")
    second = machine.start("write", "user/b", "two")
    assert [process.wait(timeout=LIMIT_S) for process in (first, second)] == [0, 0]
    assert len(machine.json("memories")["facts"]) == 2


def test_services_in_processes_of_their_own_answer_like_one(machine: Machine) -> None:
    """`bead serve`, as the containers run it: over sockets, with scoped tokens."""
    ready = {}
    for name in ("store", "index", "dream", "curate", "scheduler", "proxy"):
        process = machine.start("serve", name, "--json")
        ready[name] = read_until(process, f"{name} answers on port {machine.ports[name]}\n".encode())
        if b"{" not in ready[name]:
            ready[name] = read_until(process, b"}\n")
        document = json.loads(ready[name][ready[name].index(b"{") :])
        assert (document["name"], document["port"], document["pid"]) == (name, machine.ports[name], process.pid)
    until = time.monotonic() + LIMIT_S
    while any(machine.run("serve", name, "--check").returncode for name in SERVICES) and time.monotonic() < until:
        continue
    check_life_of_a_fact(machine)
    assert len({machine.health(name)["home_id"] for name in SERVICES}) == 1


def test_services_that_share_only_tokens_serve_a_client_that_has_no_home(machine: Machine) -> None:
    """As containers do: a home of its own for each, secrets as files, names of services as hosts."""
    machine.start("serve", "store", "--home", str(machine.root / "store"), BEAD_IN_CONTAINER="1")
    read_until(machine.started[0], b"store answers on port ")
    secrets = {
        f"BEAD_{name.upper()}_TOKEN_FILE": str(machine.root / "store" / "tokens" / name)
        for name in ("bus", "admin", "proxy")
    }
    for name in ("index", "dream", "curate", "scheduler", "proxy"):
        process = machine.start("serve", name, "--home", str(machine.root / name), BEAD_IN_CONTAINER="1", **secrets)
        read_until(process, f"{name} answers on port ".encode())

    address = {"BEAD_CURATE__URL": f"http://localhost:{machine.ports['curate']}", **secrets}
    written = machine.run("write", "user/editor", "helix", "--json", **address)
    found = machine.run("search", "helix", "--json", **address)

    assert json.loads(written.stdout)["verb"] == "created", written.stderr
    assert json.loads(found.stdout)["hits"][0]["id"] == "user/editor", found.stderr
    assert not machine.home.exists()
    assert [path.name for path in (machine.root / "dream").glob("*")] == []
    stored = json.loads((machine.root / "store" / "runtime.json").read_text())
    assert stored["pid"] is None


def test_a_service_name_is_a_host_only_inside_a_container(machine: Machine) -> None:
    machine.up()
    request = urllib.request.Request(f"http://127.0.0.1:{machine.ports['store']}/health")
    request.add_header("Host", f"store:{machine.ports['store']}")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=5)
    assert refused.value.code == 421
    refused.value.close()


def test_a_service_on_the_other_loopback_address_is_found(machine: Machine) -> None:
    process = machine.start("up", BEAD_PROXY__HOST="::1", BEAD_CURATE__HOST="::1")
    printed = read_until(process, b"or: bead wrap claude\n").decode()
    assert f"ANTHROPIC_BASE_URL=http://[::1]:{machine.ports['proxy']}/t/" in printed
    assert machine.json("write", "user/editor", "helix")["verb"] == "created"
    assert machine.json("status")["services"]["proxy"]["ready"]
