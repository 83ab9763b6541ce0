"""What each container is given: one token of its own, and of the others only what knows them."""

import json
from pathlib import Path

import pytest

from bead.bus.guard import Unauthorized, fingerprint, scope_of_known, scoped_token
from bead.errors import HomeUnusable
from bead_cli.context import Context
from bead_cli.handing import SERVICES, callers_of, hand_out
from bead_cli.output import Output
from bead_store.home import Prepared

SECRET = "secret-of-this-test"
PREPARED = Prepared("home", SECRET, "proxy-token", "admin-token", bytes(32))


def bearer(token: str) -> list[tuple[bytes, bytes]]:
    return [(b"authorization", f"Bearer {token}".encode())]


def test_a_service_gets_its_token_and_never_the_secret_or_anothers(tmp_path: Path) -> None:
    for name in SERVICES:
        (tmp_path / name).mkdir()

    hand_out(str(tmp_path), PREPARED)

    for name in SERVICES:
        given = {path.name: path.read_text() for path in (tmp_path / name).iterdir()}
        others = [scoped_token(SECRET, other) for other in SERVICES if other != name]
        assert given["bus"] == scoped_token(SECRET, name)
        assert [each for each in (SECRET, *others) if each in "".join(given.values())] == []
        assert ("admin" in given, "proxy" in given) == (name == "curate", name == "proxy")
        assert {path.stat().st_mode & 0o777 for path in (tmp_path / name).iterdir()} == {0o600}


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(HomeUnusable, match="BEAD_UID"):
        hand_out(str(tmp_path / "nowhere"), PREPARED)


def test_fingerprints_know_their_token_and_open_nothing() -> None:
    known = {name: fingerprint(scoped_token(SECRET, name)) for name in SERVICES}

    assert scope_of_known(bearer(scoped_token(SECRET, "proxy")), known, ["dream", "proxy"]) == "proxy"
    for token in ("", SECRET, known["proxy"], scoped_token(SECRET, "index"), scoped_token(SECRET, "stranger")):
        with pytest.raises(Unauthorized):
            scope_of_known(bearer(token), known, ["dream", "proxy", "stranger"])


def test_what_was_handed_out_is_read_back_and_without_a_folder_there_is_none(tmp_path: Path) -> None:
    output = Output.__new__(Output)
    (tmp_path / "callers.json").write_text(json.dumps({"proxy": "f"}))

    assert callers_of(Context({"BEAD_TOKENS": str(tmp_path)}, "/home", output)) == {"proxy": "f"}
    assert callers_of(Context({}, "/home", output)) is None
    with pytest.raises(HomeUnusable):
        callers_of(Context({"BEAD_TOKENS": str(tmp_path / "none")}, "/home", output))
