"""Each look of `bead doctor` finds its trouble, names cause and command, and is silent when all is well."""

import io
import json
import os
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bead.home import Home
from bead_cli import firing, runtime
from bead_cli.context import Context
from bead_cli.doctoring import around, home, hooks, nights
from bead_cli.doctoring.finding import Finding
from bead_cli.output import Output
from bead_store.home import prepare
from tests.unit.cli.desk import Desk, write_runtime


def context_of(root: Path, **environ: str) -> Context:
    out, err = io.StringIO(), io.StringIO()
    return Context(environ, str(root), Output(out, err, as_json=False, environ={}))


@pytest.fixture
def prepared(tmp_path: Path) -> Home:
    found = Home(tmp_path / "home")
    prepare(found)
    return found


def told(found: Iterable[Finding]) -> list[tuple[str, str]]:
    return [(each.level, each.check) for each in found]


def test_a_home_as_bead_makes_it_gives_no_finding(prepared: Home) -> None:
    context = context_of(prepared.root)
    assert [
        *home.readable(context, fix=False),
        *home.tokens(context),
        *home.clock(context, time.time()),
        *home.inodes(context),
        *around.certificates(context_of(prepared.root, SSL_CERT_DIR=str(prepared.root))),
        *hooks.never_firing(context),
    ] == []


def test_what_others_may_read_is_found_and_mended_only_when_asked(prepared: Home) -> None:
    secret, plain = prepared.token("admin"), prepared.facts / "a.md"
    plain.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    plain.write_text("x")
    secret.chmod(0o644)
    plain.chmod(0o644)
    context = context_of(prepared.root)

    found = list(home.readable(context, fix=False))
    assert [(each.level, each.path) for each in found] == [("person", str(secret)), ("note", str(plain))]
    assert secret.stat().st_mode & 0o777 == 0o644
    assert told(home.readable(context, fix=True)) == [("note", "home")]
    assert (secret.stat().st_mode & 0o777, plain.stat().st_mode & 0o777) == (0o600, 0o600)
    assert list(home.readable(context, fix=False)) == []


@pytest.mark.parametrize(
    ("text", "level"), [(None, "unavailable"), (b"", "person"), (b"\xff", "person"), (b"a b\n", "person")]
)
def test_a_token_that_is_none_is_named(prepared: Home, text: bytes | None, level: str) -> None:
    path = prepared.token("proxy")
    path.unlink(missing_ok=True)
    if text is not None:
        path.write_bytes(text)
    (found,) = home.tokens(context_of(prepared.root))
    assert (found.level, found.path) == (level, str(path)) and "bead up" in found.mend


def test_a_clock_that_went_back_or_was_never_set_is_named(prepared: Home) -> None:
    context = context_of(prepared.root)
    log = prepared.root / "audit.log"
    log.write_text("")
    now = time.time()
    os.utime(log, (now, now + 3_600))
    (found,) = home.clock(context, now)
    assert "59 minutes" in found.cause or "60 minutes" in found.cause
    assert told(home.clock(context, 1_000.0)) == [("unavailable", "clock")]


def test_what_a_killed_bead_left_goes_only_when_asked(prepared: Home) -> None:
    who = write_runtime(prepared.root, {"curate": 9, "proxy": 9}, pid=2**22 + 3)
    context = context_of(prepared.root)
    assert list(home.left_behind(context, who, fix=False)) == []
    assert (prepared.root / "runtime.json").exists()
    assert told(home.left_behind(context, who, fix=True)) == [("note", "bead")]
    assert not (prepared.root / "runtime.json").exists()


def certificate(path: Path, ends: datetime) -> None:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "x")])
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(ends - timedelta(days=400)).not_valid_after(ends)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM))


@pytest.mark.parametrize(
    ("days", "expected"), [(400, []), (3, [("note", "certificates")]), (-1, [("unavailable", "certificates")])]
)
def test_a_company_certificate_that_ends_is_named(
    prepared: Home, tmp_path: Path, days: int, expected: list[tuple[str, str]]
) -> None:
    certificate(tmp_path / "ca.pem", datetime.now(UTC) + timedelta(days=days))
    context = context_of(prepared.root, BEAD_PROXY__CA_FILE=str(tmp_path / "ca.pem"), SSL_CERT_DIR=str(tmp_path))
    assert told(around.certificates(context)) == expected


