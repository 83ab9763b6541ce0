"""The vault as a person uses it: typed passphrases, refusals, and no secret on any disk, in any log or argument."""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from bead import age
from bead.age import passphrase
from tests.bytescan import traces
from tests.e2e.age_world import age_programs
from tests.e2e.bead_process import Machine
from tests.e2e.terminal import typed

pytestmark = pytest.mark.e2e

PASSPHRASE = "correct horse bättery"
DECOMPOSED = "correct horse ba\N{COMBINING DIAERESIS}ttery"
FIRST, AGAIN, ASKED, SECRET = "or more): ", "once more: ", "of the vault: ", "not shown): "
NEW_VAULT = ((FIRST, PASSPHRASE), (AGAIN, DECOMPOSED))
KEY = "user/door-code"


@pytest.fixture(scope="module")
def vault_machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A machine whose vault was begun by hand; each test takes keys of its own."""
    machine = Machine(tmp_path_factory.mktemp("machine"))
    begun = person(machine, "vault", "init", "--json", answers=NEW_VAULT)
    assert begun.returncode == 0, begun.stderr
    assert json.loads(begun.stdout)["recipient"].startswith("age1pq1")
    return machine


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path)
    yield machine
    for process in machine.started:
        process.kill()
        process.wait()


def person(machine: Machine, *argv: str, answers: Sequence[tuple[str, str]]) -> subprocess.CompletedProcess[str]:
    return typed([sys.executable, "-m", "bead_cli", *argv], answers, machine.environ, machine.root)


def piped(machine: Machine, text: str, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bead_cli", *argv]
    env = machine.environ | environ
    return subprocess.run(command, env=env, cwd=machine.root, input=text, capture_output=True, text=True, timeout=60)


def canary() -> str:
    return f"the {secrets.token_hex(8)}lantern opens it"


def test_a_secret_goes_in_by_hand_and_comes_out_by_passphrase_only(vault_machine: Machine) -> None:
    text, key = canary(), "user/by-hand"
    wrote = person(vault_machine, "write", key, "--sensitivity", "secret", "--json", answers=[(SECRET, text)])
    assert (wrote.returncode, json.loads(wrote.stdout)["verb"]) == (0, "created"), wrote.stderr

    shown = person(vault_machine, "sealed", "show", key, answers=[(ASKED, PASSPHRASE)])
    wrong = person(vault_machine, "sealed", "show", key, "--json", answers=[(ASKED, "correct horse buttery")])

    assert (shown.returncode, shown.stdout.strip()) == (0, text)
    assert (wrong.returncode, json.loads(wrong.stdout)["type"]) == (1, "urn:bead:error:wrong-passphrase")
    assert text not in wrote.stderr + shown.stderr + wrong.stdout + wrong.stderr, "what is typed is not echoed"
    assert traces(vault_machine.home, text) == []


def test_a_sealed_fact_is_listed_and_shown_without_its_text_and_unsealed_again(vault_machine: Machine) -> None:
    text = canary()
    vault_machine.json("write", KEY, "an older text")
    vault_machine.json("write", KEY, text)
    assert vault_machine.json("seal", KEY)["versions"] == 2

    listed = vault_machine.json("sealed", "list")["sealed"]
    assert {"key": KEY, "versions": [1, 2]} in listed
    for told in ("show", "history"):
        assert vault_machine.json(told, KEY) == {"key": KEY, "versions": [1, 2], "status": "sealed"}
    memories = vault_machine.json("memories", "--all")
    assert KEY in {each["key"] for each in memories["sealed"]} - {each["key"] for each in memories["facts"]}
    assert vault_machine.run("recall", KEY).returncode == 1
    assert json.loads(vault_machine.run("write", KEY, "plain", "--json").stdout)["type"] == "urn:bead:error:sealed"
    assert traces(vault_machine.home, text) == []

    unsealed = person(vault_machine, "unseal", KEY, answers=[(ASKED, PASSPHRASE)])
    assert unsealed.returncode == 0, unsealed.stderr
    assert vault_machine.json("show", KEY)["body"] == text
    assert vault_machine.json("show", KEY)["sensitivity"] == "private"


def test_age_itself_opens_a_sealed_file_with_the_identity_and_the_passphrase(vault_machine: Machine) -> None:
    text, key = canary(), "user/for-age"
    assert piped(vault_machine, text, "write", key, "-", "--sensitivity", "secret").returncode == 0
    vault = vault_machine.home / "vault"

    command = [str(age_programs() / "age"), "-d", "-i", str(vault / "identity.age")]
    told = typed(
        [*command, str(vault / "sealed" / key / "v1.md.age")],
        [("passphrase", PASSPHRASE)],
        vault_machine.environ,
        vault_machine.root,
    )

    assert (told.returncode, text in told.stdout) == (0, True), told.stderr
    opened = passphrase.decrypt((vault / "identity.age").read_bytes(), PASSPHRASE).decode()
    [line] = [line for line in opened.splitlines() if line.startswith("AGE-SECRET-KEY-PQ-1")]
    assert str(age.Identity.parse(line).recipient()) == (vault / "recipient.txt").read_text().strip()


def test_a_changed_sealed_file_is_told_by_its_path_and_nothing_is_shown(vault_machine: Machine) -> None:
    key = "user/changed"
    assert piped(vault_machine, canary(), "write", key, "-", "--sensitivity", "secret").returncode == 0
    path = vault_machine.home / "vault/sealed" / key / "v1.md.age"
    path.write_bytes(path.read_bytes()[:-1])

    shown = person(vault_machine, "sealed", "show", key, "--json", answers=[(ASKED, PASSPHRASE)])

    assert shown.returncode == 4
    assert json.loads(shown.stdout)["facts"]["path"] == f"vault/sealed/{key}/v1.md.age"


@pytest.mark.parametrize(
    "argv", [("vault", "init"), ("unseal", KEY), ("sealed", "show", KEY), ("write", KEY, "--sensitivity", "secret")]
)
def test_without_a_terminal_it_is_refused_at_once(machine: Machine, argv: tuple[str, ...]) -> None:
    done = machine.run(*argv, "--json")

    assert (done.returncode, json.loads(done.stdout)["type"]) == (1, "urn:bead:error:no-terminal")
    assert not machine.home.exists(), "nothing was begun"


@pytest.mark.parametrize(
    "argv",
    [
        ("vault", "init"),
        ("seal", KEY),
        ("unseal", KEY),
        ("sealed", "show", KEY),
        ("write", KEY, "x", "--sensitivity", "secret"),
    ],
)
def test_inside_a_harness_it_is_refused(machine: Machine, argv: tuple[str, ...]) -> None:
    done = machine.run(*argv, "--json", CLAUDECODE="1")

    assert (done.returncode, json.loads(done.stdout)["type"]) == (1, "urn:bead:error:not-allowed")


@pytest.mark.parametrize(
    "answers", [((FIRST, "elf letters"),), ((FIRST, PASSPHRASE), (AGAIN, PASSPHRASE + "!"))], ids=["short", "differ"]
)
def test_a_short_or_mistyped_passphrase_begins_no_vault(machine: Machine, answers: tuple[tuple[str, str], ...]) -> None:
    assert person(machine, "vault", "init", answers=answers).returncode == 1
    assert not (machine.home / "vault/identity.age").exists()


def test_an_identity_is_not_replaced_and_a_lost_recipient_comes_back(vault_machine: Machine) -> None:
    before = {path: path.read_bytes() for path in (vault_machine.home / "vault").glob("*.*")}
    assert len(before) == 2
    again = person(vault_machine, "vault", "init", "--json", answers=())
    assert (again.returncode, json.loads(again.stdout)["type"]) == (1, "urn:bead:error:exists")

    (vault_machine.home / "vault/recipient.txt").unlink()
    assert person(vault_machine, "vault", "init", answers=[(ASKED, PASSPHRASE)]).returncode == 0
    assert {path: path.read_bytes() for path in (vault_machine.home / "vault").glob("*.*")} == before


# -- what leaves the processes ---------------------------------------------------------------------------------------

_LEAVING = "write,pwrite64,writev,pwritev,pwritev2,sendto,sendmsg,execve,rename,renameat2,openat,mkdir,link"


def traced(machine: Machine, text: str, *argv: str) -> list[str]:
    """The system calls of `bead ARGV` with `text` on its standard input that hand something on and name the text."""
    log = machine.root / f"calls-{secrets.token_hex(4)}"
    command = ["strace", "-f", "-qq", "-s", "1048576", "-e", f"trace={_LEAVING}", "-o", str(log)]
    command += [sys.executable, "-m", "bead_cli", *argv]
    done = subprocess.run(
        command, env=machine.environ, cwd=machine.root, input=text, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert text not in done.stdout + done.stderr
    found = [line for line in log.read_text(errors="replace").splitlines() if text.split()[1] in line]
    log.unlink()
    return found


def test_a_secret_write_hands_the_text_to_no_file_and_no_argument_list(vault_machine: Machine) -> None:
    """The same write in the clear shows that the trace would see it."""
    hidden, control = canary(), canary()

    assert traced(vault_machine, hidden, "write", "user/traced", "-", "--sensitivity", "secret") == []
    assert any("write(" in line for line in traced(vault_machine, control, "write", "user/clear", "-"))


def test_a_running_bead_writes_no_secret_and_dumps_no_core(machine: Machine) -> None:
    identity = age.Identity.generate()
    process = machine.up()
    store(machine, identity)
    text = canary()

    assert piped(machine, text, "write", KEY, "-", "--sensitivity", "secret").returncode == 0

    limits = Path(f"/proc/{process.pid}/limits").read_text()
    [core] = [line for line in limits.splitlines() if line.startswith("Max core file size")]
    assert core.split()[4:6] == ["0", "0"]
    assert traces(machine.home, text) == []
    assert text.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
    process.terminate()
    said, _ = process.communicate(timeout=60)
    assert text.encode() not in said
    assert traces(machine.root, text) == []


def store(machine: Machine, identity: age.Identity) -> None:
    """Begin a vault through the person's door, without the second that a passphrase takes."""
    import http.client

    token = (machine.home / "tokens/admin").read_text().strip()
    door = http.client.HTTPConnection("127.0.0.1", machine.ports["curate"], timeout=30)
    body: dict[str, Any] = {"recipient": str(identity.recipient()), "identity": "eA=="}
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    door.request("POST", "/api/store/v1/vault", json.dumps(body), headers)
    assert door.getresponse().status == 200
    door.close()
    assert os.path.exists(machine.home / "vault/recipient.txt")
