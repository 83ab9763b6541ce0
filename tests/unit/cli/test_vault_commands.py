"""What the vault's commands say and refuse, before a store in memory. Typed passphrases: tests/e2e/test_vault.py."""

import json

import pytest

from bead import age
from tests.unit.cli.desk import Desk

IDENTITY = age.Identity(bytes(range(32)))
KEY = "user/door-code"


@pytest.fixture
def vault(desk: Desk) -> Desk:
    desk.store.vault.recipient, desk.store.vault.identity = str(IDENTITY.recipient()), b"under a passphrase"
    return desk


def test_a_fact_is_sealed_listed_and_told_without_its_text(vault: Desk) -> None:
    vault.json("write", KEY, "it is 4711")

    assert vault.json("seal", "door-code")["versions"] == 1

    assert vault.json("sealed")["sealed"] == [{"key": KEY, "versions": [1]}]
    for told in ("show", "history"):
        assert vault.json(told, "door-code") == {"key": KEY, "versions": [1], "status": "sealed"}
        assert "sealed" in vault.bead(told, KEY).out
    memories = vault.json("memories")
    assert (memories["facts"], memories["sealed"]) == ([], [{"key": KEY, "versions": [1]}])
    assert vault.json("memories", "lantern")["sealed"] == []
    assert "4711" not in "".join(vault.bead(*argv).out for argv in (("memories",), ("sealed",), ("show", KEY)))


def test_recall_of_a_sealed_fact_is_refused_as_such(vault: Desk) -> None:
    vault.json("write", KEY, "it is 4711")
    vault.json("seal", KEY)

    for argv in (("recall", KEY), ("write", KEY, "plain"), ("pin", KEY)):
        done = vault.bead(*argv, "--json")
        assert (done.code, json.loads(done.out)["type"]) == (1, "urn:bead:error:sealed")


def test_a_sealed_fact_moves_by_its_short_name(vault: Desk) -> None:
    vault.json("write", KEY, "it is 4711")
    vault.json("seal", KEY)

    assert vault.json("rekey", "door-code", "gate")["key"] == "user/gate"


@pytest.mark.parametrize(
    "argv",
    [
        ("vault", "init"),
        ("unseal", KEY),
        ("sealed", "show", KEY),
        ("write", KEY, "--sensitivity", "secret"),
    ],
)
def test_what_is_typed_is_refused_where_nobody_types(vault: Desk, argv: tuple[str, ...]) -> None:
    done = vault.bead(*argv, "--json")

    assert (done.code, done.document["type"]) == (1, "urn:bead:error:no-terminal")


@pytest.mark.parametrize("argv", [("vault", "init"), ("seal", KEY), ("unseal", KEY), ("sealed", "show", KEY)])
def test_inside_a_harness_the_vault_is_closed(vault: Desk, argv: tuple[str, ...]) -> None:
    done = vault.bead(*argv, "--json", environ={"CLAUDECODE": "1"})

    assert (done.code, done.document["type"]) == (1, "urn:bead:error:not-allowed")


def test_a_secret_on_the_command_line_is_kept_and_remarked_on(vault: Desk) -> None:
    done = vault.bead("write", KEY, "it is 4711", "--sensitivity", "secret", "--json")

    assert (done.code, done.document["verb"]) == (0, "created")
    assert "history" in done.err and "4711" not in done.err
    assert vault.store.facts == {} and list(vault.store.vault.sealed) == [KEY]


def test_sealed_show_needs_a_key_and_list_takes_none(vault: Desk) -> None:
    assert vault.bead("sealed", "show").code == 2
    assert vault.bead("sealed", "list", KEY).code == 2