@pytest.mark.parametrize("data", [None, b"no certificate"])
def test_a_company_certificate_that_is_none_is_named(prepared: Home, tmp_path: Path, data: bytes | None) -> None:
    if data is not None:
        (tmp_path / "ca.pem").write_bytes(data)
    context = context_of(prepared.root, BEAD_PROXY__CA_FILE=str(tmp_path / "ca.pem"), SSL_CERT_DIR=str(tmp_path))
    assert told(around.certificates(context)) == [("unavailable", "certificates")]


def test_a_machine_without_authorities_is_named_where_an_upstream_needs_them(prepared: Home, tmp_path: Path) -> None:
    nowhere = {"SSL_CERT_FILE": str(tmp_path / "none.pem")}
    assert told(around.certificates(context_of(prepared.root, **nowhere))) == [("unavailable", "certificates")]
    local = {f"BEAD_PROXY__UPSTREAM__{name}": "http://127.0.0.1:1" for name in ("ANTHROPIC", "OPENAI", "GEMINI")}
    assert list(around.certificates(context_of(prepared.root, **nowhere, **local))) == []


HOOKED = {"hooks": {
    "SessionStart": [{"hooks": [{"type": "command", "command": "/opt/b/bead --home /h prime --hook-json"}]}],
    "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "bead hook user-prompt"}]}],
}}  # fmt: skip


def test_hooks_that_are_set_and_those_that_ran_are_listed(prepared: Home, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps(HOOKED))
    firing.note(str(prepared.root), "claude", "user-prompt")
    found = hooks.hooks(context_of(prepared.root, HOME=str(tmp_path)))
    assert [(each.event, bool(each.path), bool(each.last_seen)) for each in found] == [
        ("session-start", True, False),
        ("user-prompt", True, True),
    ]


def test_a_hook_that_never_fires_though_the_agent_is_used_is_named_with_its_reason(
    prepared: Home, tmp_path: Path
) -> None:
    folder = tmp_path / ".codex"
    (folder / "sessions").mkdir(parents=True)
    (folder / "hooks.json").write_text(json.dumps(HOOKED))
    context = context_of(prepared.root, HOME=str(tmp_path))
    assert list(hooks.never_firing(context)) == []

    session = folder / "sessions" / "rollout-1.jsonl"
    session.write_text("{}")
    later = time.time() + 3_600
    os.utime(session, (later, later))
    found = list(hooks.never_firing(context))
    assert [each.path for each in found] == [str(folder / "hooks.json")] * 2
    assert all("has never run" in each.cause and "trust" in each.mend for each in found)

    for event in ("user-prompt", "session-start"):
        firing.note(str(prepared.root), "codex", event)
    assert list(hooks.never_firing(context)) == []


def night(**said: object) -> Mapping[str, object]:
    nothing: dict[str, object] = {"trouble": None, "runs": [], "unread_sessions": 0}
    return nothing | said


NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (night(), ""),
        (night(unread_sessions=3), "no night yet"),
        (night(trouble="no key"), "no key"),
        (night(runs=[{"started": "2026-11-30T03:30:00Z", "state": "done"}], unread_sessions=3), ""),
        (night(runs=[{"started": "2026-11-20T03:30:00Z", "state": "done"}], unread_sessions=3), "2026-11-20"),
        (night(runs=[{"started": "2026-11-30T03:30:00Z", "state": "failed"}]), "failed"),
    ],
)
def test_a_night_that_is_late_or_failed_is_named(status: Mapping[str, object], words: str) -> None:
    found = list(nights._nights(status, NOW))
    assert bool(found) == bool(words) and all(words in each.cause and "bead dream run" in each.mend for each in found)


def test_docker_is_looked_at_only_where_containers_run_bead(desk: Desk) -> None:
    assert list(around.docker(runtime.read(str(desk.home)))) == []


def test_a_damaged_episode_is_named(prepared: Home) -> None:
    folder = prepared.root / "store" / "episodes" / "2026" / "11" / "30"
    folder.mkdir(parents=True)
    (folder / "e-1.md").write_text("---\nno: [header\n---\nx\n")
    out = io.StringIO()
    from bead_cli.__main__ import run

    ports = {f"BEAD_{name}__PORT": "0" for name in ("STORE", "INDEX", "PROXY", "DREAM", "CURATE", "SCHEDULER")}
    assert run(["doctor", "--json", "--home", str(prepared.root)], ports, out, io.StringIO()) == 4
    named = [each for each in json.loads(out.getvalue())["findings"] if each["check"] == "file"]
    assert [Path(each["path"]).name for each in named] == ["e-1.md"]
