"""Defaults, then config.yaml, then the environment; a wrong setting names its place."""

from pathlib import Path

import pytest

from bead.errors import BadRequest
from bead.home import Home
from bead.settings import Settings, home_from, load_settings


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_an_empty_home_has_the_defaults(home: Home) -> None:
    assert load_settings(home, {}) == Settings()


def test_the_file_overrides_defaults_and_the_environment_overrides_the_file(home: Home) -> None:
    home.config.write_text("owner: ben\nproxy:\n  port: 8001\n  upstream:\n    anthropic: http://127.0.0.1:1\n")

    settings = load_settings(home, {"BEAD_PROXY__PORT": "8002", "BEAD_HOME": "/elsewhere", "PATH": "/bin"})

    assert (settings.owner, settings.proxy.port) == ("ben", 8002)
    assert settings.proxy.upstream.anthropic == "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("proxy:\n  prot: 1\n", "proxy.prot"),
        ("proxy:\n  port: many\n", "proxy.port"),
        ("proxy: [\n", "line"),
        ("- a\n", "config.yaml"),
        ("proxy:\n  recall:\n    budget_tokens: -1\n", "proxy.recall.budget_tokens"),
        ("proxy:\n  recall:\n    max_facts: -1\n", "proxy.recall.max_facts"),
        ("proxy:\n  pinned:\n    budget_tokens: -1\n", "proxy.pinned.budget_tokens"),
        ("proxy:\n  memory_timeout_ms: -1\n", "proxy.memory_timeout_ms"),
        ("proxy:\n  inject_body_limit_mb: -1\n", "proxy.inject_body_limit_mb"),
        ("proxy:\n  upstream:\n    anthropic: ftp://host.example\n", "proxy.upstream.anthropic"),
        ("proxy:\n  upstream:\n    anthropic: host.example\n", "proxy.upstream.anthropic"),
        ("store:\n  lock_wait_s: -1\n", "store.lock_wait_s"),
        ("store:\n  group_fsync_ms: 0\n", "store.group_fsync_ms"),
        ("index:\n  url: file:///etc\n", "index.url"),
    ],
)
def test_a_wrong_file_is_named_with_its_place(home: Home, text: str, named: str) -> None:
    home.config.write_text(text)
    with pytest.raises(BadRequest) as caught:
        load_settings(home, {})
    assert named in caught.value.message


def test_a_wrong_variable_is_named(home: Home) -> None:
    with pytest.raises(BadRequest) as caught:
        load_settings(home, {"BEAD_STORE__PORT": "70000"})
    assert "BEAD_STORE__PORT" in caught.value.message


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"BEAD_PROXI__PORT": "1"}, "'proxi' (BEAD_PROXI__PORT): there is no such setting"),
        ({"BEAD_PROXY__PROT": "1"}, "'proxy.prot' (BEAD_PROXY__PROT): there is no such setting"),
        ({"BEAD_PROXY": "1", "BEAD_PROXY__PORT": "1"}, "BEAD_PROXY__PORT and BEAD_PROXY contradict each other"),
    ],
)
def test_a_variable_that_nobody_knows_is_named_not_the_file(home: Home, environ: dict[str, str], named: str) -> None:
    with pytest.raises(BadRequest) as caught:
        load_settings(home, environ)
    assert named in caught.value.message


def test_the_home_comes_from_the_environment(tmp_path: Path) -> None:
    assert home_from({"BEAD_HOME": str(tmp_path)}).root == tmp_path
    assert home_from({}).root == Path.home() / ".bead"
